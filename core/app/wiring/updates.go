package wiring

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Updates fits the components to updater.Watchers and updater.Registries.
type Updates struct {
	Components *component.Manager
	// Cache keeps the configurations of images, beside what checks keep there.
	Cache registryquery.Cache
	// Requests makes them within what hosts allow.
	Requests Requests
}

// Requests makes requests to registries, see registryquery.Client.
type Requests interface {
	Request(ctx context.Context, host string, request func(context.Context) error) error
	// Pull is for those that read a manifest.
	Pull(ctx context.Context, host string, request func(context.Context) error) error
}

// Named implements updater.Watchers. Updates are allowed where the plugin gets the option
// update, without which it changes nothing itself.
func (u Updates) Named(name string) (updater.Watcher, bool) {
	w, known := u.Components.WatcherNamed(name)
	if !known {
		return updater.Watcher{}, false
	}
	allowed, why := w.Updates()
	keep, _ := w.Options["keep"].(int64)
	prune, _ := w.Options["prune"].(bool)
	hooks, _ := w.Options["hooks"].(bool)
	return updater.Watcher{
		ID: w.ID(), Name: w.Name, Updates: w.CanUpdate(),
		Allowed: allowed, Why: why, Remedy: w.UpdateRemedy(), Paste: w.UpdatePaste(), Updater: w,
		Keep: int(keep), Prune: prune, Hooks: hooks, Detached: w.Type == agent.TypeName,
	}, true
}

// For implements updater.Registries.
func (u Updates) For(host string) (updater.Registry, bool) {
	r, _, served := u.Components.RegistryFor(host)
	return imageRegistry{r, u.Cache, u.Requests}, served
}

// CredentialsOf returns those of the registry of a container's image; zero where none are needed or known.
func (u Updates) CredentialsOf(ctx context.Context, c sdk.Container) (sdk.Credentials, error) {
	r, served := u.For(c.Image.Registry.Host)
	if !served {
		return sdk.Credentials{}, nil
	}
	return r.Credentials(ctx, registry.Repository{
		Host: c.Image.Registry.Host, Name: c.Image.Name, ScopeHints: []string{c.Image.Name},
	})
}

// imageRegistry fits a registry to updater.Registry.
type imageRegistry struct {
	*component.Registry
	cache    registryquery.Cache
	requests Requests
}

// Resolve implements updater.Registry.
func (r imageRegistry) Resolve(ctx context.Context, repo registry.Repository, tag string) (digest string, err error) {
	err = r.requests.Request(ctx, repo.Host, func(ctx context.Context) (err error) {
		digest, err = r.Registry.Resolve(ctx, repo, tag)
		return err
	})
	return digest, err
}

// Credentials implements updater.Registry.
func (r imageRegistry) Credentials(ctx context.Context, repo registry.Repository) (sdk.Credentials, error) {
	if !slices.Contains(r.Capabilities, kind.CapCredentials) {
		return sdk.Credentials{}, nil
	}
	return r.Registry.Credentials(ctx, repo)
}

// ImageConfig implements updater.Registry. The configuration never changes, so it is
// fetched once; what a check has found already is not asked for again.
func (r imageRegistry) ImageConfig(
	ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform,
) (*sdk.ImageConfig, error) {
	if !slices.Contains(r.Capabilities, kind.CapConfig) {
		return nil, nil
	}
	key := fmt.Sprintf("image config %s/%s@%s %s/%s/%s", repo.Host, repo.Name, digest, platform.OS,
		platform.Architecture, platform.Variant)
	var c sdk.ImageConfig
	if _, body, cached := r.cache.Get(ctx, key); cached && json.Unmarshal(body, &c) == nil {
		return &c, nil
	}
	if own, known := registryquery.CachedImage(ctx, r.cache, repo, digest, platform); known {
		digest = own // of the platform, which spares the index
	}
	err := r.requests.Pull(ctx, repo.Host, func(ctx context.Context) (err error) {
		c, err = r.Registry.ImageConfig(ctx, repo, digest, platform)
		return err
	})
	if err != nil {
		return nil, err
	}
	if body, err := json.Marshal(c); err == nil {
		r.cache.Put(ctx, key, "", body)
	}
	return &c, nil
}
