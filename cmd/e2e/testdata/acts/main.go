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

type acts struct{}

func (acts) Run(context.Context, trigger.Request) error { return nil }

func main() {
	plugin.Serve(plugin.Bundle{Version: "1.0.0", Triggers: []trigger.Type{
		trigger.Define("acts", "Pretend to update containers", func(sdk.Env, options) (acts, error) { return acts{}, nil }, kind.Needs(kind.CapEngine)),
	}})
}
