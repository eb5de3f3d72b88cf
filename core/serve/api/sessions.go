package api

import (
	"net/http"

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
	all, err := h.Service.Sessions(r.Context(), h.actor(r))
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	views := []sessionView{}
	for _, s := range all {
		views = append(views, sessionView{
			ID: s.ID, Username: s.User, Method: s.Method, CreatedAt: sdk.TimeOf(s.Created), UsedAt: sdk.TimeOf(s.Used),
			ExpiresAt: sdk.TimeOf(s.Expires), Own: s.Own,
		})
	}
	h.respond(w, r, views)
}

func (h *handler) deleteSession(w http.ResponseWriter, r *http.Request) {
	if err := h.Service.EndSession(r.Context(), h.actor(r), param(r, "id")); err != nil {
		h.failWith(w, r, notFound(err, "Session not found"))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
