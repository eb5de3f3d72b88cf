package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/watch/webhook"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// handler is what the handlers of all routes share.
type handler struct {
	Options
	// run is the context of runs of triggers, which must not end with their request.
	run        context.Context
	base       []string // the segments of the base path
	fields     map[string]fieldPath
	routes     chi.Router
	metrics    http.Handler
	started    time.Time
	compressed compressedList
	feed       *feed
	rendering  semaphore
	// misdirectedLog limits the log of requests for foreign host names.
	misdirectedLog logSampler
	// wrongSecrets limits how often networks may try secrets of webhooks.
	wrongSecrets webhook.RateLimit
}

// newHandler returns the router behind its middleware.
func newHandler(opt Options, run context.Context) http.Handler {
	h := newRouter(opt, run)
	return h.recovery(h.normalizePath(h.cors(h.refuseForeignHosts(h.refuseCrossSite(h.routes)))))
}

// newRouter returns a handler with all routes.
func newRouter(opt Options, run context.Context) *handler {
	opt.limits = opt.limits.complete()
	h := &handler{
		Options: opt, run: run, base: segments(opt.Config.Server.BasePath), fields: containerFields(),
		started: opt.Now(), rendering: make(semaphore, maxRendering),
	}
	h.feed = newFeed(opt.Events, opt.Bus, opt.Service.RedactEvent)
	h.metrics = opt.Metrics.Handler(opt.Service.MetricsState)
	router := chi.NewRouter()
	h.routes = router
	router.NotFound(h.fallback)
	router.MethodNotAllowed(h.require(auth.Read)(http.HandlerFunc(h.methodNotAllowed)).ServeHTTP)
	s := scopes{
		open: router.With(h.readBody), read: router.With(h.require(auth.Read), h.readBody),
		write: router.With(h.require(auth.Write), h.readBody), manage: router.With(h.require(auth.Manage), h.readBody),
	}
	h.systemRoutes(s)
	h.containerRoutes(s)
	h.componentRoutes(s)
	h.authRoutes(s)
	h.pluginRoutes(s)
	h.eventRoutes(s)
	h.operationRoutes(s)
	h.choiceRoutes(s)
	h.webhookRoutes(s)
	h.pushRoutes(s)
	h.agentRoutes(s, router)
	return h
}

// scopes are the routers by the scope that their routes require, see auth.Scope.
// Open routes require none. A path that is not a route requires a login too.
type scopes struct{ open, read, write, manage chi.Router }

func (h *handler) systemRoutes(s scopes) {
	s.open.Get("/", h.home)
	s.open.Get("/health", h.health)
	scrape := s.open
	if h.Config.Server.Metrics.Auth {
		scrape = s.read
	}
	scrape.Get("/metrics", h.limitRendering(h.metrics.ServeHTTP))

	s.open.Get("/api/app", h.app)
	s.open.Get("/api/health", h.health)
	s.read.Get("/api/server", h.server)
	s.read.Get("/api/log", h.logLevel)
	s.write.Post("/api/log", h.setLogLevel)
	s.write.Get("/api/log/entries", h.listLogEntries)
	s.write.Get("/api/reload", h.previewReload)
	s.write.Post("/api/reload", h.reload)
	s.read.Get("/api/store", h.store)
	s.read.Get("/api/ready", h.ready)
	s.read.Get("/api/openapi.yaml", h.openAPI)
	s.read.Get("/api/summary", h.summary)
	s.read.Get("/api/history", h.limitRendering(h.updateHistory))
	s.read.Get("/api/badge.svg", h.badge)
}

func (h *handler) containerRoutes(s scopes) {
	s.read.Get("/api/containers", h.listContainers)
	s.write.Post("/api/containers/watch", h.watchContainers)
	s.read.Get("/api/containers/{id}", h.getContainer)
	s.write.Delete("/api/containers/{id}", h.deleteContainer)
	s.write.Post("/api/containers/{id}/watch", h.watchContainer)
	s.read.Get("/api/containers/{id}/explain", h.explainContainer)
	s.read.Get("/api/containers/{id}/notes", h.containerNotes)
	s.write.Get("/api/containers/{id}/log", h.containerLog)
	s.read.Get("/api/containers/{id}/scan", h.getScan)
	s.write.Post("/api/containers/{id}/scan", h.startScan)
	s.read.Get("/api/containers/{id}/triggers", h.containerTriggers)
	s.write.Post("/api/containers/{id}/triggers/{type}/{name}", h.runContainerTrigger)
}

func (h *handler) componentRoutes(s scopes) {
	s.read.Get("/api/watchers", h.listComponents(kind.Watcher))
	s.read.Get("/api/watchers/{type}/{name}", h.getComponent(kind.Watcher))
	s.write.Post("/api/watchers/{type}/{name}/test", h.testComponent(kind.Watcher))
	s.read.Get("/api/registries", h.listRegistries)
	s.read.Get("/api/registries/{type}/{name}", h.getRegistry)
	s.write.Post("/api/registries/{type}/{name}/test", h.testComponent(kind.Registry))
	s.read.Get("/api/triggers", h.listComponents(kind.Trigger))
	s.read.Get("/api/triggers/{type}/{name}", h.getComponent(kind.Trigger))
	s.write.Post("/api/triggers/{type}/{name}/test", h.testComponent(kind.Trigger))
	s.write.Post("/api/triggers/{type}/{name}", h.runTrigger)
	s.read.Get("/api/types/{kind}", h.listTypes)
}

func (h *handler) authRoutes(s scopes) {
	s.read.Get("/api/authentications", h.listAuthentications)
	s.read.Get("/api/authentications/{type}/{name}", h.getAuthentication)
	s.open.Get("/auth/strategies", h.strategies)
	s.open.Post("/auth/login", h.login)
	s.open.Post("/auth/remember", h.remember)
	s.read.Get("/auth/user", h.user)
	s.read.Post("/auth/logout", h.logout)
	s.open.Get("/auth/oidc/{name}/redirect", h.oidcRedirect)
	s.open.Get("/auth/oidc/{name}/cb", h.oidcCallback)
	s.manage.Get("/api/tokens", h.listTokens)
	s.manage.Post("/api/tokens", h.createToken)
	s.manage.Delete("/api/tokens/{id}", h.deleteToken)
	s.manage.Get("/api/sessions", h.listSessions)
	s.write.Delete("/api/links", h.revokeLinks)
	s.manage.Delete("/api/sessions/{id}", h.deleteSession)
}

func (h *handler) pluginRoutes(s scopes) {
	s.read.Get("/api/plugins", h.listPlugins)
	s.read.Get("/api/plugins/gallery", h.listGallery)
	s.write.Post("/api/plugins/{name}/install", h.changePlugin(service.InstallPlugin))
	s.write.Post("/api/plugins/{name}/update", h.changePlugin(service.UpdatePlugin))
	s.write.Post("/api/plugins/{name}/rollback", h.changePlugin(service.RollBackPlugin))
	s.write.Post("/api/plugins/{name}/restart", h.restartPlugin)
	s.write.Post("/api/plugins/{name}/trust", h.trustPlugin)
	s.write.Post("/api/plugins/{name}/grant", h.grantPlugin)
}

func (h *handler) eventRoutes(s scopes) {
	s.read.Get("/api/events", h.events)
	s.read.Get("/api/deliveries", h.limitRendering(h.listDeliveries))
	s.write.Post("/api/deliveries/{id}/retry", h.retryDelivery)
}

func (h *handler) operationRoutes(s scopes) {
	s.read.Get("/api/containers/{id}/diff", h.diffContainer)
	s.read.Post("/api/containers/{id}/plan", h.planContainer)
	s.write.Post("/api/containers/{id}/update", h.startOperation(operation.Update))
	s.write.Post("/api/containers/{id}/rollback", h.startOperation(operation.Rollback))
	s.read.Get("/api/operations", h.limitRendering(h.listOperations))
	s.read.Get("/api/operations/{id}", h.getOperation)
	s.write.Post("/api/operations/{id}/cancel", h.cancelOperation)
}

func (h *handler) choiceRoutes(s scopes) {
	s.read.Get("/api/choices", h.listChoices)
	s.read.Get("/api/containers/{id}/decision", h.getDecision)
	s.write.Post("/api/containers/{id}/decision", h.decide)
	s.write.Delete("/api/containers/{id}/decision", h.undoChoices)
	s.write.Post("/api/containers/{id}/snooze", h.snooze)
	s.write.Delete("/api/containers/{id}/snooze", h.undoChoices)
}

// webhookRoutes are open: those that call them have the secret of a webhook.
func (h *handler) webhookRoutes(s scopes) {
	s.read.Get("/api/webhooks", h.listWebhooks)
	s.open.Post("/api/webhooks/{name}", h.receiveWebhook)
	s.open.Post("/api/webhooks/{name}/check", h.checkByWebhook)
}

// pushRoutes are for those who may write, since devices get links with which updates are approved.
func (h *handler) pushRoutes(s scopes) {
	s.write.Get("/api/push", h.getPush)
	s.write.Post("/api/push/devices", h.subscribeDevice)
	s.write.Delete("/api/push/devices/{id}", h.removeDevice)
	s.write.Post("/api/push/devices/{id}/test", h.testDevice)
}

// fallback handles paths that are not the API's: with a page, if there are any.
func (h *handler) fallback(w http.ResponseWriter, r *http.Request) {
	if h.Pages != nil && isPage(r) {
		h.page(w, r)
		return
	}
	h.require(auth.Read)(http.HandlerFunc(h.notFound)).ServeHTTP(w, r)
}

// notFound responds to requests for a path that is not a route.
func (h *handler) notFound(w http.ResponseWriter, r *http.Request) {
	h.fail(w, r, http.StatusNotFound, "Not Found")
}

// methodNotAllowed responds to OPTIONS with the allowed methods, and to others with 405.
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
