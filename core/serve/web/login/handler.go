// Package login serves the page on which users log in and out.
package login

import (
	"embed"
	"net/http"

	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// Templates are those of its pages.
//
//go:embed *.html
var Templates embed.FS

// Handler serves the login.
type Handler struct {
	*page.Site
	logins Logins
}

// New returns a handler.
func New(site *page.Site, logins Logins) *Handler { return &Handler{site, logins} }

// Routes adds its pages.
func (h *Handler) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /login", h.show)
	mux.HandleFunc("POST /login", h.Posted(h.login))
	mux.HandleFunc("POST /logout", h.logout)
}
