package api

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/auth"
)

// levels is what one has to be allowed for each operation.
var levels = map[auth.Scope][]string{
	auth.Nothing: {
		"GET /", "GET /health", "GET /api/health", "GET /api/app", "GET /auth/strategies", "POST /auth/login",
		"POST /auth/remember",
		"GET /auth/oidc/{name}/redirect", "GET /auth/oidc/{name}/cb",
		"POST /api/webhooks/{name}", "POST /api/webhooks/{name}/check",
		"GET /agent/v1/link", // agents show their certificates in the connection
	},
	auth.Read: {
		"GET /metrics", "GET /api/server", "GET /api/log", "GET /api/store", "GET /api/ready", "GET /api/openapi.yaml",
		"GET /api/summary", "GET /api/history", "GET /api/badge.svg",
		"GET /api/containers", "GET /api/containers/{id}", "GET /api/containers/{id}/explain",
		"GET /api/containers/{id}/notes", "GET /api/containers/{id}/scan", "GET /api/containers/{id}/triggers",
		"GET /api/watchers", "GET /api/watchers/{type}/{name}", "GET /api/registries", "GET /api/registries/{type}/{name}",
		"GET /api/triggers", "GET /api/triggers/{type}/{name}", "GET /api/types/{kind}",
		"GET /api/authentications", "GET /api/authentications/{type}/{name}", "GET /auth/user", "POST /auth/logout",
		"GET /api/plugins", "GET /api/plugins/gallery", "GET /api/events", "GET /api/deliveries",
		"POST /api/containers/{id}/plan", "GET /api/containers/{id}/diff", "GET /api/operations", "GET /api/operations/{id}",
		"GET /api/choices", "GET /api/containers/{id}/decision", "GET /api/webhooks", "GET /api/agents",
	},
	auth.Write: {
		"POST /api/log", "GET /api/log/entries", "GET /api/containers/{id}/log", "GET /api/reload", "POST /api/reload",
		"POST /api/containers/watch", "POST /api/containers/{id}/watch", "POST /api/containers/{id}/scan",
		"DELETE /api/containers/{id}", "POST /api/containers/{id}/triggers/{type}/{name}",
		"POST /api/triggers/{type}/{name}", "POST /api/plugins/{name}/restart", "POST /api/deliveries/{id}/retry",
		"POST /api/containers/{id}/update", "POST /api/containers/{id}/rollback", "POST /api/operations/{id}/cancel",
		"DELETE /api/links", "POST /api/agents", "DELETE /api/agents/{name}", "POST /api/agents/{name}/rename", "POST /api/agents/{name}/doctor",
		"POST /api/containers/{id}/decision", "DELETE /api/containers/{id}/decision",
		"POST /api/containers/{id}/snooze", "DELETE /api/containers/{id}/snooze",
		"POST /api/watchers/{type}/{name}/test", "POST /api/registries/{type}/{name}/test",
		"POST /api/triggers/{type}/{name}/test",
		"GET /api/push", "POST /api/push/devices", "DELETE /api/push/devices/{id}", "POST /api/push/devices/{id}/test",
	},
	auth.Manage: {"POST /api/plugins/{name}/install", "POST /api/plugins/{name}/update",
		"POST /api/plugins/{name}/rollback", "POST /api/plugins/{name}/trust", "POST /api/plugins/{name}/grant", "GET /api/tokens",
		"POST /api/tokens", "DELETE /api/tokens/{id}", "GET /api/sessions", "DELETE /api/sessions/{id}"},
}

const (
	ownPassword = "a-password-of-the-test"
	cookieName  = "dogwatch_session"
)

// startWithLogin starts a server on which ana has to log in.
func startWithLogin(t *testing.T, settings []string, change ...func(*testOptions)) *testServer {
	t.Helper()
	return start(t,
		append([]string{"WUD_AUTH_BASIC_MAIN_USER=ana", "WUD_AUTH_BASIC_MAIN_HASH=" + ownPassword}, settings...), change...)
}

func (w *testServer) token(scope auth.Scope, expires time.Time) string {
	w.t.Helper()
	secret, _, err := w.opt.Auth.CreateToken(w.t.Context(), auth.Actor{Identity: auth.Identity{User: "test"}},
		auth.NewToken{Name: "test", Scope: scope, Expires: expires})
	if err != nil {
		w.t.Fatal(err)
	}
	return secret
}

// expired makes a token whose time is over.
func (w *testServer) expired() string {
	w.t.Helper()
	secret := w.token(auth.Write, time.Time{})
	all, err := w.store.Tokens(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	old, err := w.store.RemoveToken(w.t.Context(), all[0].ID)
	if err != nil {
		w.t.Fatal(err)
	}
	old.Expires = time.Now().Add(-time.Second)
	if _, err := w.store.AddToken(w.t.Context(), old); err != nil {
		w.t.Fatal(err)
	}
	return secret
}

// session logs ana in and returns the cookie.
func (w *testServer) session() string {
	w.t.Helper()
	for _, line := range w.do("POST", "/auth/login", "", "Authorization",
		basic("ana", ownPassword)).want(200).header.Values("Set-Cookie") {
		if c, err := http.ParseSetCookie(line); err == nil && strings.HasPrefix(c.Name, cookieName) {
			return c.Name + "=" + c.Value
		}
	}
	w.t.Fatal("a login sets no cookie")
	return ""
}

// TestAccessMatrix requests every route as every kind of caller.
func TestAccessMatrix(t *testing.T) {
	w := startWithLogin(t, nil)
	w.put(nginx(), redis())
	level := map[string]auth.Scope{}
	for scope, operations := range levels {
		for _, operation := range operations {
			level[operation] = scope
		}
	}
	read, write, over := w.token(auth.Read, time.Time{}), w.token(auth.Write, time.Time{}), w.expired()
	callers := map[string]struct {
		headers func() []string
		may     auth.Scope
	}{
		"no caller":      {func() []string { return nil }, auth.Nothing},
		"wrong password": {func() []string { return []string{"Authorization", basic("ana", "wrong")} }, auth.Nothing},
		"no credentials": {func() []string { return []string{"Authorization", "Basic !!!"} }, auth.Nothing},
		"other scheme":   {func() []string { return []string{"Authorization", "Digest username=ana"} }, auth.Nothing},
		"wrong token": {func() []string {
			return []string{"Authorization", "Bearer dw_" + strings.Repeat("A", 43)}
		}, auth.Nothing},
		"wud token":     {func() []string { return []string{"Authorization", "Bearer wud_abc"} }, auth.Nothing},
		"expired token": {func() []string { return []string{"Authorization", "Bearer " + over} }, auth.Nothing},
		"wrong session": {func() []string {
			return []string{"Cookie", cookieName + "=" + strings.Repeat("A", 43)}
		}, auth.Nothing},
		"read token":    {func() []string { return []string{"Authorization", "Bearer " + read} }, auth.Read},
		"read password": {func() []string { return []string{"Authorization", basic("x", read)} }, auth.Read},
		"write token":   {func() []string { return []string{"Authorization", "Bearer " + write} }, auth.Write},
		"basic":         {func() []string { return []string{"Authorization", basic("ana", ownPassword)} }, auth.Manage},
		"session":       {func() []string { return []string{"Cookie", w.session()} }, auth.Manage},
	}
	all := everyRoute(w)
	for _, operation := range routesOf(t, newRouter(w.opt, t.Context())) {
		needed, listed := level[operation]
		r, known := all[operation]
		if !listed || !known {
			t.Errorf("%s has no level here: add it to levels", operation)
			continue
		}
		method, _, _ := strings.Cut(operation, " ")
		for _, name := range slices.Sorted(maps.Keys(callers)) {
			caller := callers[name]
			if operation == "POST /api/plugins/{name}/restart" && caller.may >= needed {
				continue // the plugin is shared with other tests
			}
			if strings.HasPrefix(operation, "POST /api/webhooks/") {
				continue // whoever calls has a secret, or is a guesser: TestUnknownWebhooksLookLikeWrongSecrets
			}
			want := 0
			switch {
			case operation == "POST /auth/login" && caller.may == auth.Nothing,
				caller.may == auth.Nothing && needed > auth.Nothing:
				want = http.StatusUnauthorized
			case caller.may < needed:
				want = http.StatusForbidden
			}
			got := w.do(method, r.path, r.body, caller.headers()...)
			refuseCredentials := got.status == http.StatusUnauthorized || got.status == http.StatusForbidden
			if want == 0 && refuseCredentials || want != 0 && got.status != want {
				t.Errorf("%s as %s gets %d, want %d: %s", operation, name, got.status, want, got.body)
			}
			if want != 0 && operation != "GET /metrics" && strings.Contains(string(got.body), "nginx") {
				t.Errorf("%s shows %s: %s", operation, name, got.body)
			}
			if method == "GET" && want != 0 {
				if head := w.do("HEAD", r.path, "", caller.headers()...); head.status != want {
					t.Errorf("HEAD %s as %s gets %d, want %d", r.path, name, head.status, want)
				}
			}
		}
	}
	if len(w.triggers.runs) != 2*3 { // by the write token, basic and the session
		t.Errorf("%d runs of triggers", len(w.triggers.runs))
	}
	var known []string
	for operation := range level {
		if !slices.Contains(routesOf(t, newRouter(w.opt, t.Context())), operation) {
			known = append(known, operation)
		}
	}
	same(t, "levels of no route", len(known), 0)
}

// TestUnknownPathsRequireLogin: without a login a missing path gets 401; with one, /api/v1 gets exactly 404.
func TestUnknownPathsRequireLogin(t *testing.T) {
	w := startWithLogin(t, nil)
	for _, path := range []string{"/api", "/api/v1", "/api/v1/containers", "/api/nope", "/auth", "/auth/nope",
		"/metrics/x", "/api/../api/containers", "//api/containers", "/API/Containers/", "/x"} {
		for _, method := range methods {
			if got := w.do(method, path, ""); got.status != http.StatusUnauthorized {
				t.Errorf("%s %s gets %d without credentials", method, path, got.status)
			}
		}
	}
	ana := []string{"Authorization", basic("ana", ownPassword)}
	for _, path := range []string{"/api/v1", "/api/v1/containers", "/api/v1/app", "/api/nope"} {
		w.get(path, ana...).fails(404)
		w.get(path, "Authorization", "Bearer "+w.token(auth.Read, time.Time{})).fails(404)
	}
	w.do("PUT", "/api/containers", "", ana...).fails(405)
}

// TestPasswordChallengeOnlyForPrograms: browsers would show a dialog over the login page.
func TestPasswordChallengeOnlyForPrograms(t *testing.T) {
	w := startWithLogin(t, nil)
	for _, test := range []struct {
		headers   []string
		requested bool
	}{
		{nil, true},
		{[]string{"User-Agent", "curl/8.10"}, true},
		{[]string{"Authorization", basic("ana", "wrong")}, true},
		{[]string{"Sec-Fetch-Mode", "cors"}, false},
		{[]string{"User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/128.0"}, false},
		{[]string{"Accept", "text/html,*/*"}, false},
		{[]string{"X-Requested-With", "XMLHttpRequest"}, false},
		{[]string{"HX-Request", "true"}, false},
	} {
		got := w.get("/api/containers", test.headers...).fails(401).header.Get("WWW-Authenticate")
		if (got != "") != test.requested {
			t.Errorf("%v: %q", test.headers, got)
		}
	}
}

func TestLoginOfWUDClients(t *testing.T) {
	w := startWithLogin(t, nil)
	same(t, "strategies", w.get("/auth/strategies").want(200).list(), []map[string]any{{"type": "basic", "name": "Login"}})
	right := basic("ana", ownPassword)
	same(t, "login", w.do("POST", "/auth/login", `{"ignored":1}`, "Authorization", right).want(200).object(),
		map[string]any{"username": "ana"})
	w.do("POST", "/auth/login", `{"username":"ana","password":"`+ownPassword+`"}`).fails(401)
	w.do("POST", "/auth/login", "", "Authorization", basic("ana", "wrong")).fails(401, "wrong user or password")
	cookie := w.session()
	same(t, "user", w.get("/auth/user", "Cookie", cookie).want(200).object(), map[string]any{"username": "ana"})
	same(t, "logout", w.do("POST", "/auth/logout", "", "Cookie", cookie).want(200).object(), map[string]any{
		"logoutUrl": nil,
	})
	w.get("/auth/user", "Cookie", cookie).fails(401)
	// A request with a password gets no session: programs send one every few seconds.
	if got := w.get("/api/containers", "Authorization", right).want(200).header.Values("Set-Cookie"); len(got) > 0 {
		t.Errorf("cookies %v", got)
	}
	// A login puts a new session in the place of the one that the browser has.
	before := w.session()
	w.do("POST", "/auth/login", "", "Authorization", right, "Cookie", before).want(200)
	w.get("/auth/user", "Cookie", before).fails(401)

	listed := w.get("/api/authentications", "Authorization", right).want(200).list()
	same(t, "authentications", listed,
		[]map[string]any{{"id": "basic.main", "type": "basic", "name": "main", "state": "ready",
			"configuration": map[string]any{"user": "ana", "hash": "a" + strings.Repeat("*", len(ownPassword)-1)}}})
	same(t, "one", w.get("/api/authentications/BASIC/main", "Authorization", right).want(200).object(), listed[0])
}

func TestLoginThrottlingGets429(t *testing.T) {
	w := startWithLogin(t, nil)
	for i := range 10 {
		w.get("/api/containers", "Authorization", basic("ana", fmt.Sprint("guess", i))).fails(401)
	}
	for _, got := range []response{
		w.get("/api/containers", "Authorization", basic("ana", "guess 11")),
		w.get("/api/containers", "Authorization", basic("ana", ownPassword)),
		w.do("POST", "/auth/login", "", "Authorization", basic("ana", ownPassword)),
	} {
		if got.fails(429, "too many wrong logins").header.Get("Retry-After") == "" {
			t.Error("Retry-After is missing")
		}
	}
	// Those with a token do not suffer.
	w.get("/api/containers", "Authorization", "Bearer "+w.token(auth.Read, time.Time{})).want(200)
	w.get("/health", "Authorization", basic("ana", "guess 12")).want(200)
}

func TestMetricsWithoutLogin(t *testing.T) {
	w := startWithLogin(t, []string{"DOGWATCH_SERVER_METRICS_AUTH=false"})
	w.get("/metrics").want(200)
	w.get("/api/containers").fails(401)
}

func TestTokenRoutes(t *testing.T) {
	w := startWithLogin(t, nil)
	ana := []string{"Cookie", w.session(), "Content-Type", "application/json"}
	same(t, "none", string(w.get("/api/tokens", ana...).want(200).body), "[]")
	ends := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	made := w.do("POST", "/api/tokens", `{"name":"home page","expiresAt":"`+ends+`"}`, ana...).want(201).object()
	secret, _ := made["token"].(string)
	same(t, "made", []any{made["name"], made["scope"], made["createdBy"], made["expired"], len(secret)},
		[]any{"home page", "read", "ana", false, 46})
	w.get("/api/summary", "Authorization", "Bearer "+secret).want(200)
	response := w.do("POST", "/api/containers/watch", "", "Authorization", "Bearer "+secret)
	refused := decodeAs[problem](response.fails(403, `"home page" may only read`))
	if len(refused.Paste.Lines) != 1 || refused.Paste.Lines[0].Text != "dogwatch token create updates --scope write\n" {
		t.Errorf("the lines to paste are %+v", refused.Paste)
	}
	w.do("POST", "/api/tokens", `{"name":"more"}`, "Authorization",
		"Bearer "+w.token(auth.Write, time.Time{})).fails(403, "dogwatch token create")
	listed := w.get("/api/tokens", ana...).want(200)
	if strings.Contains(string(listed.body), secret) || strings.Contains(string(listed.body), "dw_") {
		t.Errorf("the secret is shown again: %s", listed.body)
	}
	for body, field := range map[string]string{
		`{}`: "name", `{"name":"x","scope":"admin"}`: "scope",
		`{"name":"x","expiresAt":"2001-01-01T00:00:00Z"}`: "expires", `{"name":7}`: "name",
		``: "name", `{"name":"x","expiresAt":"soon"}`: "", `[`: "JSON",
	} {
		w.do("POST", "/api/tokens", body, ana...).fails(400, field)
	}
	path := fmt.Sprintf("/api/tokens/%v", made["id"])
	w.do("DELETE", path, "", ana...).want(204)
	w.get("/api/summary", "Authorization", "Bearer "+secret).fails(401)
	w.do("DELETE", path, "", ana...).fails(404)
	w.do("DELETE", "/api/tokens/x", "", ana...).fails(404)
	var events []string
	for _, e := range w.get("/api/events", ana...).want(200).list() {
		events = append(events, fmt.Sprint(e["type"], " ", e["subject"]))
	}
	for _, want := range []string{"auth.login ana", "auth.token.created ana", "auth.token.revoked ana"} {
		if !slices.Contains(events, want) {
			t.Errorf("the events lack %s: %v", want, events)
		}
	}
	for _, leaked := range []string{secret, ownPassword, ana[1][strings.Index(ana[1], "=")+1:]} {
		if strings.Contains(w.log.String(), leaked) {
			t.Errorf("the log has %q", leaked)
		}
	}
}

// TestTokensRequireConfiguredLogin: a token made before a login is configured would still be valid after it.
func TestTokensRequireConfiguredLogin(t *testing.T) {
	w := start(t, nil)
	w.do("POST", "/api/tokens", `{"name":"x"}`).fails(403, "configure a login")
	all, err := w.store.Tokens(t.Context())
	same(t, "tokens", len(all), 0)
	same(t, "error", err, nil)
}
