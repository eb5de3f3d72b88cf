package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/dogwatch/dogwatch/sdk/kind"
)

// handler carries what the handlers need.
type handler struct {
	Options
	// run is the context of what must not end with its request.
	run     context.Context
	base    []string // the segments of the base path
	fields  map[string]fieldPath
	routes  chi.Router
	metrics http.Handler
	started time.Time
	packed  packed
}

// newHandler returns everything the server answers.
func newHandler(opt Options, run context.Context) http.Handler {
	h := newRouter(opt, run)
	return h.observe(h.cors(h.locate(h.guard(h.routes))))
}

// newRouter returns a handler with its routes, all of which are on this screen.
func newRouter(opt Options, run context.Context) *handler {
	h := &handler{Options: opt, run: run, base: segments(opt.Config.Server.BasePath), fields: containerFields(), started: opt.Now()}
	h.metrics = opt.Metrics.Handler(h.metricsState)
	r := chi.NewRouter()
	h.routes = r
	r.NotFound(h.notFound)
	r.MethodNotAllowed(h.methodNotAllowed)
	do := r.With(h.readBody)

	r.Get("/", h.home)
	r.Get("/health", h.health)
	r.Get("/metrics", h.metrics.ServeHTTP)

	r.Get("/api/app", h.app)
	r.Get("/api/server", h.server)
	r.Get("/api/log", h.logLevel)
	r.Get("/api/store", h.store)
	r.Get("/api/health", h.health)
	r.Get("/api/ready", h.ready)
	r.Get("/api/openapi.yaml", h.openAPI)

	r.Get("/api/containers", h.listContainers)
	do.Post("/api/containers/watch", h.watchContainers)
	r.Get("/api/containers/{id}", h.getContainer)
	do.Delete("/api/containers/{id}", h.deleteContainer)
	do.Post("/api/containers/{id}/watch", h.watchContainer)
	r.Get("/api/containers/{id}/explain", h.explainContainer)
	r.Get("/api/containers/{id}/triggers", h.containerTriggers)
	do.Post("/api/containers/{id}/triggers/{type}/{name}", h.runContainerTrigger)

	r.Get("/api/watchers", h.listComponents(kind.Watcher))
	r.Get("/api/watchers/{type}/{name}", h.getComponent(kind.Watcher))
	do.Post("/api/watchers/{type}/{name}/test", h.tryComponent(kind.Watcher))
	r.Get("/api/registries", h.listRegistries)
	r.Get("/api/registries/{type}/{name}", h.getRegistry)
	do.Post("/api/registries/{type}/{name}/test", h.tryComponent(kind.Registry))
	r.Get("/api/triggers", h.listComponents(kind.Trigger))
	r.Get("/api/triggers/{type}/{name}", h.getComponent(kind.Trigger))
	do.Post("/api/triggers/{type}/{name}/test", h.tryComponent(kind.Trigger))
	do.Post("/api/triggers/{type}/{name}", h.runTrigger)
	r.Get("/api/types/{kind}", h.listTypes)

	r.Get("/api/authentications", h.listAuthentications)
	r.Get("/api/authentications/{type}/{name}", h.getAuthentication)
	r.Get("/auth/strategies", h.strategies)
	do.Post("/auth/login", h.user)
	r.Get("/auth/user", h.user)
	do.Post("/auth/logout", h.logout)

	r.Get("/api/plugins", h.listPlugins)
	do.Post("/api/plugins/{name}/restart", h.restartPlugin)
	do.Post("/api/plugins/{name}/trust", h.trustPlugin)
	r.Get("/api/events", h.events)
	r.Get("/api/deliveries", h.listDeliveries)
	do.Post("/api/deliveries/{id}/retry", h.retryDelivery)

	return h
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
