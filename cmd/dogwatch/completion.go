package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/stored"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// completion completes an argument of a command line. It must be quick and
// cannot report errors: it leaves out what it cannot find.
type completion = func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective)

// quick is how long a completion waits for a server.
const quick = 500 * time.Millisecond

// first completes the first argument only.
func first(candidates func(context.Context) []cobra.Completion) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return matching(candidates(cmd.Context()), prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

// others completes any number of arguments, with those that are not there yet.
func others(candidates func(context.Context) []cobra.Completion) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		left := slices.DeleteFunc(candidates(cmd.Context()), func(c cobra.Completion) bool {
			name, _, _ := strings.Cut(c, "\t")
			return slices.Contains(args, name)
		})
		return matching(left, prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

// operationIDs are the newest operations, or those that can still be cancelled.
func (g *global) operationIDs(open bool) func(context.Context) []cobra.Completion {
	return func(ctx context.Context) []cobra.Completion {
		cfg, err := g.load(nil)
		if err != nil {
			return nil
		}
		c, err := newClient(cfg.Server)
		if err != nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, quick)
		defer cancel()
		var all []api.Operation
		if c.call(ctx, http.MethodGet, "/api/operations?limit=50", &all) != nil {
			return nil
		}
		var ids []cobra.Completion
		for _, op := range all {
			if !open || !op.State.Ended() {
				ids = append(ids,
					cobra.CompletionWithDesc(op.ID, printable(fmt.Sprintf("%s of %s/%s: %s", op.Kind, op.Watcher, op.Name, stateOf(op)))))
			}
		}
		return ids
	}
}

// matching leaves what goes on as the word has begun.
func matching(candidates []cobra.Completion, prefix string) []cobra.Completion {
	return slices.DeleteFunc(candidates, func(c cobra.Completion) bool { return !strings.HasPrefix(c, prefix) })
}

// completeFlag completes the value of a flag.
func completeFlag(candidates func(context.Context) []cobra.Completion) completion {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return matching(candidates(cmd.Context()), prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

// componentIDs are the components of the configuration, those that exist without it too.
func (g *global) componentIDs(kinds ...kind.Kind) func(context.Context) []cobra.Completion {
	return func(context.Context) []cobra.Completion {
		var ids []cobra.Completion
		for _, c := range g.sections() {
			if slices.Contains(kinds, c.Kind) {
				ids = append(ids, c.Key())
			}
		}
		return ids
	}
}

// watcherNames are the names by which check and explain know watchers.
func (g *global) watcherNames(context.Context) []cobra.Completion {
	var names []cobra.Completion
	for _, c := range g.sections() {
		if c.Kind == kind.Watcher {
			names = append(names, c.Name)
		}
	}
	return names
}

// sections are the configured components and those that exist by default.
func (g *global) sections() []config.Component {
	cfg, err := g.load(nil)
	if err != nil {
		return nil
	}
	all := slices.Clone(cfg.Components)
	watched := slices.ContainsFunc(all, func(c config.Component) bool { return c.Kind == kind.Watcher })
	for _, t := range allTypes() {
		byDefault := config.Component{Kind: t.Kind, Type: t.Name, Name: t.DefaultName}
		known := slices.ContainsFunc(all, func(c config.Component) bool { return c.Key() == byDefault.Key() })
		if t.DefaultName != "" && !known && !(t.Kind == kind.Watcher && watched) {
			all = append(all, byDefault)
		}
	}
	return all
}

// containerNames are those that the database has, if it is on this machine and
// may be read, or else the Dogwatch that is serving: an engine may take long to answer.
func (g *global) containerNames(ctx context.Context) []cobra.Completion {
	cfg, err := g.load(nil)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, quick)
	defer cancel()
	containers, err := stored.Containers(ctx, cfg)
	if err != nil || len(containers) == 0 {
		containers = served(ctx, cfg.Server)
	}
	var names []cobra.Completion
	for _, c := range containers {
		names = append(names,
			cobra.CompletionWithDesc(printable(c.Name),
				printable(reference.Short(c.Image.Registry.Host, c.Image.Name)+":"+c.Image.Tag.Value)))
	}
	return names
}

// served asks the Dogwatch that is serving for its containers.
func served(ctx context.Context, s config.Server) (containers []sdk.Container) {
	c, err := newClient(s)
	if err != nil || c.call(ctx, http.MethodGet, "/api/containers", &containers) != nil {
		return nil
	}
	return containers
}

// typeNames are the built-in types: trigger.ntfy.
func typeNames(context.Context) []cobra.Completion {
	var names []cobra.Completion
	for _, t := range allTypes() {
		names = append(names, cobra.CompletionWithDesc(string(t.Kind)+"."+t.Name, t.Summary))
	}
	return names
}

// bundleNames are the built-in plugins and the files in plugins.dir.
func (g *global) bundleNames(builtin bool) func(context.Context) []cobra.Completion {
	return func(context.Context) []cobra.Completion {
		var names []cobra.Completion
		if builtin {
			for _, k := range kind.Kinds() {
				names = append(names, string(k))
			}
		}
		cfg, err := g.load(nil)
		if err != nil {
			return names
		}
		files, err := os.ReadDir(cfg.Plugins.Dir)
		if err != nil {
			return names
		}
		for _, f := range files {
			if f.Type().IsRegular() && !strings.HasPrefix(f.Name(), ".") {
				names = append(names, strings.TrimSuffix(f.Name(), ".exe"))
			}
		}
		return names
	}
}
