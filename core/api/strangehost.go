package api

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"
)

// strangeHost answers requests for a name that the server does not know. A
// program gets an error, a person a page that says what to set; neither tells
// anything of this server, for whoever owns the name may be the one to read it.
func (h *handler) strangeHost(w http.ResponseWriter, r *http.Request, host string) {
	if before, ok := h.strangers.due(time.Now()); ok {
		h.Log.Warn("refused a request for a host name that is not ours; if it is, add it to server.allowedhosts or set public.url",
			"host", shortened(host), "client", h.Auth.Address(r), "refused_before", before)
	}
	if !strings.Contains(r.Header.Get("Accept"), "text/html") || isSection(firstOf(pathOf(r))) {
		h.fail(w, r, http.StatusMisdirectedRequest, fmt.Sprintf("the server does not know itself as %q: add that name to server.allowedhosts, or set public.url", host))
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusMisdirectedRequest)
	_ = strangeHostPage().Execute(w, shortened(host)) // the client may have gone
}

func firstOf(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return strings.ToLower(parts[0])
}

// shortened leaves of a name what names of hosts can have (RFC 1035, section 2.3.4).
func shortened(host string) string { return host[:min(len(host), 253)] }

func strangeHostPage() *template.Template {
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
