package components

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Routes adds its pages.
func (h *Handler) Routes(mux *http.ServeMux) {
	for _, k := range kind.Kinds() {
		h.kindRoutes(mux, k)
	}
}

// kindRoutes adds the pages of one kind.
func (h *Handler) kindRoutes(mux *http.ServeMux, k kind.Kind) {
	mux.HandleFunc("GET "+page.KindPath(k), func(w http.ResponseWriter, r *http.Request) { h.list(w, r, k) })
	mux.HandleFunc("GET "+page.KindPath(k)+"/{type}/{name}", func(w http.ResponseWriter, r *http.Request) {
		h.show(w, r, k)
	})
	mux.HandleFunc("POST "+page.KindPath(k)+"/{type}/{name}/test", h.Posted(func(w http.ResponseWriter, r *http.Request) {
		h.test(w, r, k)
	}))
}
