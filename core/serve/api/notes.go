package api

import "net/http"

// containerNotes responds with the release notes of what a container is offered.
func (h *handler) containerNotes(w http.ResponseWriter, r *http.Request) {
	rec := h.container(w, r)
	if rec == nil {
		return
	}
	n := h.Service.Notes(r.Context(), rec.Container)
	if r.Context().Err() != nil {
		h.stopping(w, r, "")
		return
	}
	h.respond(w, r, n)
}
