package main

import (
	"os"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/plugins/registries"
	"github.com/dogwatch/dogwatch/plugins/triggers"
	"github.com/dogwatch/dogwatch/plugins/watchers"
	"github.com/dogwatch/dogwatch/sdk/kind"
	sdkplugin "github.com/dogwatch/dogwatch/sdk/plugin"
)

// bundle returns the built-in bundle of a kind. This file is the one place
// where the core meets the plugins.
func bundle(k kind.Kind) sdkplugin.Bundle {
	b := sdkplugin.Bundle{Version: version}
	switch k {
	case kind.Watcher:
		b.Watchers = watchers.Types()
	case kind.Registry:
		b.Registries = registries.Types()
	case kind.Trigger:
		b.Triggers = triggers.Types()
	}
	return b
}

// handoverArgs is the command line of the helper container that a watcher creates to
// replace the container that Dogwatch runs in.
var handoverArgs = []string{"plugin", "handover"}

// serveHandover is the program of that container. What it writes to stdout is read by
// the watcher.
func serveHandover() int {
	ctx, stop := interruptible()
	defer stop()
	if err := watchers.Handover(ctx, os.Stdout); err != nil {
		complain(os.Stderr, err)
		return exitFailure
	}
	return exitOK
}

// typesOf returns the types of a kind that are built in, that of agents too.
func typesOf(k kind.Kind) (all []kind.Type) {
	for _, b := range builtins() {
		for _, t := range b.Types {
			if t.Kind == k {
				all = append(all, t)
			}
		}
	}
	return all
}

// builtins describes the built-in bundles to the host, which starts each as
// "dogwatch plugin <kind>" when it is needed.
func builtins() []plugin.Builtin {
	var all []plugin.Builtin
	for _, k := range kind.Kinds() {
		b := plugin.Builtin{Name: string(k), Args: []string{"plugin", string(k)}, Types: bundle(k).Types()}
		b.Sleeps = k != kind.Watcher // watchers keep what they have inspected
		switch k {
		case kind.Registry:
			b.Env = registries.Env()
		case kind.Watcher:
			b.Env = watchers.Env()
		}
		all = append(all, b)
	}
	return append(all, plugin.Builtin{
		Name: agent.TypeName, Types: []kind.Type{agent.Type().Type}, Remote: plugin.Elsewhere{},
	})
}
