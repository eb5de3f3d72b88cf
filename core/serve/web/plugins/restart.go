package plugins

import (
	"net/http"
)

func (h *Handler) restart(w http.ResponseWriter, r *http.Request) {
	if !h.Form(w, r) {
		return
	}
	b, err := h.service.RestartPlugin(h.ActorOf(r), r.PathValue("name"))
	if err != nil {
		h.fail(w, r, "restart the plugin", err)
		return
	}
	h.done(w, r, "restarted", b.Name)
}
