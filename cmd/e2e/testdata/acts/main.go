// Command acts is a plugin for tests, whose trigger says that it may change containers.
package main

import (
	"context"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

type options struct {
	Note string `option:"note" help:"Any text"`
}

type acts struct{ options }

// Run does nothing. With the note "hang" it reports steps and waits until it is cancelled.
func (a acts) Run(ctx context.Context, req trigger.Request) error {
	if a.Note != "hang" {
		return nil
	}
	const layers = 1000
	for i := range int64(layers) {
		req.Report(trigger.Progress{
			ContainerID: req.Containers[0].ID, Phase: "pull", Message: "layer of " + req.Containers[0].Name,
			Current: i + 1, Total: layers,
		})
	}
	req.Report(trigger.Progress{Phase: "replace", Message: "it hangs"})
	<-ctx.Done()
	return ctx.Err()
}

func main() {
	plugin.Serve(plugin.Bundle{Version: "1.0.0", Triggers: []trigger.Type{
		trigger.Define("acts", "Pretend to update containers", func(_ sdk.Env, o options) (acts, error) {
			return acts{o}, nil
		}, kind.Needs(kind.CapEngine)),
	}})
}
