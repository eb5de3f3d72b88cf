package core

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/check"
	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/dispatch"
	"github.com/dogwatch/dogwatch/core/schedule"
	"github.com/dogwatch/dogwatch/core/statestream"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/testrun"
	"github.com/dogwatch/dogwatch/core/wudstore"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// The types here fit one part of the core to the small interface that another
// part declares. Each is a few lines; none decides anything.

// registries fits the components to check.Registries.
type registries struct{ components *component.Manager }

func (r registries) For(host string) (check.Match, bool) {
	c, url, served := r.components.RegistryFor(host)
	if !served {
		return check.Match{}, false
	}
	return check.Match{ID: c.ID(), URL: url, Registry: c}, true
}

// limits returns what the hosts of a registry allow, for check.NewDater.
func (r registries) limits(ctx context.Context, id string) []registry.Limit {
	c, known := r.components.Registry(id)
	if !known {
		return nil
	}
	return c.RateLimits(ctx)
}

// vars are what single built-in plugins are told by their environment: settings
// that are not of one component.
func vars(c *config.Config) map[string][]string {
	const key = "registries.dockerconfig"
	if c.Registries.DockerConfig == "" {
		return nil
	}
	return map[string][]string{string(kind.Registry): {config.EnvName(key) + "=" + c.Registries.DockerConfig}}
}

// checkCache fits the store to check.Cache. A cache that fails costs requests
// and nothing else, so its errors are only logged.
type checkCache struct {
	store *store.Store
	log   hclog.Logger
}

func (c *checkCache) Get(ctx context.Context, key string) (string, []byte, bool) {
	e, found, err := c.store.CacheGet(ctx, key)
	if err != nil {
		c.log.Warn("read the registry cache", "error", err)
	}
	return e.Validator, e.Body, found
}

func (c *checkCache) Put(ctx context.Context, key, validator string, body []byte) {
	if err := c.store.CachePut(ctx, store.CacheEntry{Key: key, Validator: validator, Body: body}); err != nil {
		c.log.Warn("write the registry cache", "error", err)
	}
}

// containers fits the store to dispatch.Containers.
type containers struct{ *store.Store }

func (s containers) ByID(id string) (sdk.Container, bool) { return found(s.Snapshot().Get(id)) }

func (s containers) ByName(watcher, name string) (sdk.Container, bool) {
	return found(s.Snapshot().Named(watcher, name))
}

// uses reports whether a container has its image from a host.
func (s containers) uses(host string) bool {
	return slices.ContainsFunc(s.Snapshot().All(), func(r *store.Record) bool { return strings.EqualFold(r.Container.Image.Registry.Host, host) })
}

func found(r *store.Record, ok bool) (sdk.Container, bool) {
	if !ok {
		return sdk.Container{}, false
	}
	return r.Container, true
}

// triggers fits the components to dispatch.Triggers.
type triggers struct{ components *component.Manager }

func (t triggers) All() []dispatch.Trigger {
	var all []dispatch.Trigger
	for _, c := range t.components.Triggers() {
		if c.Usable() {
			all = append(all, triggerOf(c))
		}
	}
	return all
}

func (t triggers) Get(id string) (dispatch.Trigger, bool) {
	for _, known := range t.All() {
		if known.ID == id {
			return known, true
		}
	}
	return dispatch.Trigger{}, false
}

func triggerOf(c *component.Trigger) dispatch.Trigger {
	o := c.Settings
	// The templates were checked when the component was made.
	messages, _ := dispatch.ParseMessages(o.SimpleTitle, o.SimpleBody, o.BatchTitle)
	return dispatch.Trigger{
		ID: c.ID(), Auto: o.Auto, Once: o.Once, IncludeByDefault: o.IncludeByDefault, Batch: o.Mode == component.ModeBatch,
		Threshold: o.Threshold, AtMostOnce: c.Delivery == kind.AtMostOnce, Messages: messages, Runner: c,
		Outages: slices.Contains(o.Events, component.EventWatcher),
	}
}

// newRunner returns what runs tests of components; used reports whether a known container has its image from a host.
func newRunner(components *component.Manager, used func(host string) bool, log hclog.Logger, now func() time.Time) *testrun.Runner {
	return testrun.New(testrun.Options{Components: components, Trigger: triggerOf, Used: used, Log: log, Now: now})
}

// subscribers waits until every component is configured and returns the triggers that take a state stream.
func subscribers(components *component.Manager) func(context.Context) []statestream.Subscriber {
	return func(ctx context.Context) []statestream.Subscriber {
		var all []statestream.Subscriber
		if components.Await(ctx) != nil {
			return nil
		}
		for _, c := range components.Triggers() {
			if slices.Contains(c.Capabilities, kind.CapStateStream) {
				all = append(all, statestream.Subscriber{
					ID: c.ID(), MayRun: slices.Contains(c.Capabilities, kind.CapRun), Usable: c.Usable, Subscribe: c.Subscribe,
				})
			}
		}
		return all
	}
}

// shared returns what is stored now, for statestream.Options.
func (s containers) shared() []*sdk.Container {
	records := s.Snapshot().All()
	all := make([]*sdk.Container, len(records))
	for i, r := range records {
		all[i] = &r.Container
	}
	return all
}

// runner has the dispatcher run a trigger on a stored container, as a person may.
func runner(d *dispatch.Dispatcher, s containers) func(ctx context.Context, triggerID, containerID string) error {
	return func(ctx context.Context, triggerID, containerID string) error {
		c, known := s.ByID(containerID)
		if !known {
			return fmt.Errorf("container %s: %w", containerID, sdk.ErrNotFound)
		}
		return d.RunNow(ctx, triggerID, []sdk.Container{c}, false)
	}
}

// lender completes requests to triggers with what their capabilities allow.
type lender struct{ components *component.Manager }

func (l lender) lend(ctx context.Context, id string, req *trigger.Request) {
	t, known := l.components.Trigger(id)
	if !known {
		return
	}
	if slices.Contains(t.Capabilities, kind.CapCredentials) {
		req.Credentials = l.credentials(ctx, req.Containers)
	}
	if slices.Contains(t.Capabilities, kind.CapEngine) {
		req.Engines = l.engines(req.Containers)
	}
}

// credentials asks the registries of the containers for what an engine needs to pull.
// A registry that has none to give is passed over: the pull then is anonymous.
func (l lender) credentials(ctx context.Context, containers []sdk.Container) map[string]sdk.Credentials {
	lent := map[string]sdk.Credentials{}
	for _, c := range containers {
		host := c.Image.Registry.Host
		owner, _, served := l.components.RegistryFor(host)
		if _, done := lent[host]; done || !served || !slices.Contains(owner.Capabilities, kind.CapCredentials) {
			continue
		}
		repo := registry.Repository{Host: host, Name: c.Image.Name, ScopeHints: []string{c.Image.Name}}
		if cred, err := owner.Credentials(ctx, repo); err == nil && cred != (sdk.Credentials{}) {
			lent[host] = cred
		}
	}
	return lent
}

func (l lender) engines(containers []sdk.Container) map[string]trigger.Engine {
	lent := map[string]trigger.Engine{}
	for _, c := range containers {
		if w, known := l.components.WatcherNamed(c.Watcher); known {
			lent[c.Watcher] = trigger.Engine{Type: w.Type, Options: maps.Clone(w.Options)}
		}
	}
	return lent
}

// validateWatcher checks the options of a watcher that the scheduler understands.
func validateWatcher(o component.WatcherOptions) []config.Problem {
	if _, err := schedule.ParseCron(o.Cron); err != nil {
		return []config.Problem{{Key: "cron", Message: err.Error(), Level: config.Error}}
	}
	return nil
}

// validateTrigger checks the options of a trigger that the dispatcher understands.
func validateTrigger(o component.TriggerOptions) []config.Problem {
	messages, err := dispatch.ParseMessages(o.SimpleTitle, o.SimpleBody, o.BatchTitle)
	var invalid *sdk.InvalidError
	if errors.As(err, &invalid) {
		return optionProblems(invalid.Fields, config.Error)
	}
	return optionProblems(messages.Lint(), config.Warning)
}

func optionProblems(fields []sdk.FieldError, level config.Level) []config.Problem {
	var problems []config.Problem
	for _, f := range fields {
		problems = append(problems, config.Problem{Key: f.Field, Message: f.Detail, Level: level})
	}
	return problems
}

// importWUD takes over, once, what What's Up Docker left in the store folder.
func (a *App) importWUD(ctx context.Context) {
	wudstore.Import(ctx, a.store, filepath.Join(a.opt.Config.Store.Path, a.opt.Config.WUDFile), a.watcherNames, a.log)
}

// watcherNames returns the names of the watchers there will be.
func (a *App) watcherNames() []string {
	var names []string
	for _, c := range a.opt.Config.Components {
		if c.Kind == kind.Watcher {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		return names
	}
	for _, t := range a.plugins.Types(kind.Watcher) {
		if t.DefaultName != "" {
			names = append(names, t.DefaultName)
		}
	}
	return names
}
