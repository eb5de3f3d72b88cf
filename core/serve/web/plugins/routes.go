package plugins

import "net/http"

// Routes adds its pages.
func (h *Handler) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /plugins", h.show)
	mux.HandleFunc("GET /plugins/types/{kind}/{type}", h.showType)
	mux.HandleFunc("POST /plugins/{name}/change", h.Posted(h.change))
	mux.HandleFunc("POST /plugins/{name}/restart", h.Posted(h.restart))
	mux.HandleFunc("POST /plugins/{name}/trust", h.Posted(h.trust))
	mux.HandleFunc("POST /plugins/{name}/grant", h.Posted(h.grant))
}
