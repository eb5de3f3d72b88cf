// Package guide says what to do next, to a user who has not got everything running yet: as a page, as a part of the
// overview, and wherever a list is empty.
package guide

import (
	"context"
	"embed"
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Templates are those of its pages.
//
//go:embed *.html
var Templates embed.FS

// Service is what a guide depends on; *service.Service says what its methods return.
type Service interface {
	About() service.About
	Containers() store.Snapshot
	Components(actor auth.Actor, k kind.Kind) []service.Component
	History(ctx context.Context, actor auth.Actor, f event.Filter) ([]event.Event, error)
}

// Handler makes guides.
type Handler struct {
	*page.Site
	service Service
}

// New returns a handler.
func New(site *page.Site, service Service) *Handler { return &Handler{site, service} }

// Routes adds its pages.
func (h *Handler) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /start", h.start)
}
