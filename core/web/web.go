// Package web serves the pages of Dogwatch: what needs whoever looks, the
// containers, the components and the history.
//
// Pages are rendered on the server and complete without script. With script,
// htmx exchanges parts of them, and app.js follows the event stream of the API
// and asks for the rows that changed. Nothing is loaded from elsewhere, and
// nothing is inline, so that the content security policy can forbid both.
//
// A page is a file: its view model is made of stored data by a pure function,
// its template defines "content" and the fragments that are exchanged.
package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/check"
	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Store is what the pages read of the store.
type Store interface {
	Snapshot() store.Snapshot
	// LastEvent returns the id of the newest event.
	LastEvent(ctx context.Context) (int64, error)
	Deliveries(ctx context.Context, f store.DeliveryFilter) ([]delivery.Delivery, error)
}

// Components are the configured watchers, registries and triggers.
type Components interface {
	All(k kind.Kind) []*component.Component
	Watchers() []*component.Watcher
	Registries() []*component.Registry
	Triggers() []*component.Trigger
	Get(k kind.Kind, typ, name string) (*component.Component, bool)
}

// Checks checks containers now. A check goes on when the context of the one
// who asked for it ends.
type Checks interface {
	WatchAll(ctx context.Context) error
	WatchOne(ctx context.Context, c sdk.Container) error
	Explain(ctx context.Context, c sdk.Container) check.Explanation
	// Next returns when a watcher is checked next; the zero time when that is not planned.
	Next(watcher string) time.Time
	// Progress returns how far the checks of whole watchers are that are under way.
	Progress() []check.Progress
}

// Triggers runs triggers now. RunNow returns when the trigger has ended.
type Triggers interface {
	RunNow(ctx context.Context, id string, containers []sdk.Container, test bool) error
}

// Plugins are the processes that hold the types of components.
type Plugins interface {
	Bundles() []plugin.Status
}

// Options configure the pages.
type Options struct {
	// BasePath is in front of every link: "" or "/dogwatch".
	BasePath   string
	Version    string
	Store      Store
	Components Components
	Checks     Checks
	Triggers   Triggers
	Plugins    Plugins
	// FrameAncestors are the origins of other sites that may show the pages in
	// frames, as a content security policy names them.
	FrameAncestors []string
	// Setup, Processes and Archive serve the pages about components, plugins and the past.
	Setup     Setup
	Processes Processes
	Archive   Archive
	About     func() About
	// Logins lets people in and out.
	Logins Logins
	// Tokens are the API tokens; nil when there are none.
	Tokens Tokens
	// Sessions are the people who are logged in; nil when there are none to speak of.
	Sessions Sessions
	// LogLevel is the level of the log; nil when it cannot be changed.
	LogLevel LogLevel
	// OpenAPI is the document that describes the HTTP interface.
	OpenAPI []byte
	// User returns the name of whoever is logged in, "" when nobody has to be.
	User func(*http.Request) string
	// Redact blanks secrets in texts that come from elsewhere.
	Redact func(string) string
	// Used, if set, is called after each answer.
	Used func()
	// Worked, if set, is called when work that a page started goes on or ends.
	Worked func()
	// Want, if set, is told of every container that somebody looks at: when its
	// newer version was made may be found out for them. It returns at once.
	Want func(c *sdk.Container)
	Log  hclog.Logger
	Now  func() time.Time
}

// UI answers the requests for pages, for paths without the base path.
type UI struct {
	Options
	// load reads what assets and pages hold, once, when somebody looks at a page:
	// without a visitor they would be megabytes of nothing.
	load    func() error
	assets  assets
	pages   pages
	started time.Time
	work    *work
	trials  trials
	routes  http.Handler
	// packers are used again, for they are large.
	packers sync.Pool
}

// New returns the pages. Close must be called.
func New(opt Options) *UI {
	opt.BasePath = strings.TrimSuffix(opt.BasePath, "/")
	if opt.User == nil {
		opt.User = func(*http.Request) string { return "" }
	}
	if opt.Used == nil {
		opt.Used = func() {}
	}
	if opt.Worked == nil {
		opt.Worked = func() {}
	}
	if opt.Want == nil {
		opt.Want = func(*sdk.Container) {}
	}
	opt.Log = opt.Log.Named("web")
	u := &UI{Options: opt, work: newWork(opt.Now, opt.Worked), started: opt.Now()}
	u.load = sync.OnceValue(u.read)
	u.routes = u.router()
	return u
}

// read fails only when the program was built from broken files.
func (u *UI) read() (err error) {
	if u.assets, err = readAssets(); err != nil {
		return fmt.Errorf("read the files of the pages: %w", err)
	}
	if u.pages, err = u.parse(); err != nil {
		return fmt.Errorf("read the templates of the pages: %w", err)
	}
	return nil
}

// Close waits for the work that pages started; what it waits for is cancelled.
func (u *UI) Close() { u.work.close() }

// router has every page.
func (u *UI) router() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", u.overview)
	mux.HandleFunc("GET /containers", u.containers)
	mux.HandleFunc("GET /containers/rows", u.containerRows)
	mux.HandleFunc("POST /containers/act", u.act)
	mux.HandleFunc("GET /containers/{id}", u.containerByID)
	mux.HandleFunc("GET /containers/{watcher}/{name}", u.container)
	mux.HandleFunc("GET /containers/{watcher}/{name}/why", u.containerWhy)

	for _, k := range kind.Kinds() {
		u.componentRoutes(mux, k)
	}
	mux.HandleFunc("GET /plugins", u.showPlugins)
	mux.HandleFunc("POST /plugins/{name}/restart", u.restartPlugin)
	mux.HandleFunc("POST /plugins/{name}/trust", u.trustPlugin)
	mux.HandleFunc("GET /history", u.showHistory)
	mux.HandleFunc("GET /history.csv", u.historyCSV)
	mux.HandleFunc("GET /deliveries", u.showDeliveries)
	mux.HandleFunc("GET /deliveries.csv", u.deliveriesCSV)
	mux.HandleFunc("POST /deliveries/{id}/retry", u.retryDelivery)
	mux.HandleFunc("GET /settings", u.showSettings)
	mux.HandleFunc("GET /settings/api", u.showAPI)
	mux.HandleFunc("POST /settings/log", u.setLogLevel)
	mux.HandleFunc("POST /settings/tokens", u.createToken)
	mux.HandleFunc("POST /settings/tokens/{id}/revoke", u.revokeToken)
	mux.HandleFunc("POST /settings/sessions/{id}/end", u.endSession)
	mux.HandleFunc("POST /settings/sessions/end-others", u.endOtherSessions)
	mux.HandleFunc("GET /start", u.showStart)

	mux.HandleFunc("GET /login", u.showLogin)
	mux.HandleFunc("POST /login", u.login)
	mux.HandleFunc("POST /logout", u.logout)
	mux.HandleFunc("GET /work", u.showWork)
	mux.HandleFunc("POST /work/{id}/dismiss", u.dismissWork)
	mux.HandleFunc("POST /theme", u.chooseTheme)
	mux.HandleFunc("GET /static/{file}", u.asset)
	mux.HandleFunc("GET /favicon.ico", u.favicon)
	mux.HandleFunc("/", u.notFound)
	return mux
}

// maxForm is the largest form, in bytes.
const maxForm = 100 << 10

// policy lets pages load what is ours, and nothing else.
const policy = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"

// ServeHTTP answers with a page.
func (u *UI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.protect(w.Header())
	if r.Body != nil {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	}
	defer u.Used()
	if u.loaded(w) {
		u.routes.ServeHTTP(w, u.dated(r))
	}
}

// loaded reports whether there are pages, and answers when there are none.
func (u *UI) loaded(w http.ResponseWriter) bool {
	err := u.load()
	if err != nil {
		u.Log.Error("answer a request with a page", "error", err)
		http.Error(w, "The pages of this build are broken.", http.StatusInternalServerError)
	}
	return err == nil
}

// protect keeps pages from loading what is not ours and from being shown in
// frames of others, where a visitor could be led to press what he does not see.
func (u *UI) protect(h http.Header) {
	if len(u.FrameAncestors) == 0 {
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "SAMEORIGIN") // which knows no list: RFC 7034, section 2.3.2.3
	} else {
		h.Set("Content-Security-Policy", policy+" "+strings.Join(u.FrameAncestors, " "))
	}
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}
