package api

import (
	_ "embed"
	"net/http"
)

func (h *handler) logLevel(w http.ResponseWriter, r *http.Request) {
	h.respond(w, r, map[string]string{"level": h.LogLevel.Level()})
}

func (h *handler) setLogLevel(w http.ResponseWriter, r *http.Request) {
	var wish struct {
		Level string `json:"level"`
	}
	if _, ok := h.decode(w, r, &wish); !ok {
		return
	}
	if err := h.LogLevel.SetLevel(r, wish.Level); err != nil {
		h.failWith(w, r, err)
		return
	}
	h.logLevel(w, r)
}
