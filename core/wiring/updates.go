package wiring

import (
	"context"
	"slices"

	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Updates fits the components to updater.Watchers and updater.Registries.
type Updates struct{ Components *component.Manager }

// Named implements updater.Watchers. Updates are allowed where the plugin gets the option
// update, without which it changes nothing itself.
func (u Updates) Named(name string) (updater.Watcher, bool) {
	w, known := u.Components.WatcherNamed(name)
	if !known {
		return updater.Watcher{}, false
	}
	allowed, _ := w.Updates()
	return updater.Watcher{ID: w.ID(), Name: w.Name, Updates: slices.Contains(w.Capabilities, kind.CapUpdate), Allowed: allowed, Updater: w}, true
}

// For implements updater.Registries.
func (u Updates) For(host string) (updater.Registry, bool) {
	r, _, served := u.Components.RegistryFor(host)
	return imageRegistry{r}, served
}

// imageRegistry fits a registry to updater.Registry.
type imageRegistry struct{ *component.Registry }

// Credentials implements updater.Registry.
func (r imageRegistry) Credentials(ctx context.Context, repo registry.Repository) (sdk.Credentials, error) {
	if !slices.Contains(r.Capabilities, kind.CapCredentials) {
		return sdk.Credentials{}, nil
	}
	return r.Registry.Credentials(ctx, repo)
}

// ImageConfig implements updater.Registry: no registry tells yet.
func (imageRegistry) ImageConfig(context.Context, registry.Repository, string, sdk.Platform) (*sdk.ImageConfig, error) {
	return nil, nil
}
