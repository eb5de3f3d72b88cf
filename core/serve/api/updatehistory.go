package api

import "net/http"

// updateHistory responds with how far behind the containers were, day by day.
func (h *handler) updateHistory(w http.ResponseWriter, r *http.Request) {
	days, err := h.Service.UpdateHistory(r.Context())
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	h.respond(w, r, days)
}
