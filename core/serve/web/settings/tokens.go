package settings

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// lifetimes are the choices of how long a token is good, in days; the first is the default.
var lifetimes = []lifetime{
	{365, phrase.New("a year")}, {90, phrase.New("90 days")}, {30, phrase.New("30 days")}, {0, phrase.New("unlimited time")},
}

type lifetime struct {
	Days  int
	Label phrase.Phrase
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
	Wrong       phrase.Phrase
	Name, Scope string
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

// tokensForbidden is for an actor that may not change tokens.
var tokensForbidden = problem(service.ErrForbidden, phrase.New("Tokens are for people who are logged in"),
	phrase.New("Configure a login (auth.basic or auth.oidc), or run: dogwatch token create"))

// createToken makes a token and shows its secret, in this response and in no other.
func (h *Handler) createToken(w http.ResponseWriter, r *http.Request) {
	name, scope := r.PostFormValue("name"), r.PostFormValue("scope")
	var expires time.Time
	if days := daysOf(r.PostFormValue("days")); days > 0 {
		expires = h.Now().AddDate(0, 0, days)
	}
	secret, _, err := h.service.CreateToken(r.Context(), h.ActorOf(r), name, scope, expires)
	var invalid *sdk.InvalidError
	switch {
	case errors.As(err, &invalid):
		h.render(w, r, http.StatusBadRequest, func(v *tokensView) {
			v.Wrong, v.Name, v.Scope = words.Mistake(err.Error()), name, scope
		})
	case err != nil:
		h.Finish(w, r, err, "make a token", "", tokensForbidden)
	default:
		h.render(w, r, http.StatusOK, func(v *tokensView) { v.Made, v.Secret = name, secret })
	}
}

func (h *Handler) revokeToken(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		id = 0 // which no token has
	}
	err = h.service.RevokeToken(r.Context(), h.ActorOf(r), id)
	h.Finish(w, r, err, "revoke a token", "/settings#tokens", tokensForbidden,
		problem(service.ErrNotFound, phrase.New("There is no such token"), phrase.New("Somebody may have revoked it already.")))
}
