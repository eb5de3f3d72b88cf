// Package oneshot is Dogwatch for the length of one command: real plugins and
// components, containers in memory, no server and no schedule.
package oneshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dogwatch/dogwatch/core/app/lookup"
	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/app/stored"
	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/notify/testrun"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Instance is a Dogwatch whose memory ends with it. The database of an
// installation is read, to know which executables are trusted, and never written.
type Instance struct {
	*component.Manager // of the chosen kinds
	*check.Checker
	opt     parts.Options
	kinds   []kind.Kind
	plugins *plugin.Host
	memory  *memory
	calls   atomic.Int64
}

// New builds what a command needs that only uses components of some kinds;
// the bundles of the others are not started. Nothing runs yet, but Close must be called.
func New(opt parts.Options, kinds ...kind.Kind) (*Instance, error) {
	i := &Instance{opt: opt, kinds: kinds, memory: newMemory()}
	settings, policies := opt.Config, decision.LayersOf(opt.Config)
	opt.Builtins = slices.DeleteFunc(slices.Clone(opt.Builtins), func(b plugin.Builtin) bool {
		return !slices.ContainsFunc(b.Types, i.concerns)
	})
	var err error
	i.plugins, i.Manager, err = parts.NewPlugins(opt, plugin.Options{
		Vars:    wiring.PluginVars(settings, false),
		Trust:   stored.TrustStore(settings.StoreFile()),
		Records: stored.Records(settings.StoreFile()),
		Observe: func(string, string, time.Duration, error) { i.calls.Add(1) },
	}, component.Options{
		MaskAll: true,
		Awaited: func() []string { return wiring.AwaitedPlugins(settings) },
	})
	if err != nil {
		return nil, err
	}
	_, _, i.Checker = parts.NewChecks(opt, i.Manager, decision.Options{
		Store: i.memory,
		// Nothing is decided here, but what is known of an image limits what is newer.
		Rules: func(c sdk.Container) policy.Rules { return policy.Rules{Preset: policies.Preset(c)} },
	}, registryquery.Options{
		Cache:  i.memory,
		Budget: budget.NewBook(settings.Check.Allowances(), opt.Now),
	}, check.Options{Events: i.memory})
	return i, nil
}

func (i *Instance) concerns(t kind.Type) bool { return slices.Contains(i.kinds, t.Kind) }

// Close stops every plugin and waits for it.
func (i *Instance) Close() { i.plugins.Close() }

// Load configures the components of the chosen kinds and waits until each
// plugin has answered. What is wrong with one is its state, and in Problems;
// the error is that of ctx, or says why plugins.dir cannot be read. Executables
// in plugins.dir are only started when a section needs them, and none is waited for
// that no section needs.
func (i *Instance) Load(ctx context.Context) error {
	return i.LoadUntil(ctx, func() bool { return false })
}

// LoadUntil is Load, and returns earlier once enough returns true. It is called whenever
// a plugin has answered.
func (i *Instance) LoadUntil(ctx context.Context, enough func() bool) error {
	var sections []config.Component
	foreign := false
	for _, section := range i.opt.Config.Components {
		if !slices.Contains(i.kinds, section.Kind) {
			continue
		}
		_, _, known := i.plugins.Find(section.Kind, section.Type)
		foreign = foreign || !known
		sections = append(sections, section)
	}
	i.Manager.Load(sections)
	needed, cancel := context.WithCancel(ctx)
	defer cancel()
	discovered := make(chan error, 1)
	go func() {
		var err error
		if foreign {
			err = i.DiscoverUntil(needed, func() bool { return i.Manager.Continue() == 0 })
		}
		if needed.Err() != nil && ctx.Err() == nil {
			err = nil // there is enough already
		}
		i.Manager.Finish()
		discovered <- err
	}()
	err := i.Manager.AwaitUntil(ctx, enough)
	cancel()
	return errors.Join(<-discovered, err)
}

// DiscoverUntil starts the executables in plugins.dir that may run, to learn what they
// hold, of those of which that is not known. It returns when all have settled, or once
// enough returns true, which is called whenever one has.
func (i *Instance) DiscoverUntil(ctx context.Context, enough func() bool) error {
	if _, err := os.Stat(i.opt.Config.Plugins.Dir); os.IsNotExist(err) {
		return nil
	}
	needed, cancel := context.WithCancel(ctx)
	defer cancel()
	err := i.plugins.DiscoverEach(needed, func() {
		if enough() {
			cancel()
		}
	})
	if needed.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

// Types returns the known types of a kind, by name.
func (i *Instance) Types(k kind.Kind) []kind.Type { return i.plugins.Types(k) }

// Holder returns the state of the plugin that holds a type.
func (i *Instance) Holder(k kind.Kind, typ string) (plugin.Status, bool) {
	s, _, known := i.plugins.Find(k, typ)
	if !known {
		return plugin.Status{}, false
	}
	return s.Status(), true
}

// PluginNote returns the name of the plugin that holds a type, and what a user should
// know of it although it works; "" for nothing.
func (i *Instance) PluginNote(k kind.Kind, typ string) (name, note string) {
	holder, _ := i.Holder(k, typ)
	return holder.Name, holder.Note
}

// Test runs a test of a component; see testrun.Runner.
func (i *Instance) Test(ctx context.Context, c *component.Component, image string) (testrun.Result, error) {
	tests := wiring.TestRunner(i.Manager, nil, signedlink.None{}, nil, i.opt.Log)
	return tests.Run(ctx, c, testrun.Request{Image: image, AnyHost: true})
}

// Calls returns how many calls of plugins have ended so far.
func (i *Instance) Calls() int { return int(i.calls.Load()) }

// Check checks the containers of the named watchers, of all when none is named.
// The errors of watchers that cannot be checked are the failures.
func (i *Instance) Check(ctx context.Context, names []string) (found []sdk.Container, failures []error) {
	failures = parts.CheckWatchers(ctx, i.Checker, i.Manager.WatchersNamed(names))
	found, _ = i.memory.Containers(ctx)
	return found, failures
}

// Containers lists the containers of all watchers, described by their labels,
// and the errors of the watchers that could not list theirs.
func (i *Instance) Containers(ctx context.Context) (all []sdk.Container, failures []error) {
	var mu sync.Mutex
	failures = component.EachWatcher(i.Manager.Watchers(), func(w *component.Watcher) error {
		listed, err := w.List(ctx)
		mu.Lock()
		defer mu.Unlock()
		for _, c := range listed {
			c.Watcher = w.Name
			wrong := c.Error // which describing a container takes away
			c = i.Checker.Describe(c)
			c.Error = wrong
			all = append(all, c)
		}
		return err
	})
	slices.SortFunc(all, func(a, b sdk.Container) int { return strings.Compare(lookup.Qualified(a), lookup.Qualified(b)) })
	return all, failures
}

// CheckThese checks listed containers, at least one, also those that are not watched by
// default. One whose label says that it is not to be watched is a failure.
func (i *Instance) CheckThese(ctx context.Context, these []sdk.Container) (found []sdk.Container, failures []error) {
	var watchers []string
	for _, c := range these {
		watchers = append(watchers, c.Watcher)
	}
	failures = component.EachWatcher(i.Manager.WatchersNamed(watchers), func(w *component.Watcher) error {
		mine := listed(slices.DeleteFunc(slices.Clone(these), func(c sdk.Container) bool { return c.Watcher != w.Name }))
		_, err := i.Checker.Run(ctx, check.Watcher{Name: w.Name, WatchByDefault: true, Lister: mine})
		return err
	})
	found, _ = i.memory.Containers(ctx)
	for _, c := range these {
		if !slices.ContainsFunc(found, func(f sdk.Container) bool { return f.ID == c.ID }) {
			failures = append(failures, fmt.Errorf("%s is not watched: its labels say so", lookup.Qualified(c)))
		}
	}
	return found, failures
}

// listed is a check.Lister of what is known already.
type listed []sdk.Container

// List implements check.Lister.
func (l listed) List(context.Context) ([]sdk.Container, error) { return l, nil }

// UnusablePlugins says why executables in plugins.dir cannot be used; see plugin.Host.Unusable.
func (i *Instance) UnusablePlugins() string { return i.plugins.Unusable() }

// A list of plugins is given listTime, and listPause after the last one that has
// settled: a file that hangs is listed as such.
const (
	listTime  = 1500 * time.Millisecond
	listPause = 500 * time.Millisecond
)

// Plugins returns the state of every bundle, after starting the executables in
// plugins.dir that may run to learn what they hold, of those of which that is not known.
// It waits for one that hangs as long as ctx allows, or, if hasty, for a moment.
func (i *Instance) Plugins(ctx context.Context, hasty bool) ([]plugin.Status, error) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	late := time.AfterFunc(listTime, func() {
		if hasty {
			cancel()
		}
	})
	defer late.Stop()
	err := i.DiscoverUntil(limited, func() bool {
		late.Reset(max(listTime-time.Since(began), listPause))
		return false
	})
	if limited.Err() != nil {
		err = nil
	}
	all := i.plugins.Bundles()
	for n := range all {
		if st := &all[n]; st.State == plugin.Starting {
			st.Error = fmt.Sprintf("it has not said what it is within %s: dogwatch plugin verify %s shows why",
				time.Since(began).Round(100*time.Millisecond), filepath.Join(i.plugins.Dir(), st.Name))
		}
	}
	return all, err
}
