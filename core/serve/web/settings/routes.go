package settings

import "net/http"

// Routes adds its pages.
func (h *Handler) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /settings", h.show)
	mux.HandleFunc("GET /settings/api", h.showAPI)
	mux.HandleFunc("GET /settings/reload", h.showReload)
	mux.HandleFunc("POST /settings/reload", h.Posted(h.reload))
	mux.HandleFunc("GET /settings/webhooks", h.showWebhooks)
	for _, part := range []string{"tokens", "sessions"} { // which are parts of the settings
		mux.Handle("GET /settings/"+part, http.RedirectHandler(h.Path("/settings#"+part), http.StatusSeeOther))
	}
	mux.HandleFunc("GET /log", h.showLog)
	mux.HandleFunc("GET /settings/notifications", h.showNotifications)
	mux.HandleFunc("POST /settings/notifications/{id}/remove", h.Posted(h.removeDevice))
	mux.HandleFunc("POST /settings/notifications/{id}/test", h.Posted(h.testDevice))
	mux.HandleFunc("POST /settings/log", h.Posted(h.setLogLevel))
	mux.HandleFunc("POST /settings/tokens", h.Posted(h.createToken))
	mux.HandleFunc("POST /settings/tokens/{id}/revoke", h.Posted(h.revokeToken))
	mux.HandleFunc("POST /settings/sessions/{id}/end", h.Posted(h.endSession))
	mux.HandleFunc("POST /settings/sessions/end-others", h.Posted(h.endOtherSessions))
	mux.HandleFunc("POST /settings/links/revoke", h.Posted(h.revokeLinks))
}
