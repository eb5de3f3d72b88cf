package auth

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestOIDCProviderFailures: an outage of a provider is no failed login, is retried, and disturbs nothing else.
func TestOIDCProviderFailures(t *testing.T) {
	w, m := startProvider(t, ana...)
	m.Shutdown()
	c := w.browser()
	if got := w.get(c, begin); !strings.Contains(got, "ask oidc.home for its settings") ||
		errors.Is(w.failed(), ErrBadCredentials) {
		t.Errorf("down: %s", got)
	}
	same(t, "the other way", w.basic("ana", password), "ana basic.main manage")
	same(t, "no logout page is known", w.auth.Strategies()[0].LogoutURL+w.auth.Strategies()[1].LogoutURL, "")

	responses := func(status int, body string) *testServer {
		mux := http.NewServeMux()
		w := start(t, "WUD_AUTH_OIDC_HOME_CLIENTID=x", "WUD_AUTH_OIDC_HOME_CLIENTSECRET="+clientSecret,
			"WUD_AUTH_OIDC_HOME_DISCOVERY=http://127.0.0.1:1/id/")
		mux.HandleFunc("/id/.well-known/openid-configuration", func(rw http.ResponseWriter, r *http.Request) {
			rw.WriteHeader(status)
			_, _ = io.WriteString(rw, strings.ReplaceAll(body, "SELF", "http://"+r.Host+"/id"))
		})
		server := newServer(t, mux)
		value := w.config.Auth[0].Options["discovery"]
		value.V = server + "/id/"
		w.config.Auth[0].Options["discovery"] = value
		w.restart()
		return w
	}
	const validSessions = `{"issuer":"SELF","authorization_endpoint":"SELF/a","token_endpoint":"SELF/t","jwks_uri":"SELF/k","end_session_endpoint":"SELF/end?x=1"}`
	for _, test := range []struct {
		status int
		body   string
		want   string
	}{
		{404, "no", "answered 404"},
		{200, "<html>", "not an OpenID Connect provider"},
		{200, `{"issuer":"https://evil.example.org"}`, "says that its issuer is"},
		{200, `{}`, "says that its issuer is"},
		{200, `{"issuer":"SELF"}`, "authorization_endpoint"},
		{200, strings.Replace(validSessions, "SELF/a", "javascript:x", 1), "authorization_endpoint"},
		{200, strings.Repeat(" ", maxDocument) + validSessions, "not an OpenID Connect provider"},
	} {
		w := responses(test.status, test.body)
		if got := w.get(w.browser(), begin); !strings.Contains(got, test.want) {
			t.Errorf("%.40s: %s", test.body, got)
		}
	}
	w = responses(200, strings.Replace(validSessions, `"SELF"`, `"SELF/"`, 1)) // a slash more or less does not matter
	noFollow := w.browser()
	noFollow.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := noFollow.Get(w.url + begin)
	if err != nil || resp.StatusCode != http.StatusFound {
		t.Fatalf("%v, %v", resp, err)
	}
	resp.Body.Close()
	if got := w.auth.Strategies()[0].LogoutURL; !strings.HasSuffix(got, "/id/end?client_id=x&x=1") {
		t.Errorf("logout at %q", got)
	}
}

// TestOIDCLogoutURL: browsers are redirected to the logout of the provider, also
// after a restart, and back from there if logoutreturn is set.
func TestOIDCLogoutURL(t *testing.T) {
	mux := http.NewServeMux()
	server := newServer(t, mux)
	mux.HandleFunc("/.well-known/openid-configuration", func(rw http.ResponseWriter, r *http.Request) {
		if r.UserAgent() != "dogwatch/1.2.3" {
			t.Errorf("the provider is asked by %q", r.UserAgent())
		}
		_, _ = io.WriteString(rw,
			strings.ReplaceAll(`{"issuer":"SELF","authorization_endpoint":"SELF/a","token_endpoint":"SELF/t","jwks_uri":"SELF/k","end_session_endpoint":"SELF/end"}`, "SELF", server))
	})
	for back, want := range map[string]string{"false": "", "true": "/auth/oidc/home/cb"} {
		w := start(t, "WUD_AUTH_OIDC_HOME_CLIENTID=x", "WUD_AUTH_OIDC_HOME_CLIENTSECRET="+clientSecret,
			"WUD_AUTH_OIDC_HOME_DISCOVERY="+server,
			"DOGWATCH_AUTH_OIDC_HOME_LOGOUTRETURN="+back, "DOGWATCH_PUBLIC_URL=https://dog.example.org/x")
		response := httptest.NewRecorder()
		if _, err := w.auth.startSession(response, httptest.NewRequest(http.MethodGet, "/", nil), Identity{
			User: "ana", Method: "oidc.home",
		}, true); err != nil {
			t.Fatal(err)
		}
		w.restart() // nothing is known of the provider
		elsewhere, err := w.auth.Logout(httptest.NewRecorder(), withCookies(response))
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(elsewhere)
		if err != nil || !strings.HasPrefix(elsewhere, server+"/end?") || u.Query().Get("client_id") != "x" {
			t.Errorf("%s, %v", elsewhere, err)
		}
		if want != "" {
			want = "https://dog.example.org/x" + want
		}
		same(t, "and back to", u.Query().Get("post_logout_redirect_uri"), want)
		to, err := w.auth.FinishOIDC(httptest.NewRecorder(),
			httptest.NewRequest(http.MethodGet, "/auth/oidc/home/cb", nil), "home")
		same(t, "back", []any{to, err}, []any{"https://dog.example.org/x/login?stay", nil})
	}
}

// TestOIDCProviderOutageKeepsSettings: the discovered settings are used during an outage, and logins fail with a
// reason.
func TestOIDCProviderOutageKeepsSettings(t *testing.T) {
	w, m := startProvider(t)
	c := w.browser()
	same(t, "login", w.loginAtProvider(c, m, &providerUser{subject: "1", claims: map[string]any{}}), "1 oidc.home manage")
	m.Shutdown()
	w.pass(2 * time.Hour) // what is known is old
	same(t, "session", w.get(c, "/"), "1 oidc.home manage")
	d, err := w.auth.providers["home"].settings(t.Context())
	if err != nil || d == nil {
		t.Errorf("forgotten: %v", err)
	}
	client := w.browser()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Get(w.url + begin)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		t.Fatal(err)
	}
	got := w.response(client.Get(w.url + "/auth/oidc/home/cb?code=x&state=" + to.Query().Get("state")))
	if !strings.Contains(got, "ask oidc.home for the login") || !errors.Is(w.failed(), ErrProviderUnavailable) ||
		errors.Is(w.failed(), ErrBadCredentials) {
		t.Errorf("got %s", got)
	}
}

// TestOIDCDiscoveryTTL: settings are discovered again after ttl.
func TestOIDCDiscoveryTTL(t *testing.T) {
	for ttl, want := range map[string]int{"60": 3, "0": 5, "-1": 1} {
		var read atomic.Int32
		mux := http.NewServeMux()
		server := newServer(t, mux)
		mux.HandleFunc("/.well-known/openid-configuration", func(rw http.ResponseWriter, _ *http.Request) {
			read.Add(1)
			_, _ = io.WriteString(rw,
				strings.ReplaceAll(`{"issuer":"SELF","authorization_endpoint":"SELF/a","token_endpoint":"SELF/t","jwks_uri":"SELF/k"}`, "SELF", server))
		})
		w := start(t, "WUD_AUTH_OIDC_HOME_CLIENTID=x", "WUD_AUTH_OIDC_HOME_CLIENTSECRET="+clientSecret,
			"WUD_AUTH_OIDC_HOME_DISCOVERY="+server, "WUD_AUTH_OIDC_HOME_TTL="+ttl)
		if !contains(w.auth.Problems(), "auth.oidc.home.discovery: is plain http") {
			t.Errorf("%v", w.auth.Problems())
		}
		for range 5 {
			if _, err := w.auth.providers["home"].settings(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.pass(30 * time.Minute)
		}
		same(t, "ttl "+ttl, read.Load(), want)
	}
}

// TestOIDCBeginsUnderPublicURL: a login begins under the name to which the provider redirects.
func TestOIDCBeginsUnderPublicURL(t *testing.T) {
	w, _ := startProvider(t, "DOGWATCH_PUBLIC_URL=https://dog.example.org/x")
	c := w.browser()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	where := func(path string) string {
		resp, err := c.Get(w.url + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		to, err := resp.Location()
		if err != nil {
			t.Fatal(err)
		}
		return to.String()
	}
	same(t, "first", where(begin+"?next=/a"), "https://dog.example.org/x/auth/oidc/home/redirect?moved=1&next=%2Fa")
	if to := where(begin + "?moved=1"); !strings.Contains(to,
		url.QueryEscape("https://dog.example.org/x/auth/oidc/home/cb")) {
		t.Errorf("then to %s", to)
	}
}
