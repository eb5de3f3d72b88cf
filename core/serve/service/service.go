// Package service is the application behind the HTTP API and the pages: all that
// they show and do is a method of Service. Visibility, redaction and authorization
// are decided here, once, for the actor that a method is given: who sees logins, who
// sees stored secrets, who may have something done. Handlers translate HTTP, and
// nothing else.
//
// A file holds one noun: containers, components, plugins, history, deliveries,
// operations, choices, tokens, sessions, the log level, and what is known about the installation.
package service

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/notify/testrun"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The errors that callers tell apart with errors.Is.
var (
	// ErrNotFound: there is no such container, component, plugin, delivery, token or
	// session. An image that a registry does not have is sdk.ErrNotFound.
	ErrNotFound = errors.New("there is no such thing")
	// ErrForbidden: the actor may not do this. The text of the error says who may.
	ErrForbidden = errors.New("not allowed")
	// ErrNotFailed: a delivery cannot be retried, since no attempt has failed, or it was sent.
	ErrNotFailed = errors.New("only a delivery that failed or waits for another attempt can be retried")
)

// Store is what the application reads and writes.
type Store interface {
	Snapshot() store.Snapshot
	Commit(ctx context.Context, change event.Change) error
	History(ctx context.Context, f event.Filter) ([]event.Event, error)
	LastEvent(ctx context.Context) (int64, error)
	Changes(ctx context.Context, after int64, limit int) ([]history.Change, error)
	Deliveries(ctx context.Context, f store.DeliveryFilter) ([]delivery.Delivery, error)
	Retry(ctx context.Context, id int64) error
}

// Components are the configured watchers, registries and triggers.
type Components interface {
	All(k kind.Kind) []*component.Component
	Registries() []*component.Registry
	Triggers() []*component.Trigger
	// Get, Registry and Trigger compare ids without regard to case.
	Get(k kind.Kind, typ, name string) (*component.Component, bool)
	Registry(id string) (*component.Registry, bool)
	Trigger(id string) (*component.Trigger, bool)
	// RegistryFor returns the registry that serves a host of images.
	RegistryFor(host string) (c *component.Registry, url string, served bool)
	Problems() []config.Problem
}

// Plugins are the bundles and their processes.
type Plugins interface {
	Bundles() []plugin.Status
	Bundle(name string) (*plugin.Supervisor, bool)
	Types(k kind.Kind) []kind.Type
	Find(k kind.Kind, typ string) (*plugin.Supervisor, kind.Type, bool)
	Trust(ctx context.Context, name, sha256 string) error
}

// Installs are the plugins that were installed from somewhere.
type Installs interface {
	Installed() []install.Status
	// Problems are those of what plugins.install asks for.
	Problems() []config.Problem
	// Grant gives a capability to what was installed under a name, or takes it away.
	Grant(ctx context.Context, name, capability string, granted bool) error
	// Offers returns the plugins of the gallery: of the index that is built in, or of the newest one. They are complete
	// with an error, too, which says what of the newest one does not count.
	Offers(ctx context.Context, newest bool) ([]install.Offer, error)
	// Change installs, updates or rolls back, has the result run, and returns what is there then.
	Change(ctx context.Context, do PluginChange, name string, newest bool) (install.Pin, error)
}

// Checks checks containers now. A check goes on when the context of the caller
// ends; only the waiting ends then, with the context's error.
type Checks interface {
	WatchAll(ctx context.Context) error
	WatchOne(ctx context.Context, c sdk.Container) error
	Explain(ctx context.Context, c sdk.Container) check.Explanation
	// Next returns when a watcher is checked next; the zero time when that is not planned.
	Next(watcher string) time.Time
	// Progress returns how far the checks of whole watchers are that are under way.
	Progress() []check.Progress
	// Budgets returns what is known of the requests to hosts of images.
	Budgets() []budget.Forecast
	// Concurrency returns how many requests hosts of images get at a time now, by their names.
	Concurrency() map[string]int
}

// Triggers runs triggers now.
type Triggers interface {
	// RunNow returns when the trigger has ended. The end of ctx cancels it.
	RunNow(ctx context.Context, id string, containers []sdk.Container, how dispatch.ManualRun) error
	// DeliveryProgress returns the latest steps of the deliveries under way.
	DeliveryProgress() []dispatch.Progress
	// Wake says that a delivery may be due.
	Wake()
}

// TestRuns runs tests of components; see testrun.Runner.
type TestRuns interface {
	Run(ctx context.Context, c *component.Component, req testrun.Request) (testrun.Result, error)
	Preview(ctx context.Context, t *component.Trigger) (testrun.Result, error)
}

// Updater plans, starts and cancels operations; see updater.Runner.
type Updater interface {
	Plan(ctx context.Context, req updater.Request) (watcher.Plan, error)
	Start(ctx context.Context, req updater.Request) (operation.Operation, error)
	Cancel(ctx context.Context, id, actor string) error
	// Allowed returns nil when the containers of a watcher may be updated.
	Allowed(watcherName string) error
	Previous(ctx context.Context, c sdk.Container) (string, error)
	ImageDiff(ctx context.Context, c sdk.Container) (updater.ImageDiff, error)
	Progress(id string) (watcher.StepProgress, bool)
	UnderWay() []updater.Progress
	// Tried returns an update that is not to be carried out again without a user; see updater.Runner.Tried.
	Tried(ctx context.Context, key update.Key) (operation.Trial, bool, error)
}

// Operations reads operations, the newest first.
type Operations interface {
	Operations(ctx context.Context, f operation.Filter) ([]operation.Operation, error)
	// Operation returns a store.ErrNotFound when there is none with this id.
	Operation(ctx context.Context, id string) (operation.Operation, error)
}

// Options are what a Service needs.
type Options struct {
	// Config returns the configuration that counts now.
	Config     func() *config.Config
	Version    string
	Store      Store
	Components Components
	Installs   Installs // nil when nothing can be installed
	Plugins    Plugins
	Checks     Checks
	Triggers   Triggers
	TestRuns   TestRuns
	// Updater and Operations are nil where nothing can be updated.
	Updater    Updater
	Operations Operations
	// Logs are nil where no logs of containers are read.
	Logs LogReaders
	// Policies and Rules, which are those of a container, are nil where no decisions are made.
	Policies Policies
	Rules    func(c sdk.Container) policy.Rules
	Auth     *auth.Auth
	// Reloader is nil where the configuration is not read anew.
	Reloader Reloader
	// Links, Notes, Webhooks and Scans are the None of their packages where they are switched off.
	Links    SignedLinks
	Notes    Notes
	Webhooks Webhooks
	// Agents are nil where there are none.
	Agents Agents
	Scans  Scans
	// Devices are nil where none can be subscribed.
	Devices Devices
	// Choices is nil where nothing can be decided.
	Choices Choices
	// Redact blanks secrets in texts that come from elsewhere.
	Redact func(string) string
	// Demo is true when the engine and the registries are simulated.
	Demo bool
	// Log is the logger of which all others are made: its level is the log level.
	Log hclog.Logger
	// Recent has the last entries of the log; nil where they are not kept.
	Recent *logging.Recent
	Now    func() time.Time
}

// Service is the application. Its methods may be called concurrently. Texts that
// they return, and the texts of their errors, hold no secret.
type Service struct {
	opt     Options
	log     hclog.Logger
	started time.Time
	// leveling is held while the log level changes.
	leveling sync.Mutex
	updates  updateHistory
}

// New returns the application. It starts nothing.
func New(opt Options) *Service {
	return &Service{opt: opt, log: opt.Log.Named("app"), started: opt.Now()}
}

// allow returns nil if an actor has a scope, and else an ErrForbidden that says who may do this.
func allow(actor auth.Actor, scope auth.Scope, doing string) error {
	switch {
	case actor.Scope >= scope:
		return nil
	case scope == auth.Manage:
		return forbidden(doing)
	}
	return sdk.WithKind(ErrForbidden, errors.New("only a login, or a token that may write, allows to "+doing))
}

// allowOperator returns nil if an actor runs the installation, and else an ErrForbidden.
func allowOperator(actor auth.Actor, doing string) error {
	if actor.Operator() {
		return nil
	}
	return forbidden(doing)
}

func forbidden(doing string) error {
	return sdk.WithKind(ErrForbidden, errors.New("only people who are logged in may "+doing))
}
