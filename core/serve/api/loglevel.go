package api

import "net/http"

func (h *handler) logLevel(w http.ResponseWriter, r *http.Request) {
	h.respond(w, r, map[string]string{"level": h.Service.LogLevel()})
}

func (h *handler) setLogLevel(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Level string `json:"level"`
	}
	if _, ok := h.decode(w, r, &body); !ok {
		return
	}
	if err := h.Service.SetLogLevel(r.Context(), h.actor(r), body.Level); err != nil {
		h.failWith(w, r, err)
		return
	}
	h.logLevel(w, r)
}
