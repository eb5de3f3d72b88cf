// Package overview serves the page that says what needs the user.
package overview

import (
	"context"
	"embed"
	"net/http"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/containers"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/operations"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Templates are those of its pages.
//
//go:embed *.html
var Templates embed.FS

// Service is what the overview sums up; *service.Service says what its methods return.
type Service interface {
	About() service.About
	Containers() store.Snapshot
	NextCheck(watcher string) time.Time
	Progress() []check.Progress
	Components(actor auth.Actor, k kind.Kind) []service.Component
	Registries(ctx context.Context, actor auth.Actor) []service.Component
	Plugins() []service.Plugin
	History(ctx context.Context, actor auth.Actor, f event.Filter) ([]event.Event, error)
	UpdateHistory(ctx context.Context) ([]history.Day, error)
	Deliveries(ctx context.Context, f store.DeliveryFilter) ([]delivery.Delivery, error)
	Operations(ctx context.Context, f operation.Filter) ([]operation.Operation, error)
}

// Handler serves the overview.
type Handler struct {
	*page.Site
	service    Service
	guide      *guide.Handler
	operations *operations.Handler
	containers *containers.Handler
}

// New returns a handler.
func New(site *page.Site, service Service, guide *guide.Handler, operations *operations.Handler,
	containers *containers.Handler) *Handler {
	return &Handler{site, service, guide, operations, containers}
}

// Routes adds its pages.
func (h *Handler) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", h.show)
}
