package api

import (
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// sessionView is a session of a user who is logged in.
type sessionView struct {
	ID        string   `json:"id"`
	Username  string   `json:"username"`
	Method    string   `json:"method"`
	CreatedAt sdk.Time `json:"createdAt"`
	// UsedAt is when it was used last, to within five minutes.
	UsedAt    sdk.Time `json:"usedAt"`
	ExpiresAt sdk.Time `json:"expiresAt"`
	// Own is whether it is the session of the request.
	Own bool `json:"own"`
}

func (h *handler) listSessions(w http.ResponseWriter, r *http.Request) {
	all, err := h.Auth.Sessions(r.Context(), auth.From(r.Context()))
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	views := []sessionView{}
	for _, s := range all {
		views = append(views, sessionView{
			ID: s.ID, Username: s.User, Method: s.Method, CreatedAt: sdk.TimeOf(s.Created), UsedAt: sdk.TimeOf(s.Used), ExpiresAt: sdk.TimeOf(s.Expires), Own: s.Own,
		})
	}
	h.respond(w, r, views)
}

func (h *handler) deleteSession(w http.ResponseWriter, r *http.Request) {
	switch err := h.Auth.EndSession(r.Context(), h.Auth.ActorOf(r), param(r, "id")); {
	case errors.Is(err, store.ErrNotFound):
		h.fail(w, r, http.StatusNotFound, "Session not found")
	case err != nil:
		h.failWith(w, r, err)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
