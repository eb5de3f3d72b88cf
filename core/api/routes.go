package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// handler carries what the handlers need.
type handler struct {
	Options
	// run is the context of what must not end with its request.
	run        context.Context
	base       []string // the segments of the base path
	fields     map[string]fieldPath
	routes     chi.Router
	metrics    http.Handler
	started    time.Time
	compressed compressedList
	feed       feed
	rendering  semaphore
	// strangers samples the log of requests for names that are not ours.
	misdirectedLog logSampler
}

// newHandler returns everything the server answers.
func newHandler(opt Options, run context.Context) http.Handler {
	h := newRouter(opt, run)
	return h.recovery(h.normalizePath(h.cors(h.refuseForeignHosts(h.refuseCrossSite(h.routes)))))
}

// newRouter returns a handler with its routes, all of which are on this screen.
func newRouter(opt Options, run context.Context) *handler {
	opt.limits = opt.limits.complete()
	h := &handler{Options: opt, run: run, base: segments(opt.Config.Server.BasePath), fields: containerFields(), started: opt.Now(), rendering: make(semaphore, maxRendering)}
	h.feed = feed{store: opt.Store, bus: opt.Bus, redact: h.redacted}
	h.metrics = opt.Metrics.Handler(h.metricsState)
	router := chi.NewRouter()
	h.routes = router
	// Who may come where: everybody, those who may read, those who may change
	// something, and people who are logged in. What is not open needs a login even to be missing.
	open, read := router.With(h.readBody), router.With(h.needs(auth.Read), h.readBody)
	do, person := router.With(h.needs(auth.Write), h.readBody), router.With(h.needs(auth.Manage), h.readBody)
	router.NotFound(h.elsewhere)
	router.MethodNotAllowed(h.needs(auth.Read)(http.HandlerFunc(h.methodNotAllowed)).ServeHTTP)

	open.Get("/", h.home)
	open.Get("/health", h.health)
	if opt.Config.Server.Metrics.Auth {
		read.Get("/metrics", h.limitRendering(h.metrics.ServeHTTP))
	} else {
		open.Get("/metrics", h.limitRendering(h.metrics.ServeHTTP))
	}

	open.Get("/api/app", h.app)
	read.Get("/api/server", h.server)
	read.Get("/api/log", h.logLevel)
	do.Post("/api/log", h.setLogLevel)
	read.Get("/api/store", h.store)
	open.Get("/api/health", h.health)
	read.Get("/api/ready", h.ready)
	read.Get("/api/openapi.yaml", h.openAPI)
	read.Get("/api/summary", h.summary)
	read.Get("/api/badge.svg", h.badge)

	read.Get("/api/containers", h.listContainers)
	do.Post("/api/containers/watch", h.watchContainers)
	read.Get("/api/containers/{id}", h.getContainer)
	do.Delete("/api/containers/{id}", h.deleteContainer)
	do.Post("/api/containers/{id}/watch", h.watchContainer)
	read.Get("/api/containers/{id}/explain", h.explainContainer)
	read.Get("/api/containers/{id}/triggers", h.containerTriggers)
	do.Post("/api/containers/{id}/triggers/{type}/{name}", h.runContainerTrigger)

	read.Get("/api/watchers", h.listComponents(kind.Watcher))
	read.Get("/api/watchers/{type}/{name}", h.getComponent(kind.Watcher))
	do.Post("/api/watchers/{type}/{name}/test", h.tryComponent(kind.Watcher))
	read.Get("/api/registries", h.listRegistries)
	read.Get("/api/registries/{type}/{name}", h.getRegistry)
	do.Post("/api/registries/{type}/{name}/test", h.tryComponent(kind.Registry))
	read.Get("/api/triggers", h.listComponents(kind.Trigger))
	read.Get("/api/triggers/{type}/{name}", h.getComponent(kind.Trigger))
	do.Post("/api/triggers/{type}/{name}/test", h.tryComponent(kind.Trigger))
	do.Post("/api/triggers/{type}/{name}", h.runTrigger)
	read.Get("/api/types/{kind}", h.listTypes)

	read.Get("/api/authentications", h.listAuthentications)
	read.Get("/api/authentications/{type}/{name}", h.getAuthentication)
	open.Get("/auth/strategies", h.strategies)
	open.Post("/auth/login", h.login)
	open.Post("/auth/remember", h.remember)
	read.Get("/auth/user", h.user)
	read.Post("/auth/logout", h.logout)
	open.Get("/auth/oidc/{name}/redirect", h.oidcRedirect)
	open.Get("/auth/oidc/{name}/cb", h.oidcCallback)
	person.Get("/api/tokens", h.listTokens)
	person.Post("/api/tokens", h.createToken)
	person.Delete("/api/tokens/{id}", h.deleteToken)
	person.Get("/api/sessions", h.listSessions)
	person.Delete("/api/sessions/{id}", h.deleteSession)

	read.Get("/api/plugins", h.listPlugins)
	do.Post("/api/plugins/{name}/restart", h.restartPlugin)
	do.Post("/api/plugins/{name}/trust", h.trustPlugin)
	read.Get("/api/events", h.events)
	read.Get("/api/deliveries", h.limitRendering(h.listDeliveries))
	do.Post("/api/deliveries/{id}/retry", h.retryDelivery)

	return h
}

// elsewhere answers requests for what is not the API's: with a page, if there are any.
func (h *handler) elsewhere(w http.ResponseWriter, r *http.Request) {
	if h.Pages != nil && isPage(r) {
		h.page(w, r)
		return
	}
	h.needs(auth.Read)(http.HandlerFunc(h.notFound)).ServeHTTP(w, r)
}

// notFound answers requests of which nothing here knows the path.
func (h *handler) notFound(w http.ResponseWriter, r *http.Request) {
	h.fail(w, r, http.StatusNotFound, "Not Found")
}

// methodNotAllowed answers OPTIONS with what is allowed and refuses the rest.
func (h *handler) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	path := chi.RouteContext(r.Context()).RoutePath
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		if !h.routes.Match(chi.NewRouteContext(), method, path) {
			continue
		}
		allowed = append(allowed, method)
		if method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
	}
	if len(allowed) == 0 { // a method that no router knows, such as PROPFIND
		h.notFound(w, r)
		return
	}
	list := strings.Join(allowed, ", ")
	w.Header().Set("Allow", list)
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusOK)
		return
	}
	h.fail(w, r, http.StatusMethodNotAllowed, "the method "+r.Method+" is not allowed here; allowed are "+list)
}
