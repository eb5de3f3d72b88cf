package history

import "net/http"

// Routes adds its pages.
func (h *Handler) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /history", h.show)
	mux.HandleFunc("GET /history.csv", h.historyCSV)
	mux.HandleFunc("GET /deliveries", h.showDeliveries)
	mux.HandleFunc("GET /deliveries.csv", h.deliveriesCSV)
	mux.HandleFunc("POST /deliveries/{id}/retry", h.Posted(h.retryDelivery))
}
