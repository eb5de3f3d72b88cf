package api

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
)

// guard keeps pages of other sites from using a browser against this server:
// it refuses names that are not ours, under which such a page could have had
// itself resolved to this address (DNS rebinding), and cross-site requests that
// change something. The health of the server is open to all.
func (h *handler) guard(next http.Handler) http.Handler {
	own := ownNames(h)
	refuses := h.crossSite()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host := hostOf(r.Host); !isHealth(r) && !isLocal(host) && !slices.Contains(own, host) && !slices.Contains(own, "*") {
			h.strangeHost(w, r, host)
			return
		}
		if why := refuses(r); why != "" && !isHealth(r) {
			h.fail(w, r, http.StatusForbidden, "cross-site request refused: "+why)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// crossSite returns why a request is refused that comes from a page of another
// site and would change something; "" when it is not. CORS lets pages in that
// say themselves who they are (with a token, or nobody has to); what only the
// browser adds, the session of whoever looks at the page, never counts there.
func (h *handler) crossSite() func(*http.Request) string {
	own := http.NewCrossOriginProtection()
	if u := h.Config.PublicURL; u != nil {
		h.trust(own, "public.url", u.Scheme+"://"+u.Host)
	}
	cors, welcome := h.Config.Server.CORS, http.NewCrossOriginProtection()
	if cors.Enabled && cors.Origin != "*" {
		h.trust(welcome, "server.cors.origin", cors.Origin)
	}
	return func(r *http.Request) string {
		switch {
		case own.Check(r) == nil:
			return ""
		case !cors.Enabled || !isAPI(r) || cors.Origin != "*" && welcome.Check(r) != nil:
			return "to let pages of that site use /api, set server.cors.enabled and server.cors.origin; behind a proxy, set public.url"
		case h.Auth.CarriesSession(r):
			return "sessions are for the pages of this server alone, whatever server.cors says; send a token, and no cookies"
		}
		return ""
	}
}

func (h *handler) trust(check *http.CrossOriginProtection, key, origin string) {
	if err := check.AddTrustedOrigin(origin); err != nil {
		h.Log.Error("not an origin such as https://dash.example.org; its pages may read but not change anything", "setting", key, "error", err)
	}
}

// isAPI reports whether a path is below /api, which is all that CORS is about.
func isAPI(r *http.Request) bool {
	parts := pathOf(r)
	return len(parts) > 0 && strings.EqualFold(parts[0], "api")
}

func isHealth(r *http.Request) bool {
	path := chi.RouteContext(r.Context()).RoutePath
	return path == "/health" || path == "/api/health"
}

// ownNames are the host names the operator gave this server.
func ownNames(h *handler) []string {
	var names []string
	for _, name := range h.Config.Server.AllowedHosts {
		names = append(names, hostOf(name))
	}
	if u := h.Config.PublicURL; u != nil {
		names = append(names, hostOf(u.Host))
	}
	if name, err := os.Hostname(); err == nil {
		names = append(names, hostOf(name))
	}
	return names
}

// hostOf returns the host of a Host header, without port, brackets and final dot, in lower case.
func hostOf(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// localSuffixes are names that nobody can register on the public Internet
// (RFC 6761, RFC 6762 with its appendix G, RFC 8375, ICANN's .internal) or that
// container networks use.
var localSuffixes = []string{
	".localhost", ".local", ".test", ".home.arpa", ".internal", ".intranet", ".private", ".corp", ".home", ".lan", ".localdomain", ".docker",
}

// isLocal reports whether a host cannot be the name of somebody else's site:
// an address, a name without dots or one of a local domain.
func isLocal(host string) bool {
	if !strings.Contains(host, ".") {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.ContainsFunc(localSuffixes, func(s string) bool { return strings.HasSuffix(host, s) })
}

// cors lets pages of other origins use the API, if the operator said so.
// Preflight requests are answered here, for any path of it (Fetch standard,
// section 3.3). Pages, logins and the rest stay with their own origin.
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
