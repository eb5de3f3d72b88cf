package api

import (
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
)

// require lets only requests pass whose caller has a scope.
func (h *handler) require(scope auth.Scope) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r := h.authorize(w, r, scope); r != nil {
				next.ServeHTTP(w, r)
			}
		})
	}
}

// authorize returns the request with its caller's identity, if the caller has a
// scope. It responds to all other requests and returns nil.
func (h *handler) authorize(w http.ResponseWriter, r *http.Request, scope auth.Scope) *http.Request {
	caller, err := h.Auth.Identify(w, r)
	switch {
	case err != nil:
		h.refuseCredentials(w, r, err)
	case caller.Scope >= scope:
		return r.WithContext(auth.With(r.Context(), caller))
	case caller.Scope == auth.Nothing:
		h.requireLogin(w, r)
	default:
		p := problem{Status: http.StatusForbidden, Detail: forbiddenReason(caller, scope)}
		if scope == auth.Write {
			p.Paste = service.ToWrite(caller)
		}
		h.failProblem(w, r, p)
	}
	return nil
}

// actor returns on whose behalf the service handles an authorized request.
func (h *handler) actor(r *http.Request) auth.Actor { return h.Auth.ActorOf(r) }

func forbiddenReason(caller auth.Identity, scope auth.Scope) string {
	switch {
	case caller.Method == auth.AnonymousName:
		return "tokens and sessions are for people who are logged in: configure a login (auth.basic or auth.oidc), or for a token run: dogwatch token create"
	case scope == auth.Manage:
		return "a token cannot be used for tokens or sessions: log in, or for a token run: dogwatch token create"
	}
	return "the token " + strconv.Quote(caller.User) + " may only read"
}

// refuseCredentials responds to a request whose credentials were not accepted.
func (h *handler) refuseCredentials(w http.ResponseWriter, r *http.Request, err error) {
	var tooMany *auth.ThrottledError
	switch {
	case errors.As(err, &tooMany):
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(tooMany.Wait.Seconds()))))
		h.refuse(w, r, http.StatusTooManyRequests, err.Error())
	case errors.Is(err, auth.ErrBadCredentials), errors.Is(err, auth.ErrBadToken):
		h.challenge(w, r)
		h.refuse(w, r, http.StatusUnauthorized, err.Error())
	default:
		h.failWith(w, r, err)
	}
}

// refuse responds to browsers with the login page and to programs with an error.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	if h.Pages != nil && r.Method != http.MethodHead && strings.Contains(r.Header.Get("Accept"), "text/html") {
		h.Pages.Refuse(w, r, status, h.Redact(why))
		return
	}
	h.fail(w, r, status, why)
}

// requireLogin responds to a request without credentials: it redirects browsers
// that want a page to the login page; programs get 401.
func (h *handler) requireLogin(w http.ResponseWriter, r *http.Request) {
	if h.Pages == nil || !isPage(r) {
		h.challenge(w, r)
		h.fail(w, r, http.StatusUnauthorized, "log in first, or send a token")
		return
	}
	login := h.Config.Server.BasePath + "login"
	if here := h.here(r); r.Method == http.MethodGet && here != "/" {
		login += "?next=" + url.QueryEscape(here)
	}
	if r.Header.Get("HX-Request") != "" { // a part of a page has no use for the login page
		w.Header().Set("HX-Redirect", h.Config.Server.BasePath+"login")
		h.fail(w, r, http.StatusUnauthorized, "log in again")
		return
	}
	http.Redirect(w, r, login, http.StatusSeeOther)
}

// challenge requests a password from programs (RFC 9110, section 11.6.1).
// Browsers would show a dialog of their own over the login page.
func (h *handler) challenge(w http.ResponseWriter, r *http.Request) {
	if !isBrowser(r) {
		w.Header().Set("WWW-Authenticate", `Basic realm="Dogwatch", charset="UTF-8"`)
	}
}

// isBrowser reports whether a request looks like a browser's. On plain HTTP
// browsers send no Sec-Fetch headers, but all of them call themselves Mozilla.
func isBrowser(r *http.Request) bool {
	for _, header := range []string{"Sec-Fetch-Mode", "Origin", "X-Requested-With", "HX-Request"} {
		if r.Header.Get(header) != "" {
			return true
		}
	}
	return strings.HasPrefix(r.UserAgent(), "Mozilla/") || strings.Contains(r.Header.Get("Accept"), "text/html")
}
