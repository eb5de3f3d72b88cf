package app

import (
	"context"
	"net"
	"os"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/notify/statestream"
	"github.com/dogwatch/dogwatch/core/notify/webpush"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/core/plugin/reload"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/metrics"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/core/watch/releasedate"
	"github.com/dogwatch/dogwatch/core/watch/schedule"
	"github.com/dogwatch/dogwatch/internal/wake"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Options configure an App.
type Options struct {
	parts.Options
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
	// Recent, if set, has the last entries of the log, for who reads them on a page.
	Recent *logging.Recent
	// Gallery is what plugins can be chosen from.
	Gallery install.Gallery
}

// App is the running Dogwatch: it makes every part, hands each what it needs, has all
// of them run, and closes them in the opposite order.
type App struct {
	opt        Options
	parts      parts.List
	serving    atomic.Bool
	wudNames   bool // what is published keeps the names of What's Up Docker
	log        hclog.Logger
	bus        event.Bus
	store      *store.Store
	agents     *agent.Controller
	joined     wake.Signal // has a value when other agents than before have joined
	plugins    *plugin.Host
	installer  *installer
	components *component.Manager
	choices    *choice.Choices
	queries    *registryquery.Client
	checker    *check.Checker
	dates      *releasedate.Finder
	notes      service.Notes
	prefetcher *notes.Prefetcher
	presets    preset.Presets
	decisions  *decision.Decisions
	dispatcher *dispatch.Dispatcher
	metrics    *metrics.Metrics
	auth       *auth.Auth
	updater    *updater.Runner
	links      links
	devices    *webpush.Devices
	scheduler  *schedule.Scheduler
	webhooks   service.Webhooks
	scans      scans
	streams    *statestream.Hub // from Run on
	reloader   *reload.Reloader
	restarts   chan *config.Config
	service    *service.Service
	// pageViews has room for one; a view that finds it full adds nothing.
	pageViews wake.Signal
}

// New opens the store and makes every part. Nothing runs yet, but Close must be called.
func New(ctx context.Context, opt Options) (*App, error) {
	a := &App{
		opt:       opt,
		log:       opt.Log.Named("app"),
		pageViews: wake.New(),
		restarts:  make(chan *config.Config, 1),
	}
	for _, build := range []func(context.Context) error{
		a.openStore,
		a.makeAgents,
		a.makePlugins,
		a.makeChecks,
		a.makeUpdates,
		a.makeScans,
		a.makeLinks,
		a.makeDevices,
		a.makeNotifications,
		a.makeWebhooks,
		a.makeService,
		a.importWUD,
	} {
		if err := build(ctx); err != nil {
			a.Close()
			return nil, err
		}
	}
	return a, nil
}

// Close closes what New and Run made, the last first. It waits for every process to end.
func (a *App) Close() { a.parts.Close() }

// Run serves until ctx ends, and then stops in order: no new requests and
// schedules, running checks, deliveries under way.
func (a *App) Run(ctx context.Context) error {
	a.serving.Store(true)
	for _, build := range []func(context.Context) error{a.makeStreams, a.makeServer} {
		if err := build(ctx); err != nil {
			return err
		}
	}
	if a.opt.Started != nil {
		a.opt.Started()
	}
	a.forgetWatchers(ctx)
	a.load(ctx)
	return a.parts.Run(ctx)
}

// load makes the components, and has the checker go on from where the event log ends.
func (a *App) load(ctx context.Context) {
	a.components.Load(a.opt.Config.Components)
	if err := a.checker.Recover(ctx, a.store, a.components.WatcherNames()); err != nil {
		a.log.Error("recover what checks have found and not reported", "error", err)
	}
}

// configured waits until the components of some kinds are configured, all when none is given.
func (a *App) configured(kinds ...kind.Kind) func(context.Context) error {
	return func(ctx context.Context) error { return a.components.Await(ctx, kinds...) }
}

// report logs what is wrong with the configuration.
func (a *App) report(problems []config.Problem) {
	for _, p := range problems {
		level := hclog.Warn
		if p.Level == config.Error {
			level = hclog.Error
		}
		a.log.Log(level, "configuration", "problem", p.String())
	}
}
