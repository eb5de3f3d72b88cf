package choices

import "net/http"

// Routes adds its pages.
func (h *Handler) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /choose", h.showChooser)
	mux.HandleFunc("POST /choose", h.Posted(h.choose))
	mux.HandleFunc("GET /decide/{token}", h.showLink)
	mux.HandleFunc("POST /decide/{token}", h.Posted(h.redeem))
}
