package api

import (
	"net/http"
	"strings"
)

// cors lets pages of other origins use the API, if the configuration allows it.
// It responds to preflight requests for any path of the API (Fetch standard,
// section 3.3). Pages and logins stay with their own origin.
func (h *handler) cors(next http.Handler) http.Handler {
	settings := h.Config.Server.CORS
	if !settings.Enabled {
		return next
	}
	methods := strings.Join(settings.Methods, ",")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isAPI(r) {
			next.ServeHTTP(w, r)
			return
		}
		header := w.Header()
		header.Set("Access-Control-Allow-Origin", settings.Origin)
		if settings.Origin != "*" {
			header.Add("Vary", "Origin")
		}
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			header.Set("Access-Control-Allow-Methods", methods)
			header.Add("Vary", "Access-Control-Request-Headers")
			if wanted := r.Header.Get("Access-Control-Request-Headers"); wanted != "" {
				header.Set("Access-Control-Allow-Headers", wanted)
			}
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}
