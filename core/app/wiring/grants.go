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

// Grants attaches to the requests of triggers what their capabilities allow.
type Grants struct{ Components *component.Manager }

// Attach implements dispatch.Grants.
func (g Grants) Attach(ctx context.Context, id string, req *trigger.Request) {
	t, known := g.Components.Trigger(id)
	if !known {
		return
	}
	if slices.Contains(t.Capabilities, kind.CapCredentials) {
		req.Credentials = g.credentials(ctx, req.Containers)
	}
	if slices.Contains(t.Capabilities, kind.CapEngine) {
		req.Engines = g.engines(req.Containers)
	}
}

// credentials returns, by host, what an engine needs to pull the images of the
// containers. A registry that has no credentials is left out: the pull is anonymous then.
func (g Grants) credentials(ctx context.Context, containers []sdk.Container) map[string]sdk.Credentials {
	granted := map[string]sdk.Credentials{}
	for _, c := range containers {
		host := c.Image.Registry.Host
		if _, done := granted[host]; done {
			continue
		}
		cred, err := Updates{Components: g.Components}.CredentialsOf(ctx, c)
		if err == nil && cred != (sdk.Credentials{}) {
			granted[host] = cred
		}
	}
	return granted
}

func (g Grants) engines(containers []sdk.Container) map[string]trigger.Engine {
	granted := map[string]trigger.Engine{}
	for _, c := range containers {
		if w, known := g.Components.WatcherNamed(c.Watcher); known {
			granted[c.Watcher] = trigger.Engine{Type: w.Type, Options: maps.Clone(w.Options)}
		}
	}
	return granted
}
