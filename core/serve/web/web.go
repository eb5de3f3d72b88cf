// Package web serves the pages of Dogwatch: what needs the user, the containers,
// the components and the history.
package web

import (
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/components"
	"github.com/dogwatch/dogwatch/core/serve/web/find"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/history"
	"github.com/dogwatch/dogwatch/core/serve/web/operations"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/plugins"
	"github.com/dogwatch/dogwatch/sdk"
)

// Options configure the pages.
type Options struct {
	// BasePath is in front of every link: "" or "/dogwatch".
	BasePath string
	Version  string
	Service  Service
	// Logins lets users in and out, and knows the actor of a request.
	Logins Logins
	// Links redeem the links of messages; nil where none are sent.
	Links Links
	// FrameAncestors are the origins of other sites that may show the pages in
	// frames, as a content security policy names them.
	FrameAncestors []string
	// PageViewed, if set, is called after each page view.
	PageViewed func()
	// TaskChanged, if set, is called when a task that a page started goes on or ends.
	TaskChanged func()
	// Want, if set, is called with every container of a page view, so that the
	// release date of its newer version is fetched. It returns at once.
	Want func(c *sdk.Container)
	// WantVersions, if set, is called with the container of its own page, so that the versions behind
	// its tag are found out. It must not wait.
	WantVersions func(c *sdk.Container)
	Log          hclog.Logger
	Now          func() time.Time
}

// UI serves the requests for pages, for paths without the base path.
type UI struct {
	*page.Site
	Options
	guide      *guide.Handler
	find       *find.Finder
	history    *history.Handler
	components *components.Handler
	plugins    *plugins.Handler
	operations *operations.Handler
	routes     http.Handler
}

// New returns the pages. Close must be called.
func New(opt Options) *UI {
	opt.BasePath = strings.TrimSuffix(opt.BasePath, "/")
	if opt.PageViewed == nil {
		opt.PageViewed = func() {}
	}
	if opt.TaskChanged == nil {
		opt.TaskChanged = func() {}
	}
	if opt.Want == nil {
		opt.Want = func(*sdk.Container) {}
	}
	if opt.WantVersions == nil {
		opt.WantVersions = func(*sdk.Container) {}
	}
	opt.Log = opt.Log.Named("web")
	u := &UI{Options: opt}
	u.Site = page.New(page.Options{
		BasePath: opt.BasePath, Version: opt.Version, Service: opt.Service,
		Templates: []fs.FS{
			templates(), operations.Templates, components.Templates, plugins.Templates, history.Templates, find.Templates,
			guide.Templates,
		},
		ActorOf: func(r *http.Request) auth.Actor { return u.Logins.ActorOf(r) }, TaskChanged: opt.TaskChanged,
		Log: opt.Log, Now: opt.Now,
	})
	u.guide = guide.New(u.Site, opt.Service)
	u.find = find.New(u.Site, opt.Service)
	u.history = history.New(u.Site, opt.Service, u.guide)
	u.components = components.New(u.Site, opt.Service, u.guide)
	u.plugins = plugins.New(u.Site, opt.Service, u.guide)
	u.operations = operations.New(u.Site, opt.Service, u.guide, u.find)
	u.routes = u.router()
	return u
}

// router has every page.
func (u *UI) router() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", u.overview)
	u.containerRoutes(mux)
	u.operations.Routes(mux)
	u.components.Routes(mux)
	u.plugins.Routes(mux)
	u.history.Routes(mux)
	u.settingsRoutes(mux)
	mux.HandleFunc("GET /policies", u.showPolicies)
	u.guide.Routes(mux)

	mux.HandleFunc("GET /decide/{token}", u.showDecision)
	mux.HandleFunc("POST /decide/{token}", u.decide)
	mux.HandleFunc("GET /login", u.showLogin)
	mux.HandleFunc("POST /login", u.login)
	mux.HandleFunc("POST /logout", u.logout)
	mux.HandleFunc("GET /work", u.ShowTasks)
	mux.HandleFunc("POST /work/{id}/dismiss", u.DismissTask)
	mux.HandleFunc("POST /theme", u.ChooseTheme)
	mux.HandleFunc("GET /static/{file}", u.ServeAsset)
	mux.HandleFunc("GET /favicon.ico", u.ServeFavicon)
	mux.HandleFunc("/", u.NotFound)
	return mux
}

func (u *UI) containerRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /containers", u.containers)
	mux.HandleFunc("GET /containers/rows", u.containerRows)
	mux.HandleFunc("POST /containers/act", u.act)
	mux.HandleFunc("GET /containers/{id}", u.containerByID)
	mux.HandleFunc("GET /containers/{watcher}/{name}", u.container)
	mux.HandleFunc("GET /containers/{watcher}/{name}/why", u.containerWhy)
	mux.HandleFunc("GET /containers/{watcher}/{name}/notes", u.containerNotes)
	mux.HandleFunc("POST /containers/{watcher}/{name}/scan", u.startScan)
	mux.HandleFunc("GET /choose", u.showChooser)
	mux.HandleFunc("POST /choose", u.choose)
}

func (u *UI) settingsRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /settings", u.showSettings)
	mux.HandleFunc("GET /settings/api", u.showAPI)
	mux.HandleFunc("GET /settings/reload", u.showReload)
	mux.HandleFunc("POST /settings/reload", u.reload)
	mux.HandleFunc("GET /settings/webhooks", u.showWebhooks)
	mux.HandleFunc("POST /settings/log", u.setLogLevel)
	mux.HandleFunc("POST /settings/tokens", u.createToken)
	mux.HandleFunc("POST /settings/tokens/{id}/revoke", u.revokeToken)
	mux.HandleFunc("POST /settings/sessions/{id}/end", u.endSession)
	mux.HandleFunc("POST /settings/links/revoke", u.revokeLinks)
	mux.HandleFunc("POST /settings/sessions/end-others", u.endOtherSessions)
}

// contentPolicy lets pages load what is ours, and nothing else.
const contentPolicy = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"

// ServeHTTP responds with a page.
func (u *UI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.protect(w.Header())
	if r.Body != nil {
		r.Body = http.MaxBytesReader(w, r.Body, page.MaxForm)
	}
	defer u.PageViewed()
	if u.Loaded(w) {
		u.routes.ServeHTTP(w, u.Dated(r))
	}
}

// protect keeps pages from loading what is not ours and from being shown in frames
// of other sites, where a user could be led to press an invisible button (clickjacking).
func (u *UI) protect(h http.Header) {
	if len(u.FrameAncestors) == 0 {
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Frame-Options", "SAMEORIGIN") // which knows no list: RFC 7034, section 2.3.2.3
	} else {
		h.Set("Content-Security-Policy", contentPolicy+" "+strings.Join(u.FrameAncestors, " "))
	}
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}
