package api

import (
	"net/http"
	"strings"
	"testing"
)

func TestCORS(t *testing.T) {
	off := start(t, nil)
	if h := off.get("/api/containers", "Origin",
		"https://dash.example.org").want(200).header; h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v", h)
	}
	preflight := []string{"Origin", "https://dash.example.org", "Sec-Fetch-Site", "cross-site",
		"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "Authorization, Content-Type"}
	off.do("OPTIONS", "/api/containers/watch", "", preflight...).want(200) // without any of CORS' headers

	for origin, vary := range map[string]string{
		"*": "Access-Control-Request-Headers", "https://dash.example.org": "Origin, Access-Control-Request-Headers",
	} {
		w := start(t,
			[]string{"DOGWATCH_SERVER_CORS_ENABLED=true", "DOGWATCH_SERVER_CORS_ORIGIN=" + origin,
				"DOGWATCH_SERVER_CORS_METHODS=GET,POST"})
		for _, path := range []string{"/api/containers/watch", "/api/any/path", "/API/containers/", "/api"} {
			h := w.do("OPTIONS", path, "", preflight...).want(204).header
			same(t, "origin", h.Get("Access-Control-Allow-Origin"), origin)
			same(t, "methods", h.Get("Access-Control-Allow-Methods"), "GET,POST")
			same(t, "headers", h.Get("Access-Control-Allow-Headers"), "Authorization, Content-Type")
			same(t, "vary", strings.Join(h.Values("Vary"), ", "), vary)
			same(t, "credentials", h.Get("Access-Control-Allow-Credentials"), "")
		}
		for _, got := range []response{w.get("/api/app"), w.get("/api/app", "Origin", "https://other.example.org"),
			w.get("/api/nope"), w.get("/api/app", "Host", "evil.com")} {
			same(t, "origin on every response", got.header.Get("Access-Control-Allow-Origin"), origin)
			same(t, "vary by origin", strings.Contains(strings.Join(got.header.Values("Vary"), ","), "Origin"), origin != "*")
		}
		w.do("OPTIONS", "/api/app", "", "Origin", "https://dash.example.org").want(200) // no preflight
	}
}

// TestCORSReachesTheAPIAlone: pages, logins and all else stay with their own origin.
func TestCORSReachesTheAPIAlone(t *testing.T) {
	w := startWithLogin(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true"}, func(o *testOptions) { o.Pages = formPages{} })
	// pages are not in the document
	w.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	preflight := []string{"Origin", "http://localhost:4000", "Sec-Fetch-Site", "same-site",
		"Access-Control-Request-Method", "POST"}
	for _, path := range []string{"/", "/login", "/logout", "/settings/tokens", "/auth/login", "/auth/logout",
		"/auth/remember", "/auth/user", "/health", "/metrics", "/apidocs", "/static/app.css"} {
		for _, got := range []response{w.do("OPTIONS", path, "", preflight...),
			w.get(path, "Origin", "http://localhost:4000")} {
			for name := range got.header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s has the header %s", path, name)
				}
			}
		}
		if path == "/health" {
			continue // open to all, and there is nothing to change
		}
		w.do("POST", path, "", "Origin", "http://localhost:4000", "Sec-Fetch-Site", "same-site", "Content-Type",
			"application/x-www-form-urlencoded").want(403)
	}
}

func TestCORSLogsInvalidOrigin(t *testing.T) {
	w := start(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true", "DOGWATCH_SERVER_CORS_ORIGIN=dash.example.org"})
	w.do("POST", "/api/containers/watch", "", "Sec-Fetch-Site", "cross-site", "Origin",
		"https://dash.example.org").fails(403)
	if !strings.Contains(w.log.String(), "server.cors.origin") {
		t.Errorf("the log does not name the setting: %s", w.log)
	}
}
