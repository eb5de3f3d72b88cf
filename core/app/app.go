package app

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/core/app/migrate/wudstore"
	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/notify/statestream"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/plugin/reload"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/metrics"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/core/watch/schedule"
	"github.com/dogwatch/dogwatch/internal/contained"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Options configure an App.
type Options struct {
	Config   *config.Config
	Builtins []plugin.Builtin
	Version  string
	Log      hclog.Logger
	Redactor *logging.Redactor
	// Strict makes a misconfigured component an error of Run.
	Strict bool
	// Demo is true when the engine and the registries are simulated.
	Demo bool
	// Listening, if set, is called with the address of the HTTP server once it listens.
	Listening func(net.Addr)
	// Reload, if set, reads the configuration anew, and Hangups has a value for each
	// signal to do so.
	Reload  func() (*config.Config, error)
	Hangups <-chan os.Signal
	// Started, if set, is called when everything is built and the server listens.
	Started func()
	// Logins, if set, finds the logins with which plugins are fetched.
	Logins func() RegistryLogins
	Now    func() time.Time
}

// App is the running Dogwatch: it builds every part, hands each what it needs,
// starts them in order and stops them in the opposite one.
type App struct {
	opt        Options
	serving    atomic.Bool
	wudNames   bool // what is published keeps the names of What's Up Docker
	log        hclog.Logger
	bus        event.Bus
	opened     []func() // what releases what New opened, in its order
	store      *store.Store
	plugins    *plugin.Host
	installer  *installer
	components *component.Manager
	choices    *decision.Choices
	queries    *registryquery.Client
	checker    *check.Checker
	dater      *registryquery.Dater
	notes      service.Notes
	presets    preset.Presets
	decisions  *decision.Decisions
	dispatcher *dispatch.Dispatcher
	metrics    *metrics.Metrics
	auth       *auth.Auth
	updater    *updater.Runner
	links      links
	scheduler  *schedule.Scheduler
	webhooks   webhooks
	scans      scans
	streams    *statestream.Hub // from Run on
	reloader   *reload.Reloader
	restarts   chan *config.Config
	service    *service.Service
	// pageViews has room for one; a view that finds it full adds nothing.
	pageViews chan struct{}
}

// New opens the store and builds every part. Nothing runs yet, but Close must be called.
func New(ctx context.Context, opt Options) (*App, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	a := &App{
		opt:       opt,
		log:       opt.Log.Named("app"),
		pageViews: make(chan struct{}, 1),
		restarts:  make(chan *config.Config, 1),
	}
	for _, build := range []func(context.Context) error{
		a.openStore, a.makeComponents, a.makeChecks, a.makeUpdates, a.makeLinks, a.makeNotifications,
	} {
		if err := build(ctx); err != nil {
			a.Close()
			return nil, err
		}
	}
	a.scheduler = schedule.NewScheduler(a.components, a.checker, opt.Log)
	a.makeWebhooks()
	a.service = service.New(a.serviceOptions())
	a.importWUD(ctx)
	return a, nil
}

// Close releases what New opened, the last first. It waits for every process to end.
func (a *App) Close() {
	for _, release := range slices.Backward(a.opened) {
		release()
	}
}

func (a *App) openStore(ctx context.Context) error {
	path := a.opt.Config.StoreFile()
	lock, err := store.Acquire(path)
	if err != nil {
		return err
	}
	a.opened = append(a.opened, lock.Release)
	a.store, err = store.Open(ctx, path, store.Options{Bus: &a.bus, Now: a.opt.Now, Log: a.opt.Log})
	if err != nil {
		return err
	}
	a.opened = append(a.opened, func() {
		if err := a.store.Close(); err != nil {
			a.log.Error("close the store", "error", err)
		}
	})
	a.wudNames, err = a.keepsWUDNames(ctx)
	return err
}

func (a *App) makeComponents(context.Context) (err error) {
	opt, settings := a.opt, a.opt.Config
	a.auth = auth.New(auth.Options{
		Config:  settings,
		Store:   a.store,
		Secrets: opt.Redactor.Add,
		Log:     opt.Log,
		Now:     opt.Now,
	})
	a.report(a.auth.Problems())
	a.metrics = metrics.New(opt.Version, metrics.Options{
		Enabled: settings.Prometheus.Enabled,
		WUD:     settings.Prometheus.WUD,
	})
	if a.plugins, err = plugin.New(a.pluginOptions()); err != nil {
		return err
	}
	a.opened = append(a.opened, a.saveRequests, a.plugins.Close)
	a.installer = &installer{config: settings, trust: a.store, logins: opt.Logins}
	a.components = component.New(component.Options{
		Plugins:         a.plugins,
		Log:             opt.Log,
		Secrets:         opt.Redactor.Add,
		ValidateWatcher: wiring.ValidateWatcher,
		ValidateTrigger: wiring.ValidateTrigger,
		MaskAll:         settings.Server.MaskAll,
		Changed:         func(*component.Component) { a.bus.Touch(event.ComponentChanged) },
	})
	a.reloader = reload.New(settings, a.reloadOptions())
	a.report(a.layers().Problems(opt.Now()))
	return nil
}

func (a *App) makeChecks(ctx context.Context) error {
	opt, settings := a.opt, a.opt.Config
	registries := wiring.Registries{Components: a.components}
	a.choices = decision.NewChoices(decision.ChoiceOptions{
		Store:   a.store,
		Now:     opt.Now,
		Changed: func(ctx context.Context) { a.decisions.RedecideSoon(ctx) },
	})
	a.decisions = decision.New(decision.Options{
		Store:           a.store,
		Candidates:      a.store.Candidates,
		AlreadyNotified: a.store.AlreadyNotified,
		Rules:           a.layers().Rules,
		Facts:           a.facts,
		Choices:         a.choices.Of,
		Link:            func(c *sdk.Container) error { return a.checker.Link(c) },
		Next:            wiring.Containers{Store: a.store}.NextDecision,
		Bus:             &a.bus,
		Log:             opt.Log,
		Now:             opt.Now,
	})
	a.queries = registryquery.New(registryquery.Options{
		Registries:     registries,
		Cache:          wiring.Cache{Store: a.store, Log: a.log},
		Limits:         registryquery.Limits{PerHost: settings.Check.PerHost, Total: settings.Check.Total},
		Budget:         wiring.Budget(ctx, settings, a.store, a.log, opt.Now),
		Reports:        registries.Limits,
		Spare:          registries.Limits,
		ReadCandidates: true,
		Decisions:      a.decisions,
		Now:            opt.Now,
	})
	a.checker = check.New(check.Options{
		Queries:       a.queries,
		Decisions:     a.decisions,
		Events:        a.store,
		SaveRequests:  a.store.SaveRequests,
		Labels:        wiring.Labels(settings),
		Triggers:      a.components.TriggerIDs,
		WatchFloating: settings.Check.Floating,
		Order:         a.components.WatcherNames,
		Reached:       a.reached,
		Progressed:    func() { a.bus.Touch(event.CheckProgressed) },
		Log:           opt.Log,
		Now:           opt.Now,
	})
	a.dater = registryquery.NewDater(a.queries, a.decisions, opt.Log.Named("check"))
	return nil
}

func (a *App) makeUpdates(ctx context.Context) error {
	images := wiring.Updates{
		Components: a.components,
		Cache:      wiring.Cache{Store: a.store, Log: a.log},
		Requests:   a.queries,
	}
	a.updater = updater.New(updater.Options{
		Watchers:   images,
		Registries: images,
		Containers: wiring.Containers{Store: a.store},
		Store:      a.store,
		Bus:        &a.bus,
		Listed: func(ctx context.Context, watcher, id string) error {
			return a.scheduler.WatchOne(ctx, sdk.Container{Watcher: watcher, ID: id})
		},
		Vulnerabilities: a.vulnerabilities,
		Pinned:          a.decisions.Pinned,
		Major:           a.layers().Advice,
		Labels:          wiring.Labels(a.opt.Config),
		Redact:          a.opt.Redactor.String,
		Log:             a.opt.Log,
		Now:             a.opt.Now,
	})
	return a.makeScans(ctx, images)
}

func (a *App) makeNotifications(context.Context) error {
	stored := wiring.Containers{Store: a.store}
	a.notes = a.makeNotes()
	a.dispatcher = dispatch.New(dispatch.Options{
		Triggers:       wiring.Triggers{Components: a.components, Labels: wiring.Labels(a.opt.Config)},
		Containers:     stored,
		Stored:         stored.Shared,
		Store:          a.store,
		CheckedAtStart: a.checkedAtStart,
		Bus:            &a.bus,
		Updates:        wiring.Operations{Runner: a.updater, Store: a.store},
		Grants:         wiring.Grants{Components: a.components},
		Links:          a.links,
		Notes:          notes.Excerpts(a.notes.Of),
		NotStarted:     plugin.NotStarted,
		Exited:         plugin.Exited,
		Progressed:     a.deliveryProgressed,
		Redact:         a.opt.Redactor.String,
		Log:            a.opt.Log,
		Now:            a.opt.Now,
	})
	return nil
}

// report logs what is wrong with the ways to log in.
func (a *App) report(problems []config.Problem) {
	for _, p := range problems {
		level := hclog.Warn
		if p.Level == config.Error {
			level = hclog.Error
		}
		a.log.Log(level, "configuration", "problem", p.String())
	}
}

func (a *App) pluginOptions() plugin.Options {
	settings := a.opt.Config
	return plugin.Options{
		Builtins: a.opt.Builtins, Command: settings.Command(), Dir: settings.Plugins.Dir,
		Pinned:    settings.Plugins.Trust == "pinned",
		Checksums: settings.Plugins.Checksums(), Grants: wiring.PluginGrants(settings, a.log), Env: settings.Plugins.Env,
		Isolation: wiring.Isolation(settings), RunDirs: plugin.RunDirs(settings.Store.Path), Trust: a.store, Records: a.store,
		Installed: wiring.InstalledPlugins(settings, a.log), Version: a.opt.Version, Log: a.opt.Log, Now: a.opt.Now,
		RegistryTimeout: settings.Check.Timeout, Contained: contained.Here(), Changed: a.pluginChanged,
		Observe: a.metrics.Call,
		Redact:  a.opt.Redactor.String, Vars: wiring.PluginVars(settings, a.wudNames),
	}
}

// checkedAtStart returns the watchers that are checked when Dogwatch starts to serve.
func (a *App) checkedAtStart() []string {
	if !a.serving.Load() {
		return nil
	}
	return wiring.CheckedAtStart(a.components)
}

// Run serves until ctx ends, and then stops in order: no new requests and
// schedules, running checks, deliveries under way.
func (a *App) Run(ctx context.Context) error {
	a.serving.Store(true)
	stored := wiring.Containers{Store: a.store}
	var err error
	a.streams, err = statestream.New(ctx, statestream.Options{
		Containers: stored.Shared, Watchers: a.components.WatcherNames, Operations: a.updater.States, Events: a.store,
		Bus: &a.bus,
		Run: wiring.RunNow(a.dispatcher, stored), Decide: wiring.Decide(a.choices, stored, a.opt.Now), Log: a.opt.Log,
	})
	if err != nil {
		return err
	}
	pages := web.New(a.webOptions())
	defer pages.Close()
	server, err := api.Listen(a.apiOptions(pages))
	if err != nil {
		return err
	}
	if a.opt.Started != nil {
		a.opt.Started()
	}
	g, ctx := errgroup.WithContext(ctx)
	if server != nil {
		if a.opt.Listening != nil {
			a.opt.Listening(server.Addr())
		}
		g.Go(func() error { return server.Serve(ctx) })
	}
	if err := a.forgetWatchers(ctx); err != nil {
		a.log.Error("forget the containers of watchers that are not configured any more", "error", err)
	}
	a.load(ctx)
	for _, run := range a.parts() {
		g.Go(func() error { return run(ctx) })
	}
	return g.Wait()
}

// parts are what runs until the end of the program, each in a goroutine of its own.
func (a *App) parts() []func(ctx context.Context) error {
	return []func(ctx context.Context) error{
		a.followPlugins, a.scheduler.Run, a.dispatch, a.update, a.findDates, a.receiveWebhooks, a.scanImages, a.decide,
		a.updateAutomatically, a.stream, a.count, a.housekeep, a.lookForPlugins, a.reloadOnRequest, a.releaseMemory,
	}
}

func (a *App) followPlugins(ctx context.Context) error {
	if err := a.discover(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	a.plugins.Follow(ctx, func() { a.reloader.Again(ctx) })
	return nil
}

func (a *App) dispatch(ctx context.Context) error {
	// A trigger that is not there yet would miss what is planned; one that hangs holds up no other.
	if a.components.AwaitListed(ctx) != nil {
		return nil
	}
	return a.dispatcher.Run(ctx)
}

func (a *App) update(ctx context.Context) error {
	// What was interrupted needs its watcher, and the registry of its image.
	if a.components.Await(ctx, kind.Watcher, kind.Registry) != nil {
		return nil
	}
	return a.updater.Run(ctx)
}

func (a *App) findDates(ctx context.Context) error {
	// Without its configured registry an image would be looked up elsewhere.
	if a.components.Await(ctx, kind.Registry) != nil {
		return nil
	}
	return a.dater.Run(ctx)
}

func (a *App) stream(ctx context.Context) error {
	return a.streams.Run(ctx, wiring.Subscribers(a.components))
}

func (a *App) releaseMemory(ctx context.Context) error {
	checking := func() bool { return len(a.checker.Progress()) > 0 }
	return releaseWhenIdle(ctx, &a.bus, a.pageViews, checking, debug.FreeOSMemory)
}

// load makes the components, and has the checker go on from where the event log ends.
func (a *App) load(ctx context.Context) {
	a.components.Load(a.opt.Config.Components)
	if err := a.checker.Recover(ctx, a.store, a.components.WatcherNames()); err != nil {
		a.log.Error("recover what checks have found and not reported", "error", err)
	}
}

// discover looks for third-party plugins and then completes the components.
func (a *App) discover(ctx context.Context) error {
	a.installPlugins(ctx)
	// Components start as soon as their plugin is known: one that hangs holds up no other.
	if err := a.plugins.DiscoverEach(ctx, func() { a.components.Continue() }); err != nil && ctx.Err() == nil {
		a.log.Error("look for plugins", "error", err)
	}
	a.components.Finish()
	a.components.LogReferences()
	if a.components.Await(ctx) != nil {
		return nil
	}
	if !a.opt.Strict {
		return nil
	}
	return config.Verdict(slices.Concat(a.opt.Config.Problems, a.installer.Problems(), a.auth.Problems(),
		a.components.Problems()), true)
}

// reached notes whether the engine of a watcher answered.
func (a *App) reached(watcher string, err error) {
	if w, known := a.components.WatcherNamed(watcher); known && w.SetReached(err) {
		a.bus.Touch(event.ComponentChanged)
	}
}

// pluginChanged records what became of a plugin.
func (a *App) pluginChanged(st plugin.Status) {
	a.metrics.Plugin(st.Name, st.State == plugin.Running, st.Restarts)
	types := map[plugin.State]event.Type{
		plugin.Running: event.PluginUp, plugin.Backoff: event.PluginDown, plugin.Stopped: event.PluginDown,
		plugin.Broken: event.PluginBroken, plugin.Untrusted: event.PluginBroken, plugin.Rejected: event.PluginBroken,
	}
	t, recorded := types[st.State]
	if !recorded || st.State == plugin.Running && st.Error != "" { // nothing became of its process
		a.bus.Touch(event.PluginChanged)
		return
	}
	e := event.Event{
		At: a.opt.Now(), Type: t, Subject: st.Name,
		Payload: event.Payload{Plugin: &event.Plugin{State: string(st.State), Error: st.Error}},
	}
	if err := a.store.Commit(context.Background(), event.Change{Events: []event.Event{e}}); err != nil {
		a.log.Error("record the state of a plugin", "bundle", st.Name, "error", err)
	}
}

func (a *App) serviceOptions() service.Options {
	return service.Options{
		Config: a.reloader.Current, Version: a.opt.Version, Store: a.store, Components: a.components,
		Plugins: a.plugins, Installs: a.installer,
		Checks: a.scheduler, Triggers: a.dispatcher, Updater: a.updater, Operations: a.store,
		Policies: policies{a.decisions, a.layers()},
		Rules:    a.layers().Rules, Choices: a.choices, Links: a.links, Notes: a.notes,
		Webhooks: a.webhooks, Scans: a.scans, TestRuns: wiring.TestRunner(a.components,
			wiring.Containers{Store: a.store}.Uses, a.links, a.opt.Log),
		Auth: a.auth, Reloader: a.reloader, Redact: a.opt.Redactor.String, Demo: a.opt.Demo, Log: a.opt.Log, Now: a.opt.Now,
	}
}

func (a *App) apiOptions(pages api.Pages) api.Options {
	return api.Options{
		Config: a.opt.Config, Version: a.opt.Version, Service: a.service, Auth: a.auth, Events: a.store, Bus: &a.bus,
		Metrics: a.metrics, Pages: pages, Redact: a.opt.Redactor.String, Log: a.opt.Log, Now: a.opt.Now,
	}
}

func (a *App) webOptions() web.Options {
	return web.Options{
		BasePath: a.opt.Config.Server.BasePath, FrameAncestors: a.opt.Config.Server.Frames, Version: a.opt.Version,
		Service: a.service, Logins: a.auth, Links: a.links, PageViewed: a.pageViewed,
		TaskChanged: func() { a.bus.Touch(event.WorkChanged) }, Want: a.dater.Want, WantVersions: a.dater.WantVersions,
		Log: a.opt.Log, Now: a.opt.Now,
	}
}

// deliveryProgressed notifies streams, and the pages that show what they started.
func (a *App) deliveryProgressed() {
	a.bus.Touch(event.DeliveryProgressed)
	a.bus.Touch(event.WorkChanged)
}

// pageViewed notes a page view.
func (a *App) pageViewed() {
	select {
	case a.pageViews <- struct{}{}:
	default: // already noted
	}
}

// importWUD takes over, once, what What's Up Docker left in the store folder.
func (a *App) importWUD(ctx context.Context) {
	wudstore.Import(ctx, a.store, filepath.Join(a.opt.Config.Store.Path, a.opt.Config.WUDFile), a.watcherNames, a.log)
}
