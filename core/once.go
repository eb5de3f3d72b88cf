package core

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dogwatch/dogwatch/core/check"
	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/contained"
	"github.com/dogwatch/dogwatch/core/installation"
	"github.com/dogwatch/dogwatch/core/lookup"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/schedule"
	"github.com/dogwatch/dogwatch/core/testrun"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Once is Dogwatch for the length of one command: real plugins and components,
// a memory that ends with it, nothing that listens and nothing scheduled. The
// database of an installation is read, to know which executables are trusted,
// and never written.
type Once struct {
	opt        Options
	kinds      []kind.Kind
	plugins    *plugin.Host
	components *component.Manager
	checker    *check.Checker
	memory     *memory
	calls      atomic.Int64
}

// NewOnce builds what a command needs that only uses components of some kinds;
// the bundles of the others are not started. Nothing runs yet, but Close must be called.
func NewOnce(opt Options, kinds ...kind.Kind) (*Once, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	settings := opt.Config
	o := &Once{opt: opt, kinds: kinds, memory: newMemory()}
	var err error
	o.plugins, err = plugin.New(plugin.Options{
		Builtins: slices.DeleteFunc(slices.Clone(opt.Builtins), func(b plugin.Builtin) bool { return !slices.ContainsFunc(b.Types, o.concerns) }),
		Dir:      settings.Plugins.Dir, Pinned: settings.Plugins.Trust == "pinned", Checksums: settings.Plugins.Checksums(),
		Grants: settings.Plugins.Grants(), Env: settings.Plugins.Env, RunDirs: []string{os.TempDir(), settings.Store.Path},
		Trust: installation.TrustStore(settings.StoreFile()), Log: opt.Log, Now: opt.Now, RegistryTimeout: settings.Check.Timeout, Contained: contained.Here(),
		Redact: opt.Redactor.String, Vars: vars(settings),
		Observe: func(string, string, time.Duration, error) { o.calls.Add(1) },
	})
	if err != nil {
		return nil, err
	}
	o.components = component.New(component.Options{Plugins: o.plugins, Log: opt.Log, Secrets: opt.Redactor.Add, ValidateWatcher: validateWatcher, ValidateTrigger: validateTrigger, MaskAll: true})
	o.checker = check.New(check.Options{
		Registries: registries{o.components}, Store: o.memory, Cache: o.memory,
		Limits: check.Limits{PerHost: settings.Check.PerHost, Total: settings.Check.Total}, ForeignLabels: settings.Labels.Foreign, WatchFloating: settings.Check.Floating,
		Order: o.components.WatcherNames, Log: opt.Log, Now: opt.Now,
	})
	return o, nil
}

func (o *Once) concerns(t kind.Type) bool { return slices.Contains(o.kinds, t.Kind) }

// Close stops every plugin and waits for it.
func (o *Once) Close() { o.plugins.Close() }

// Load configures the components of the chosen kinds and waits until each
// plugin has answered. What is wrong with one is its state, and in Problems;
// the error is that of ctx, or says why plugins.dir cannot be read. Executables
// in plugins.dir are only started when a section needs them.
func (o *Once) Load(ctx context.Context) error {
	var sections []config.Component
	foreign := false
	for _, section := range o.opt.Config.Components {
		if !slices.Contains(o.kinds, section.Kind) {
			continue
		}
		_, _, known := o.plugins.Find(section.Kind, section.Type)
		foreign = foreign || !known
		sections = append(sections, section)
	}
	o.components.Load(sections)
	var err error
	if foreign {
		err = o.Discover(ctx)
	}
	o.components.Finish()
	return errors.Join(err, o.components.Await(ctx))
}

// Discover starts the executables in plugins.dir that may run, to learn what they hold.
func (o *Once) Discover(ctx context.Context) error {
	if _, err := os.Stat(o.opt.Config.Plugins.Dir); os.IsNotExist(err) {
		return nil
	}
	return o.plugins.Discover(ctx)
}

// Types returns the known types of a kind, by name.
func (o *Once) Types(k kind.Kind) []kind.Type { return o.plugins.Types(k) }

// Problems returns what is wrong with the components.
func (o *Once) Problems() []config.Problem { return o.components.Problems() }

// Components returns the components of a kind, by type and name.
func (o *Once) Components(k kind.Kind) []*component.Component { return o.components.All(k) }

// Watchers returns every watcher, by type and name.
func (o *Once) Watchers() []*component.Watcher { return o.components.Watchers() }

// Registries returns every registry, by type and name.
func (o *Once) Registries() []*component.Registry { return o.components.Registries() }

// RegistryFor returns the registry that serves a host, and the base URL of the host's API.
func (o *Once) RegistryFor(host string) (*component.Registry, string, bool) {
	return o.components.RegistryFor(host)
}

// Test runs a test of a component; see testrun.Runner.
func (o *Once) Test(ctx context.Context, c *component.Component, image string) (testrun.Result, error) {
	return newRunner(o.components, nil, o.opt.Log, o.opt.Now).Run(ctx, c, testrun.Request{Image: image, AnyHost: true})
}

// Calls returns how many calls of plugins have ended so far.
func (o *Once) Calls() int { return int(o.calls.Load()) }

// Progress returns how far the checks are that are under way.
func (o *Once) Progress() []check.Progress { return o.checker.Progress() }

// Check checks the containers of the named watchers, of all when none is named.
// A watcher that cannot be asked is one of the failures and spoils nothing else.
func (o *Once) Check(ctx context.Context, names []string) (found []sdk.Container, failures []error) {
	failures = each(chosen(o.components, names), func(w *component.Watcher) error {
		_, err := o.checker.Run(ctx, schedule.CheckWatcher(w))
		return err
	})
	found, _ = o.memory.Containers(ctx)
	return found, failures
}

// chosen returns the named watchers, all when none is named.
func chosen(components *component.Manager, names []string) []*component.Watcher {
	all := components.Watchers()
	if len(names) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(w *component.Watcher) bool { return !slices.Contains(names, w.Name) })
}

// each asks all watchers at once and returns the errors, in their order.
func each(watchers []*component.Watcher, ask func(*component.Watcher) error) []error {
	errs := make([]error, len(watchers))
	var wait sync.WaitGroup
	for i, w := range watchers {
		if !w.Usable() {
			_, err := w.State()
			errs[i] = fmt.Errorf("%s cannot be used: %w", w.FullID(), err)
			continue
		}
		wait.Go(func() { errs[i] = ask(w) })
	}
	wait.Wait()
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// Images checks images that no engine runs; see check.Checker.
func (o *Once) Images(ctx context.Context, references []string) []sdk.Container {
	return o.checker.Images(ctx, references)
}

// Containers lists the containers of all watchers, described by their labels,
// and says which watchers could not be asked.
func (o *Once) Containers(ctx context.Context) (all []sdk.Container, failures []error) {
	var mu sync.Mutex
	failures = each(o.components.Watchers(), func(w *component.Watcher) error {
		listed, err := w.List(ctx)
		mu.Lock()
		defer mu.Unlock()
		for _, c := range listed {
			c.Watcher = w.Name
			wrong := c.Error // which describing a container takes away
			c = o.checker.Describe(c)
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
func (o *Once) CheckThese(ctx context.Context, these []sdk.Container) (found []sdk.Container, failures []error) {
	var watchers []string
	for _, c := range these {
		watchers = append(watchers, c.Watcher)
	}
	failures = each(chosen(o.components, watchers), func(w *component.Watcher) error {
		mine := listed(slices.DeleteFunc(slices.Clone(these), func(c sdk.Container) bool { return c.Watcher != w.Name }))
		_, err := o.checker.Run(ctx, check.Watcher{Name: w.Name, WatchByDefault: true, Lister: mine})
		return err
	})
	found, _ = o.memory.Containers(ctx)
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

// Explain says why a container has the result it has.
func (o *Once) Explain(ctx context.Context, c sdk.Container) check.Explanation {
	return o.checker.Explain(ctx, c)
}

// ExplainImage does the same for an image that no engine runs.
func (o *Once) ExplainImage(ctx context.Context, reference string) check.Explanation {
	return o.checker.ExplainImage(ctx, reference)
}

// Plugins returns the state of every bundle, after starting the executables in
// plugins.dir that may run to learn what they hold.
func (o *Once) Plugins(ctx context.Context) ([]plugin.Status, error) {
	err := o.Discover(ctx)
	return o.plugins.Bundles(), err
}
