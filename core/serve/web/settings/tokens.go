package settings

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// lifetimes are the choices of how long a token is good, in days; the first is the default.
var lifetimes = []lifetime{{365, "a year"}, {90, "90 days"}, {30, "30 days"}, {0, "ever"}}

type lifetime struct {
	Days  int
	Label string
}

// daysOf reads a choice of lifetimes; what is none of them is the default.
func daysOf(text string) int {
	for _, l := range lifetimes {
		if strconv.Itoa(l.Days) == text {
			return l.Days
		}
	}
	return lifetimes[0].Days
}

// tokensView is the part of the settings page about tokens.
type tokensView struct {
	// May is false for a client that has to log in for this.
	May       bool
	Rows      []tokenRow
	Lifetimes []lifetime
	// Secret is that of the token Made a moment ago.
	Made, Secret string
	// Wrong says what was wrong with a wish, Name and Scope are what it was.
	Wrong, Name, Scope string
}

type tokenRow struct {
	store.Token
	Expired bool
}

func newTokensView(all []store.Token, now time.Time) tokensView {
	v := tokensView{May: true, Lifetimes: lifetimes}
	for _, t := range all {
		v.Rows = append(v.Rows, tokenRow{t, !t.Expires.IsZero() && !now.Before(t.Expires)})
	}
	return v
}

// tokensFor returns what an actor may see of the tokens.
func (h *Handler) tokensFor(ctx context.Context, actor auth.Actor) (*tokensView, error) {
	all, err := h.service.Tokens(ctx, actor)
	if errors.Is(err, service.ErrForbidden) {
		return &tokensView{}, nil
	}
	v := newTokensView(all, h.Now())
	return &v, err
}

// tokensForbidden renders the error for an actor that may not change tokens.
func (h *Handler) tokensForbidden(w http.ResponseWriter, r *http.Request) {
	h.RenderError(w, r, http.StatusForbidden, page.Problem{
		Title:  "Tokens are for people who are logged in",
		Detail: "Configure a login (auth.basic or auth.oidc), or run: dogwatch token create",
		Back:   "To the settings", BackTo: "/settings",
	})
}

// createToken makes a token and shows its secret, in this response and in no other.
func (h *Handler) createToken(w http.ResponseWriter, r *http.Request) {
	if !h.Form(w, r) {
		return
	}
	name, scope := r.PostFormValue("name"), r.PostFormValue("scope")
	var expires time.Time
	if days := daysOf(r.PostFormValue("days")); days > 0 {
		expires = h.Now().AddDate(0, 0, days)
	}
	secret, _, err := h.service.CreateToken(r.Context(), h.ActorOf(r), name, scope, expires)
	var invalid *sdk.InvalidError
	switch {
	case errors.Is(err, service.ErrForbidden):
		h.tokensForbidden(w, r)
	case errors.As(err, &invalid):
		h.render(w, r, http.StatusBadRequest, func(v *tokensView) { v.Wrong, v.Name, v.Scope = err.Error(), name, scope })
	case err != nil:
		h.InternalError(w, r, "make a token", err)
	default:
		h.render(w, r, http.StatusOK, func(v *tokensView) { v.Made, v.Secret = name, secret })
	}
}

func (h *Handler) revokeToken(w http.ResponseWriter, r *http.Request) {
	if !h.Form(w, r) {
		return
	}
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		id = 0 // which no token has
	}
	err = h.service.RevokeToken(r.Context(), h.ActorOf(r), id)
	switch {
	case errors.Is(err, service.ErrForbidden):
		h.tokensForbidden(w, r)
	case errors.Is(err, service.ErrNotFound):
		h.RenderError(w, r, http.StatusNotFound, page.Problem{
			Title: "There is no such token", Detail: "Somebody may have revoked it already.", Back: "To the settings",
			BackTo: "/settings",
		})
	case err != nil:
		h.InternalError(w, r, "revoke a token", err)
	default:
		http.Redirect(w, r, h.Path("/settings#tokens"), http.StatusSeeOther)
	}
}
