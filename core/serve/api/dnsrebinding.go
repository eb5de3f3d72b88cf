package api

import (
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
)

// refuseForeignHosts protects against DNS rebinding: a page of another site can
// have its own name resolve to this server's address, and would then be of the
// same origin for the browser. Requests for names that are not this server's are
// refused, except for its health, for webhooks, whose secret no page has, and for
// agents, who have to know the controller by more than its name.
func (h *handler) refuseForeignHosts(next http.Handler) http.Handler {
	own := ownNames(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host := hostOf(r.Host); !isHealth(r) && !isWebhook(r) && !isAgentLink(r) && !isLocal(host) &&
			!slices.Contains(own, host) && !slices.Contains(own, "*") {
			h.misdirected(w, r, host)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isHealth(r *http.Request) bool {
	path := chi.RouteContext(r.Context()).RoutePath
	return path == "/health" || path == "/api/health"
}

func isWebhook(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(chi.RouteContext(r.Context()).RoutePath, "/api/webhooks/")
}

// ownNames are the host names that the configuration gives this server, and the machine's.
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

// localSuffixes are domains that cannot be registered on the public Internet
// (RFC 6761, RFC 6762 with its appendix G, RFC 8375, ICANN's .internal) or that
// container networks use.
var localSuffixes = []string{
	".localhost", ".local", ".test", ".home.arpa", ".internal", ".intranet", ".private", ".corp", ".home", ".lan",
	".localdomain", ".docker",
}

// isLocal reports whether a host cannot be the name of another site:
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

// misdirected refuses a request for a name that is not this server's: programs
// get an error, browsers a page that says what to set. Neither reveals anything
// about this server, as the owner of the foreign name may read it.
func (h *handler) misdirected(w http.ResponseWriter, r *http.Request, host string) {
	if before, ok := h.misdirectedLog.allow(time.Now()); ok {
		h.Log.Warn("refused a request for a host name that is not ours; if it is, add it to server.allowedhosts or set public.url",
			"host", shortened(host), "client", h.Auth.Address(r), "refused_before", before)
	}
	if !strings.Contains(r.Header.Get("Accept"), "text/html") || isSection(firstOf(pathOf(r))) {
		h.fail(w, r, http.StatusMisdirectedRequest,
			fmt.Sprintf("the server does not know itself as %q: add that name to server.allowedhosts, or set public.url", host))
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusMisdirectedRequest)
	_ = misdirectedPage().Execute(w, shortened(host)) // the client may have gone
}

func firstOf(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return strings.ToLower(parts[0])
}

// shortened cuts a name to the length that host names can have (RFC 1035, section 2.3.4).
func shortened(host string) string { return host[:min(len(host), 253)] }

func misdirectedPage() *template.Template {
	return template.Must(template.New("").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Unknown host name</title>
<style>
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 10vh auto; padding: 0 1rem; overflow-wrap: anywhere }
pre { padding: .75rem 1rem; border: 1px solid; border-radius: .5rem; white-space: pre-wrap }
</style>
</head>
<body>
<main>
<h1>Unknown host name</h1>
<p>This server does not know itself as <strong>{{.}}</strong>, and answers only under names that are its own.</p>
<p>If the name is right, set the address that people use:</p>
<pre>DOGWATCH_PUBLIC_URL=https://{{.}}</pre>
<p>or allow the name beside others:</p>
<pre>DOGWATCH_SERVER_ALLOWEDHOSTS={{.}}</pre>
<p>Then start Dogwatch again. Its documentation has examples for reverse proxies.</p>
</main>
</body>
</html>
`))
}
