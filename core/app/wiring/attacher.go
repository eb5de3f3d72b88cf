package wiring

import (
	"context"
	"maps"
	"slices"

	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Attacher attaches credentials and engines to the requests of triggers that have the capabilities.
type Attacher struct{ Components *component.Manager }

// Attach implements dispatch.Attacher.
func (a Attacher) Attach(ctx context.Context, id string, req *trigger.Request) {
	t, known := a.Components.Trigger(id)
	if !known {
		return
	}
	if slices.Contains(t.Capabilities, kind.CapCredentials) {
		req.Credentials = a.credentials(ctx, req.Containers)
	}
	if slices.Contains(t.Capabilities, kind.CapEngine) {
		req.Engines = a.engines(req.Containers)
	}
}

// credentials returns, by host, what an engine needs to pull the images of the
// containers. A registry that has no credentials is left out: the pull is anonymous then.
func (a Attacher) credentials(ctx context.Context, containers []sdk.Container) map[string]sdk.Credentials {
	byHost := map[string]sdk.Credentials{}
	for _, c := range containers {
		host := c.Image.Registry.Host
		if _, done := byHost[host]; done {
			continue
		}
		cred, err := Updates{Components: a.Components}.CredentialsOf(ctx, c)
		if err == nil && cred != (sdk.Credentials{}) {
			byHost[host] = cred
		}
	}
	return byHost
}

func (a Attacher) engines(containers []sdk.Container) map[string]trigger.Engine {
	byWatcher := map[string]trigger.Engine{}
	for _, c := range containers {
		if w, known := a.Components.WatcherNamed(c.Watcher); known {
			byWatcher[c.Watcher] = trigger.Engine{Type: w.Type, Options: maps.Clone(w.Options)}
		}
	}
	return byWatcher
}
