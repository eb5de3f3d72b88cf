package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/auth"
)

// TestCrossSiteRequests has what browsers send from where, and whether it may change something.
func TestCrossSiteRequests(t *testing.T) {
	closed := start(t, []string{"DOGWATCH_PUBLIC_URL=https://watch.example.com/dog/"})
	one := start(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true", "DOGWATCH_SERVER_CORS_ORIGIN=https://dash.example.org"})
	all := start(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true"})
	for _, test := range []struct {
		name             string
		headers          []string
		closed, one, all bool
	}{
		{"no browser", nil, true, true, true},
		{"own page", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:3000"}, true, true, true},
		{"typed by hand", []string{"Sec-Fetch-Site", "none"}, true, true, true},
		{"another site", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.com"}, false, false, true},
		{"a sibling", []string{"Sec-Fetch-Site", "same-site", "Origin", "https://other.localhost"}, false, false, true},
		{"the allowed dashboard", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://dash.example.org"}, false,
			true, true},
		{"the dashboard without TLS", []string{"Sec-Fetch-Site", "cross-site", "Origin", "http://dash.example.org"},
			false, false, true},
		{"a sandboxed frame", []string{"Sec-Fetch-Site", "cross-site", "Origin", "null"}, false, false, true},
		{"plain http, own page", []string{"Origin", "http://localhost:3000"}, true, true, true},
		{"plain http, another site", []string{"Origin", "http://evil.com"}, false, false, true},
		{"plain http, sandboxed", []string{"Origin", "null"}, false, false, true},
		{"behind a proxy that changes the name", []string{"Origin", "https://watch.example.com"}, true, false, true},
		{"another port", []string{"Origin", "http://localhost:4000"}, false, false, true},
	} {
		for w, welcome := range map[*testServer]bool{closed: test.closed, one: test.one, all: test.all} {
			status := http.StatusOK
			if !welcome {
				status = http.StatusForbidden
			}
			headers := append([]string{"Host", "localhost:3000"}, test.headers...)
			for _, path := range []string{"/api/containers/watch", "/API/Containers/Watch/"} {
				got := w.do("POST", path, "", headers...)
				if got.status != status {
					t.Errorf("%s (cors %v): status %d, want %d", test.name, w.opt.Config.Server.CORS.Origin, got.status, status)
				}
			}
			// Reading changes nothing, and the browser keeps the response from the page.
			w.get("/api/containers", headers...).want(200)
			w.do("POST", "/health", "", headers...).want(405)
		}
	}
	closed.do("POST", "/api/containers/watch", "", "Sec-Fetch-Site", "cross-site").fails(403, "cross-site", "server.cors")
	closed.do("DELETE", "/api/containers/x", "", "Sec-Fetch-Site", "cross-site").fails(403, "cross-site")
}

// TestCrossOriginRequestsWithASession: a page on another port of the same host
// is on the same site, so that the browser adds the session; it must be of no use there.
func TestCrossOriginRequestsWithASession(t *testing.T) {
	for _, origin := range []string{"*", "http://localhost:4000"} {
		w := startWithLogin(t,
			[]string{"DOGWATCH_SERVER_CORS_ENABLED=true", "DOGWATCH_SERVER_CORS_ORIGIN=" + origin,
				"DOGWATCH_PUBLIC_URL=https://watch.example.com"})
		_, id, _ := strings.Cut(w.session(), "=")
		session, token := cookieName+"_3000="+id, w.token(auth.Write, time.Time{})
		for _, from := range [][]string{{"Origin", "http://localhost:4000"},
			{"Origin", "http://localhost:4000", "Sec-Fetch-Site", "same-site"}} {
			from := append([]string{"Host", "localhost:3000"}, from...)
			for _, path := range []string{"/api/tokens", "/API/Tokens/", "/api/containers/watch", "/api/log"} {
				w.do("POST", path, `{"name":"stolen","scope":"write","level":"info"}`,
					append(from, "Cookie", session, "Content-Type", "text/plain")...).fails(403, "cross-site", "session")
			}
			w.do("POST", "/api/containers/watch", "",
				append(from, "Cookie", session, "Authorization", "Bearer "+token)...).fails(403, "session")
			w.do("DELETE", "/api/tokens/1", "", append(from, "Cookie", session)...).fails(403, "session")
			// With a token of its own the page may do what the token may, and reading changes nothing.
			w.do("POST", "/api/containers/watch", "", append(from, "Authorization", "Bearer "+token)...).want(200)
			w.get("/api/containers", append(from, "Cookie", session)...).want(200)
		}
		// What another program on the host keeps under a name like ours is no session.
		w.do("POST", "/api/containers/watch", "", "Host", "localhost:3000", "Origin", "http://localhost:4000", "Cookie",
			cookieName+"_3001="+id, "Authorization", "Bearer "+token).want(200)
		for _, from := range [][]string{{"Origin", "http://localhost:3000"}, {"Origin", "https://watch.example.com"},
			{"Sec-Fetch-Site", "same-origin"}, nil} {
			w.do("POST", "/api/containers/watch", "",
				append([]string{"Host", "localhost:3000", "Cookie", session}, from...)...).want(200)
		}
		if all := w.get("/api/tokens", "Host", "localhost:3000", "Cookie", session).want(200).list(); len(all) != 1 {
			t.Errorf("there are %d tokens, want the one of the test", len(all))
		}
	}
}

// TestCrossSiteRequestsCannotUseSession: a page of another site cannot change anything with a visitor's session cookie.
func TestCrossSiteRequestsCannotUseSession(t *testing.T) {
	w := startWithLogin(t, nil)
	w.put(nginx())
	cookie := w.session()
	for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example.org"},
		{"Origin", "null"}} {
		for _, path := range []string{"/api/containers/watch", "/api/tokens", "/auth/logout", "/auth/login",
			"/api/containers/" + nginx().ID + "/triggers/ntfy/one"} {
			w.do("POST", path, `{"name":"x"}`, append(headers, "Cookie", cookie)...).fails(403, "cross-site")
		}
		w.do("DELETE", "/api/containers/"+nginx().ID, "", append(headers, "Cookie", cookie)...).fails(403)
	}
	w.do("POST", "/api/containers/watch", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin").want(200)
	w.get("/api/containers", "Host", "evil.example.org", "Cookie", cookie).fails(421)
}
