package containers

import "net/http"

// Routes adds its pages.
func (h *Handler) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /containers", h.show)
	mux.HandleFunc("GET /containers/part", h.showPart)
	mux.HandleFunc("GET /containers/rows", h.showRows)
	mux.HandleFunc("POST /containers/act", h.Posted(h.act))
	mux.HandleFunc("GET /containers/{id}", h.redirectID)
	mux.HandleFunc("GET /containers/{watcher}/{name}", h.find.Named(h.showContainer))
	mux.HandleFunc("GET /containers/{watcher}/{name}/why", h.find.Named(h.showWhy))
	mux.HandleFunc("GET /containers/{watcher}/{name}/notes", h.find.Named(h.showNotes))
	mux.HandleFunc("GET /containers/{watcher}/{name}/log", h.find.Named(h.showLog))
	mux.HandleFunc("POST /containers/{watcher}/{name}/scan", h.Posted(h.find.Named(h.startScan)))
}
