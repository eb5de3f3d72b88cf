package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// Token lets a program in. Its secret is known to nobody any more.
type Token struct {
	ID int64
	// Scope is "read" or "write".
	Name, Scope, Creator string
	// Expires and Used are zero for never.
	Created, Expires, Used time.Time
}

// Tokens are the API tokens.
type Tokens interface {
	// May reports whether a request comes from somebody who may see and change tokens.
	May(r *http.Request) bool
	List(ctx context.Context) ([]Token, error)
	// Create returns the secret of a new token, which is shown once. The error is an
	// *sdk.InvalidError when the wish makes no sense.
	Create(r *http.Request, name, scope string, expires time.Time) (secret string, err error)
	// Revoke returns an sdk.ErrNotFound when there is no such token.
	Revoke(r *http.Request, id int64) error
}

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
	// May is false for whoever has to log in for this.
	May       bool
	Rows      []tokenRow
	Lifetimes []lifetime
	// Secret is that of the token Made a moment ago.
	Made, Secret string
	// Wrong says what was wrong with a wish, Name and Scope are what it was.
	Wrong, Name, Scope string
}

type tokenRow struct {
	Token
	Expired bool
}

func newTokensView(all []Token, now time.Time) tokensView {
	v := tokensView{May: true, Lifetimes: lifetimes}
	for _, t := range all {
		v.Rows = append(v.Rows, tokenRow{t, !t.Expires.IsZero() && !now.Before(t.Expires)})
	}
	return v
}

// tokensFor returns what a request may see of the tokens; nil when there are none to speak of.
func (u *UI) tokensFor(r *http.Request) (*tokensView, error) {
	if u.Tokens == nil {
		return nil, nil
	}
	if !u.Tokens.May(r) {
		return &tokensView{}, nil
	}
	all, err := u.Tokens.List(r.Context())
	v := newTokensView(all, u.Now())
	return &v, err
}

// mayTokens answers and returns false when a request may not change tokens.
func (u *UI) mayTokens(w http.ResponseWriter, r *http.Request) bool {
	if u.Tokens != nil && u.Tokens.May(r) {
		return true
	}
	u.sorry(w, r, http.StatusForbidden, problem{
		Title: "Tokens are for people who are logged in", Detail: "Configure a login (auth.basic or auth.oidc), or run: dogwatch token create",
		Back: "To the settings", BackTo: "/settings",
	})
	return false
}

// createToken makes a token and shows its secret, in this answer and in no other.
func (u *UI) createToken(w http.ResponseWriter, r *http.Request) {
	if !u.form(w, r) || !u.mayTokens(w, r) {
		return
	}
	name, scope := r.PostFormValue("name"), r.PostFormValue("scope")
	var expires time.Time
	if days := daysOf(r.PostFormValue("days")); days > 0 {
		expires = u.Now().AddDate(0, 0, days)
	}
	secret, err := u.Tokens.Create(r, name, scope, expires)
	var invalid *sdk.InvalidError
	if err != nil && !errors.As(err, &invalid) {
		u.broken(w, r, "make a token", err)
		return
	}
	if invalid != nil {
		u.settings(w, r, http.StatusBadRequest, func(v *tokensView) { v.Wrong, v.Name, v.Scope = u.Redact(err.Error()), name, scope })
		return
	}
	u.settings(w, r, http.StatusOK, func(v *tokensView) { v.Made, v.Secret = name, secret })
}

func (u *UI) revokeToken(w http.ResponseWriter, r *http.Request) {
	if !u.form(w, r) || !u.mayTokens(w, r) {
		return
	}
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		err = sdk.ErrNotFound
	} else {
		err = u.Tokens.Revoke(r, id)
	}
	switch {
	case errors.Is(err, sdk.ErrNotFound):
		u.sorry(w, r, http.StatusNotFound, problem{Title: "There is no such token", Detail: "Somebody may have revoked it already.", Back: "To the settings", BackTo: "/settings"})
	case err != nil:
		u.broken(w, r, "revoke a token", err)
	default:
		http.Redirect(w, r, u.path("/settings#tokens"), http.StatusSeeOther)
	}
}
