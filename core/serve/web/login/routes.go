package login

import "net/http"

// Routes adds its pages.
func (h *Handler) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /login", h.show)
	mux.HandleFunc("POST /login", h.Posted(h.login))
	mux.HandleFunc("POST /logout", h.logout)
}
