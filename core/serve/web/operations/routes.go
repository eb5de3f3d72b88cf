package operations

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/update/operation"
)

// Routes adds its pages.
func (h *Handler) Routes(mux *http.ServeMux) {
	for _, k := range []operation.Kind{operation.Update, operation.Rollback} {
		mux.HandleFunc("GET /containers/{watcher}/{name}/"+string(k), h.showPlan(k))
		mux.HandleFunc("POST /containers/{watcher}/{name}/"+string(k), h.Posted(h.start(k)))
	}
	mux.HandleFunc("GET /containers/{watcher}/{name}/backups", h.find.Named(h.showBackups))
	mux.HandleFunc("GET /containers/{watcher}/{name}/diff", h.find.Named(h.showImageDiff))
	mux.HandleFunc("GET /update", h.showSelection)
	mux.HandleFunc("POST /update", h.Posted(h.startSelection))
	mux.HandleFunc("GET /operations", h.list)
	mux.HandleFunc("GET /operations/{id}", h.show)
	mux.HandleFunc("POST /operations/{id}/cancel", h.Posted(h.cancel))
}
