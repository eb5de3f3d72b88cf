// Package policies serves the page about the rules of updates: what they make of them, and what another would.
package policies

import (
	"context"
	"embed"
	"net/http"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/choices"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// Templates are those of its pages.
//
//go:embed *.html
var Templates embed.FS

// Service is what tries rules; *service.Service says what its methods return.
type Service interface {
	PreviewPolicies(ctx context.Context, rules []string) (service.PolicyPreview, error)
}

// Handler serves the policies.
type Handler struct {
	*page.Site
	service Service
	guide   *guide.Handler
	choices *choices.Handler
}

// New returns a handler.
func New(site *page.Site, service Service, guide *guide.Handler, choices *choices.Handler) *Handler {
	return &Handler{site, service, guide, choices}
}

// Routes adds its pages.
func (h *Handler) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /policies", h.show)
}
