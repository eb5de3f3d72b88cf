package api

import (
	"fmt"
	"net/http"
	"strings"
)

func (h *handler) home(w http.ResponseWriter, r *http.Request) {
	if h.Pages != nil {
		h.page(w, r)
		return
	}
	text := fmt.Sprintf("Dogwatch %s is running.\nContainers: /api/containers\nThe whole interface: /api/openapi.yaml\n", h.Version)
	h.send(w, r, http.StatusOK, "text/plain; charset=utf-8", []byte(text))
}

func (h *handler) app(w http.ResponseWriter, r *http.Request) {
	h.respond(w, r, map[string]string{"name": "dogwatch", "version": h.Version})
}

func (h *handler) store(w http.ResponseWriter, r *http.Request) {
	h.respond(w, r, configured(map[string]any{"path": h.Config.Store.Path, "file": h.Config.Store.File}))
}

func (h *handler) server(w http.ResponseWriter, r *http.Request) {
	s := h.Config.Server
	// As in WUD, tls and cors are empty unless they are used.
	tls, cors := map[string]any{}, map[string]any{}
	if s.TLS.Enabled {
		tls = map[string]any{"enabled": true, "key": s.TLS.Key, "cert": s.TLS.Cert}
	}
	if s.CORS.Enabled {
		cors = map[string]any{"enabled": true, "origin": s.CORS.Origin, "methods": strings.Join(s.CORS.Methods, ",")}
	}
	h.respond(w, r, configured(map[string]any{
		"enabled": s.Enabled, "port": s.Port, "tls": tls, "cors": cors, "basepath": s.BasePath,
		"feature": map[string]any{"delete": s.Feature.Delete},
	}))
}

func configured(v map[string]any) map[string]any { return map[string]any{"configuration": v} }
