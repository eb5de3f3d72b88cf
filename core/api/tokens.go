package api

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// tokenView is an API token.
type tokenView struct {
	ID        int64    `json:"id"`
	Name      string   `json:"name"`
	Scope     string   `json:"scope"`
	CreatedBy string   `json:"createdBy"`
	CreatedAt sdk.Time `json:"createdAt"`
	// ExpiresAt is absent for a token that never expires.
	ExpiresAt sdk.Time `json:"expiresAt,omitzero"`
	// UsedAt is when it was used last, to within five minutes; absent when it never was.
	UsedAt  sdk.Time `json:"usedAt,omitzero"`
	Expired bool     `json:"expired"`
	// Token is the secret itself, only in the response that creates it.
	Token string `json:"token,omitempty"`
}

func (h *handler) tokenView(t store.Token) tokenView {
	return tokenView{
		ID: t.ID, Name: t.Name, Scope: t.Scope, CreatedBy: t.Creator, CreatedAt: sdk.TimeOf(t.Created), ExpiresAt: sdk.TimeOf(t.Expires),
		UsedAt: sdk.TimeOf(t.Used), Expired: !t.Expires.IsZero() && !h.Now().Before(t.Expires),
	}
}

func (h *handler) listTokens(w http.ResponseWriter, r *http.Request) {
	all, err := h.Auth.Tokens(r.Context())
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	views := []tokenView{}
	for _, t := range all {
		views = append(views, h.tokenView(t))
	}
	h.respond(w, r, views)
}

func (h *handler) createToken(w http.ResponseWriter, r *http.Request) {
	var wish struct {
		Name      string   `json:"name"`
		Scope     string   `json:"scope"`
		ExpiresAt sdk.Time `json:"expiresAt"`
	}
	if _, ok := h.decode(w, r, &wish); !ok {
		return
	}
	scope := map[string]auth.Scope{"": auth.Read, "read": auth.Read, "write": auth.Write}[wish.Scope]
	secret, made, err := h.Auth.CreateToken(r.Context(), auth.NewToken{
		Name: wish.Name, Scope: scope, Expires: wish.ExpiresAt.Time, Creator: auth.From(r.Context()).User, Address: h.Auth.Address(r),
	})
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	view := h.tokenView(made)
	view.Token = secret
	h.respondStatus(w, r, http.StatusCreated, view)
}

func (h *handler) deleteToken(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(param(r, "id"), 10, 64)
	if err == nil {
		err = h.Auth.RevokeToken(r.Context(), id, auth.From(r.Context()).User, h.Auth.Address(r))
	} else {
		err = store.ErrNotFound
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		h.fail(w, r, http.StatusNotFound, "Token not found")
	case err != nil:
		h.failWith(w, r, err)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
