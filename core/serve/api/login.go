package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
)

// methodView is a login method in the form of a component.
func methodView(m auth.Method) component.View {
	v := component.View{ID: m.ID(), Type: m.Type, Name: m.Name, Configuration: m.Configuration, State: component.Ready}
	if m.Problem != "" {
		v.State, v.Error = component.Failed, m.Problem
	}
	return v
}

func (h *handler) listAuthentications(w http.ResponseWriter, r *http.Request) {
	views := []component.View{}
	for _, m := range h.Service.LoginMethods() {
		views = append(views, methodView(m))
	}
	h.respond(w, r, views)
}

func (h *handler) getAuthentication(w http.ResponseWriter, r *http.Request) {
	for _, m := range h.Service.LoginMethods() {
		if strings.EqualFold(param(r, "type"), m.Type) && strings.EqualFold(param(r, "name"), m.Name) {
			h.respond(w, r, methodView(m))
			return
		}
	}
	h.notFound(w, r)
}

// strategies lists what a login page can offer, in the form of WUD.
func (h *handler) strategies(w http.ResponseWriter, r *http.Request) {
	list := []map[string]any{}
	for _, s := range h.Auth.Strategies() {
		item := map[string]any{"type": s.Type, "name": s.Name}
		if s.Type == "oidc" {
			item["redirect"], item["logoutUrl"] = s.Redirect, orNull(s.LogoutURL)
		}
		list = append(list, item)
	}
	h.respond(w, r, list)
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// login begins a session for the user and password in the Authorization header.
// Of a body only "remember" counts, as drydock's page sends it. Without
// credentials it succeeds where no login is required.
func (h *handler) login(w http.ResponseWriter, r *http.Request) {
	var caller auth.Identity
	var err error
	if user, password, given := r.BasicAuth(); given && !auth.IsToken(password) {
		keep := h.Auth.Keep(r)
		if wish, ok := remembered(r); ok {
			keep = wish
		}
		caller, err = h.Auth.Login(w, r, user, password, keep)
	}
	if caller.Scope == auth.Nothing && (err == nil || h.Auth.Open()) {
		caller, err = h.Auth.Identify(w, r)
	}
	switch {
	case err != nil:
		h.refuseCredentials(w, r, err)
	case caller.Scope == auth.Nothing:
		h.requireLogin(w, r)
	default:
		h.respond(w, r, map[string]string{"username": caller.User})
	}
}

// remember sets whether the session cookie outlives the browser: that of the
// current session, or of the next one, as drydock's page asks before it logs in.
func (h *handler) remember(w http.ResponseWriter, r *http.Request) {
	keep, ok := remembered(r)
	if !ok {
		h.fail(w, r, http.StatusBadRequest, `want {"remember":true} or {"remember":false}`)
		return
	}
	if err := h.Auth.Remember(w, r, keep); err != nil {
		h.failWith(w, r, err)
		return
	}
	h.respond(w, r, map[string]bool{"ok": true})
}

// remembered reads "remember" from a body, if it is there.
func remembered(r *http.Request) (keep, ok bool) {
	var wish struct {
		Remember *bool `json:"remember"`
	}
	if json.NewDecoder(r.Body).Decode(&wish) != nil || wish.Remember == nil {
		return false, false
	}
	return *wish.Remember, true
}

func (h *handler) user(w http.ResponseWriter, r *http.Request) {
	h.respond(w, r, map[string]string{"username": h.actor(r).User})
}

func (h *handler) logout(w http.ResponseWriter, r *http.Request) {
	logoutURL, err := h.Auth.Logout(w, r)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	h.respond(w, r, map[string]any{"logoutUrl": orNull(logoutURL)})
}

// oidcRedirect begins a login at a provider: it redirects browsers, and responds
// to programs with the address, as WUD does.
func (h *handler) oidcRedirect(w http.ResponseWriter, r *http.Request) {
	to, err := h.Auth.BeginOIDC(w, r, strings.ToLower(param(r, "name")), r.URL.Query().Get("next"))
	switch {
	case errors.Is(err, auth.ErrUnknownProvider):
		h.notFound(w, r)
	case errors.Is(err, auth.ErrProviderUnavailable):
		h.Log.Warn("begin a login", "provider", param(r, "name"), "error", err)
		h.refuse(w, r, http.StatusBadGateway, err.Error())
	case err != nil:
		h.failWith(w, r, err)
	case strings.Contains(r.Header.Get("Accept"), "text/html"):
		http.Redirect(w, r, to, http.StatusFound)
	default:
		h.respond(w, r, map[string]string{"url": to})
	}
}

// oidcCallback is where a provider redirects the browser after a login.
func (h *handler) oidcCallback(w http.ResponseWriter, r *http.Request) {
	to, err := h.Auth.FinishOIDC(w, r, strings.ToLower(param(r, "name")))
	switch {
	case errors.Is(err, auth.ErrUnknownProvider):
		h.notFound(w, r)
	case errors.Is(err, auth.ErrBadCredentials): // no password is asked for here
		h.refuse(w, r, http.StatusUnauthorized, strings.TrimPrefix(err.Error(), auth.ErrBadCredentials.Error()+": "))
	case errors.Is(err, auth.ErrProviderUnavailable):
		h.refuse(w, r, http.StatusBadGateway, err.Error())
	case err != nil:
		h.refuseCredentials(w, r, err)
	default:
		http.Redirect(w, r, to, http.StatusFound)
	}
}
