// Program many is a plugin for tests that can be there many times: it holds a trigger of the
// name of its file.
package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

type options struct {
	URL string `option:"url" help:"Goes nowhere" example:"http://localhost"`
}

type nothing struct{}

func (nothing) Run(context.Context, trigger.Request) error { return nil }

func main() {
	of := trigger.Define(filepath.Base(os.Args[0]), "Does nothing", func(sdk.Env, options) (nothing, error) { return nothing{}, nil })
	plugin.Serve(plugin.Bundle{Version: "1.0.0", Triggers: []trigger.Type{of}})
}
