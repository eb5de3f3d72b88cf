package api

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/check"
	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/metrics"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/testrun"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Store is what the API reads of the store.
type Store interface {
	Snapshot() store.Snapshot
	Commit(ctx context.Context, change event.Change) error
	Events(ctx context.Context, after int64, limit int) ([]event.Event, error)
	History(ctx context.Context, f event.Filter) ([]event.Event, error)
	LastEvent(ctx context.Context) (int64, error)
	OldestEvent(ctx context.Context) (int64, error)
	Deliveries(ctx context.Context, f store.DeliveryFilter) ([]delivery.Delivery, error)
	Retry(ctx context.Context, id int64) error
}

// Components is what the API reads of the components.
type Components interface {
	All(k kind.Kind) []*component.Component
	Registries() []*component.Registry
	Triggers() []*component.Trigger
	Get(k kind.Kind, typ, name string) (*component.Component, bool)
	Registry(id string) (*component.Registry, bool)
	Trigger(id string) (*component.Trigger, bool)
}

// Checks checks containers now. A check goes on when the context of the one
// who asked for it ends; only the waiting ends then, with the context's error.
type Checks interface {
	WatchAll(ctx context.Context) error
	WatchOne(ctx context.Context, c sdk.Container) error
	Explain(ctx context.Context, c sdk.Container) check.Explanation
	// Next returns when a watcher is checked next; the zero time when that is not planned.
	Next(watcher string) time.Time
	// Progress returns how far the checks of whole watchers are that are under way.
	Progress() []check.Progress
}

// Triggers runs triggers now.
type Triggers interface {
	// RunNow returns when the trigger has ended. The end of ctx cancels it.
	RunNow(ctx context.Context, id string, containers []sdk.Container, test bool) error
	// Wake tells that a delivery may be due.
	Wake()
}

// TestRuns runs tests of components, for real.
type TestRuns interface {
	// Run returns what there is to see, of a failed test too; see testrun.Runner.
	Run(ctx context.Context, c *component.Component, req testrun.Request) (testrun.Result, error)
}

// Plugins is what the API does with plugins.
type Plugins interface {
	Bundles() []plugin.Status
	Bundle(name string) (*plugin.Supervisor, bool)
	Types(k kind.Kind) []kind.Type
	Trust(ctx context.Context, name, sha256 string) error
}

// Metrics serves the metrics.
type Metrics interface {
	Handler(read func(context.Context) (metrics.State, error)) http.Handler
}

// LogLevel is the least severe level that is logged, and may be changed at any time.
type LogLevel interface {
	Level() string
	// SetLevel changes it on behalf of whoever asked. The error is an
	// *sdk.InvalidError when there is no such level.
	SetLevel(r *http.Request, level string) error
}

// Options configure a Server.
type Options struct {
	Config     *config.Config
	Version    string
	Store      Store
	Bus        *event.Bus
	Components Components
	Plugins    Plugins
	Checks     Checks
	Triggers   Triggers
	TestRuns   TestRuns
	Metrics    Metrics
	Auth       *auth.Auth
	LogLevel   LogLevel
	// Pages are at every path that is not the API's; nil for none.
	Pages Pages
	// Redact blanks secrets in texts that come from elsewhere.
	Redact func(string) string
	Log    hclog.Logger
	Now    func() time.Time

	limits limits // those that are zero have their default
}
