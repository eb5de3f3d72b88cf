package plugin

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// RegistryHandle is a configured registry as the core calls it. It implements
// registry.Registry, but for the hosts, which the response to its configuration has.
type RegistryHandle struct {
	handle
	// timeout bounds one call.
	timeout time.Duration
}

// Registry returns the handle of a registry in this bundle.
func (s *Supervisor) Registry(id string) RegistryHandle {
	return RegistryHandle{handle{id: id, s: s}, s.host.opt.RegistryTimeout}
}

// Probe asks the registry whether it can do its work, with an image of host in
// full, or with none and no host; see sdk.Prober.
func (r RegistryHandle) Probe(ctx context.Context, host, image string) (sdk.ProbeResult, error) {
	return r.probe(ctx, host, r.timeout, sdk.ProbeRequest{Image: image})
}

// Tags returns the tags of a repository, without what cannot be one; see registry.Registry.
func (r RegistryHandle) Tags(
	ctx context.Context, repo registry.Repository, validator string,
) (list registry.TagList, err error) {
	err = r.about(ctx, "Tags", repo, func(ctx context.Context, c *pluginclient.Client) (err error) {
		list, err = c.Registry(r.id).Tags(ctx, repo, validator)
		return err
	})
	list.Tags = onlyTags(list.Tags)
	return list, err
}

// Resolve returns the digest behind a tag; see registry.Registry.
func (r RegistryHandle) Resolve(ctx context.Context, repo registry.Repository, tag string) (digest string, err error) {
	err = r.about(ctx, "Resolve", repo, func(ctx context.Context, c *pluginclient.Client) (err error) {
		digest, err = c.Registry(r.id).Resolve(ctx, repo, tag)
		return err
	})
	return digest, err
}

// Manifest returns what is behind a digest; see registry.Registry.
func (r RegistryHandle) Manifest(
	ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform,
) (m registry.Manifest, err error) {
	err = r.about(ctx, "Manifest", repo, func(ctx context.Context, c *pluginclient.Client) (err error) {
		m, err = c.Registry(r.id).Manifest(ctx, repo, digest, platform)
		return err
	})
	return m, err
}

// ImageConfig returns the configuration of an image; see registry.ConfigReader.
func (r RegistryHandle) ImageConfig(
	ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform,
) (config sdk.ImageConfig, err error) {
	err = r.about(ctx, "ImageConfig", repo, func(ctx context.Context, c *pluginclient.Client) (err error) {
		config, err = c.Registry(r.id).ImageConfig(ctx, repo, digest, platform)
		return err
	})
	return config, err
}

// DescribeTags returns what is behind tags; see registry.TagDescriber.
func (r RegistryHandle) DescribeTags(
	ctx context.Context, repo registry.Repository, tag string, platform sdk.Platform,
) (tags []registry.DescribedTag, err error) {
	err = r.about(ctx, "DescribeTags", repo, func(ctx context.Context, c *pluginclient.Client) (err error) {
		tags, err = c.Registry(r.id).DescribeTags(ctx, repo, tag, platform)
		return err
	})
	return onlyDescribedTags(tags), err
}

// Credentials returns what an engine needs to pull from a repository.
func (r RegistryHandle) Credentials(ctx context.Context, repo registry.Repository) (cred sdk.Credentials, err error) {
	err = r.about(ctx, "Credentials", repo, func(ctx context.Context, c *pluginclient.Client) (err error) {
		cred, err = c.Registry(r.id).Credentials(ctx, repo)
		return err
	})
	return cred, err
}

// Limits returns what the registry's hosts allow, at most one limit per host; see registry.LimitReporter. It
// waits neither for a plugin that starts nor for one that hangs. Of a plugin that is, or was, asleep it returns
// what it knew before, even with an error.
func (r RegistryHandle) Limits(ctx context.Context) (limits []registry.Limit, err error) {
	err = r.call(ctx, "Limits", "", limitsTimeout, onlyAwake, func(ctx context.Context, c *pluginclient.Client) (err error) {
		limits, err = c.Registry(r.id).Limits(ctx)
		return err
	})
	if r.s != nil {
		limits = append(limits, r.s.keptLimits(r.id)...)
	}
	return perHost(limits), err
}

// maxLimits bounds the hosts of one registry: each is a series of the metrics.
const maxLimits = 256

// perHost leaves one limit per host, whatever a plugin says: the first.
func perHost(limits []registry.Limit) []registry.Limit {
	byHost := func(a, b registry.Limit) int { return strings.Compare(a.Host, b.Host) }
	slices.SortStableFunc(limits, byHost)
	limits = slices.CompactFunc(limits, func(a, b registry.Limit) bool { return a.Host == b.Host })
	return limits[:min(len(limits), maxLimits)]
}

// about makes a call whose failure names the host of repo.
func (r RegistryHandle) about(
	ctx context.Context, method string, repo registry.Repository, fn func(context.Context, *pluginclient.Client) error,
) error {
	return r.call(ctx, method, repo.Host, r.timeout, retryOnce, fn)
}
