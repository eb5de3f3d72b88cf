// Package web serves the pages of Dogwatch: what needs the user, the containers,
// the components and the history.
package web

import (
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/agents"
	"github.com/dogwatch/dogwatch/core/serve/web/choices"
	"github.com/dogwatch/dogwatch/core/serve/web/components"
	"github.com/dogwatch/dogwatch/core/serve/web/containers"
	"github.com/dogwatch/dogwatch/core/serve/web/find"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/history"
	"github.com/dogwatch/dogwatch/core/serve/web/login"
	"github.com/dogwatch/dogwatch/core/serve/web/operations"
	"github.com/dogwatch/dogwatch/core/serve/web/overview"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/plugins"
	"github.com/dogwatch/dogwatch/core/serve/web/policies"
	"github.com/dogwatch/dogwatch/core/serve/web/settings"
	"github.com/dogwatch/dogwatch/sdk"
)

// Options configure the pages.
type Options struct {
	// BasePath is in front of every link: "" or "/dogwatch".
	BasePath string
	Version  string
	Service  *service.Service
	// Logins lets users in and out, and knows the actor of a request.
	Logins login.Logins
	// Links redeem the links of messages; signedlink.None where none are sent.
	Links choices.SignedLinks
	// FrameAncestors are the origins of other sites that may show the pages in
	// frames, as a content security policy names them.
	FrameAncestors []string
	// PageViewed, if set, is called after each page view.
	PageViewed func()
	// TaskChanged, if set, is called when a task that a page started goes on or ends.
	TaskChanged func()
	// Want, if set, is called with every container of a page view, so that the release date of its newer version is
	// fetched, and the notes of a major one. It returns at once.
	Want func(c *sdk.Container)
	// WantVersions, if set, is called with the container of its own page, so that the versions behind
	// its tag are found out. It must not wait.
	WantVersions func(c *sdk.Container)
	Log          hclog.Logger
	Now          func() time.Time
}

// application is what the areas need of the application, each of which states its own part.
type application interface {
	overview.Service
	containers.Service
	choices.Service
	operations.Service
	components.Service
	agents.Service
	plugins.Service
	history.Service
	policies.Service
	settings.Service
	find.Service
	guide.Service
	page.Service
}

// UI serves the requests for pages, for paths without the base path.
type UI struct {
	*page.Site
	Options
	service application
	login   *login.Handler
	routes  http.Handler
}

// New returns the pages. Close must be called.
func New(opt Options) *UI { return build(opt, opt.Service) }

func build(opt Options, service application) *UI {
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
	u := &UI{Options: opt, service: service}
	u.Site = page.New(page.Options{
		BasePath: opt.BasePath, Version: opt.Version, Service: service,
		Templates: []fs.FS{
			overview.Templates, containers.Templates, choices.Templates, operations.Templates, components.Templates,
			plugins.Templates, history.Templates, policies.Templates, settings.Templates, login.Templates, find.Templates,
			guide.Templates, agents.Templates,
		},
		ActorOf: opt.Logins.ActorOf, TaskChanged: opt.TaskChanged, Log: opt.Log, Now: opt.Now,
	})
	u.login = login.New(u.Site, opt.Logins)
	u.routes = u.router()
	return u
}

// router has every page.
func (u *UI) router() http.Handler {
	site, service := u.Site, u.service
	guide, find := guide.New(site, service), find.New(site, service)
	choices := choices.New(site, service, find, u.Links)
	operations := operations.New(site, service, guide, find, choices)
	containers := containers.New(site, service, guide, find, operations, choices, containers.Wanted{
		Release: u.Want, Versions: u.WantVersions,
	})
	mux := http.NewServeMux()
	overview.New(site, service, guide, operations, containers).Routes(mux)
	containers.Routes(mux)
	choices.Routes(mux)
	operations.Routes(mux)
	components.New(site, service, guide).Routes(mux)
	agents.New(site, service).Routes(mux)
	plugins.New(site, service, guide).Routes(mux)
	history.New(site, service, guide).Routes(mux)
	policies.New(site, service, guide, choices).Routes(mux)
	settings.New(site, service).Routes(mux)
	guide.Routes(mux)
	u.login.Routes(mux)
	site.Routes(mux)
	return mux
}

// Refuse renders the login page, which says why a client was not let in.
func (u *UI) Refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	u.protect(w.Header())
	u.login.Refuse(w, r, status, why)
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
