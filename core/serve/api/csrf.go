package api

import (
	"net/http"
	"strings"
)

// refuseCrossSite protects against cross-site request forgery (CSRF): a page of
// another site cannot use a browser's session to change something here.
func (h *handler) refuseCrossSite(next http.Handler) http.Handler {
	refusal := h.crossSite()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := refusal(r); why != "" && !isHealth(r) {
			h.fail(w, r, http.StatusForbidden, "cross-site request refused: "+why)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// crossSite returns why a request is refused that comes from a page of another
// site and would change something; "" when it is not. CORS lets pages in that
// send their own credentials (a token), or none where no login is configured. A
// session cookie, which the browser adds by itself, never counts there.
func (h *handler) crossSite() func(*http.Request) string {
	own := http.NewCrossOriginProtection()
	if u := h.Config.PublicURL; u != nil {
		h.trust(own, "public.url", u.Scheme+"://"+u.Host)
	}
	cors, allowed := h.Config.Server.CORS, http.NewCrossOriginProtection()
	if cors.Enabled && cors.Origin != "*" {
		h.trust(allowed, "server.cors.origin", cors.Origin)
	}
	return func(r *http.Request) string {
		switch {
		case own.Check(r) == nil:
			return ""
		case !cors.Enabled || !isAPI(r) || cors.Origin != "*" && allowed.Check(r) != nil:
			return "to let pages of that site use /api, set server.cors.enabled and server.cors.origin; behind a proxy, set public.url"
		case h.Auth.CarriesSession(r):
			return "sessions are for the pages of this server alone, whatever server.cors says; send a token, and no cookies"
		}
		return ""
	}
}

func (h *handler) trust(check *http.CrossOriginProtection, key, origin string) {
	if err := check.AddTrustedOrigin(origin); err != nil {
		h.Log.Error("not an origin such as https://dash.example.org; its pages may read but not change anything",
			"setting", key, "error", err)
	}
}

// isAPI reports whether a path is below /api, the only part that CORS opens.
func isAPI(r *http.Request) bool {
	parts := pathOf(r)
	return len(parts) > 0 && strings.EqualFold(parts[0], "api")
}
