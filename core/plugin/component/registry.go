package component

import (
	"context"
	"slices"
	"sync"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Registry is a configured registry. What it embeds of the plugin fetches tags,
// digests and manifests.
type Registry struct {
	Component
	plugin.RegistryHandle

	hosts []registry.Host // guarded by mu
}

// Hosts returns the hosts that the registry serves, as its plugin said.
func (r *Registry) Hosts() []registry.Host {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hosts
}

func (r *Registry) attach(bundle *plugin.Supervisor, _ kind.Type) {
	r.RegistryHandle = bundle.Registry(r.FullID())
}

func (*Registry) setSettings(option.Values, *Options) ([]config.Problem, error) { return nil, nil }

// configured records the plugin's response. A failure of the plugin's process, as
// opposed to wrong options, leaves the hosts as they were: the registry comes back
// with its plugin.
func (r *Registry) configured(got pluginclient.Configured, err error) {
	if err == nil { // before it is Ready
		r.mu.Lock()
		r.hosts = got.Hosts
		r.mu.Unlock()
	}
	r.Component.configured(got, err)
}

// RateLimits returns what the registry's hosts allow, at most one limit per host: what the plugin
// knows, or knew before it fell asleep, and nil when it knows nothing or does not respond at once.
func (r *Registry) RateLimits(ctx context.Context) []registry.Limit {
	if state, _ := r.State(); state != Ready || !slices.Contains(r.Capabilities, kind.CapLimits) {
		return nil
	}
	// Without a response there is nothing to show, which is no failure of what shows it.
	limits, _ := r.Limits(ctx)
	return limits
}

// RateLimits returns the RateLimits of each registry. It calls the plugins concurrently.
func RateLimits(ctx context.Context, registries []*Registry) [][]registry.Limit {
	limits := make([][]registry.Limit, len(registries))
	var wait sync.WaitGroup
	for i, r := range registries {
		wait.Go(func() { limits[i] = r.RateLimits(ctx) })
	}
	wait.Wait()
	return limits
}
