package plugins

import (
	"net/http"
)

func (h *Handler) restart(w http.ResponseWriter, r *http.Request) {
	_, err := h.service.RestartPlugin(h.ActorOf(r), r.PathValue("name"))
	h.done(w, r, "restarted", err)
}
