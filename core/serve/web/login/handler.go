// Package login serves the page on which users log in and out.
package login

import (
	"embed"
	"net/http"

	"github.com/dogwatch/dogwatch/core/serve/auth"
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

// Logins lets users in and out.
type Logins interface {
	// Open reports whether no client needs to log in.
	Open() bool
	Strategies() []auth.Strategy
	// Login begins a session; keep is whether it outlives the browser's being closed.
	// The errors to tell apart are auth.ErrBadCredentials and *auth.ThrottledError.
	Login(w http.ResponseWriter, r *http.Request, user, password string, keep bool) (auth.Identity, error)
	// Logout ends a session and returns where to log out of the provider; "" for nowhere.
	Logout(w http.ResponseWriter, r *http.Request) (elsewhere string, err error)
	// ActorOf returns the actor of a request that was admitted.
	ActorOf(r *http.Request) auth.Actor
}
