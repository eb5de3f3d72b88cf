package api

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/dogwatch/dogwatch/core/serve/auth"
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
		ID: t.ID, Name: t.Name, Scope: t.Scope, CreatedBy: t.Creator, CreatedAt: sdk.TimeOf(t.Created),
		ExpiresAt: sdk.TimeOf(t.Expires),
		UsedAt:    sdk.TimeOf(t.Used), Expired: !t.Expires.IsZero() && !h.Now().Before(t.Expires),
	}
}

func (h *handler) listTokens(w http.ResponseWriter, r *http.Request) {
	all, err := h.Service.Tokens(r.Context(), h.actor(r))
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
	var body struct {
		Name      string   `json:"name"`
		Scope     string   `json:"scope"`
		ExpiresAt sdk.Time `json:"expiresAt"`
	}
	if _, ok := h.decode(w, r, &body); !ok {
		return
	}
	scope := cmp.Or(body.Scope, auth.Read.String())
	secret, created, err := h.Service.CreateToken(r.Context(), h.actor(r), body.Name, scope, body.ExpiresAt.Time)
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	view := h.tokenView(created)
	view.Token = secret
	h.respondStatus(w, r, http.StatusCreated, view)
}

func (h *handler) deleteToken(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(param(r, "id"), 10, 64)
	if err != nil {
		h.fail(w, r, http.StatusNotFound, "Token not found")
		return
	}
	if err := h.Service.RevokeToken(r.Context(), h.actor(r), id); err != nil {
		h.failWith(w, r, notFound(err, "Token not found"))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
