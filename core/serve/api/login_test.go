package api

import (
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/auth/oidctest"
)

// withProvider starts a server with a login at a provider.
func withProvider(t *testing.T, change ...func(*testOptions)) (*testServer, *oidctest.Provider) {
	t.Helper()
	m := oidctest.Start(t)
	w := start(t, []string{
		"WUD_AUTH_OIDC_HOME_DISCOVERY=" + m.Issuer(), "WUD_AUTH_OIDC_HOME_CLIENTID=" + m.ClientID,
		"WUD_AUTH_OIDC_HOME_CLIENTSECRET=" + m.ClientSecret,
		"WUD_AUTH_OIDC_HOME_REDIRECT=true",
	}, change...)
	return w, m
}

// TestOIDCRedirectForWUDClients: programs get the address, browsers are redirected.
func TestOIDCRedirectForWUDClients(t *testing.T) {
	w, m := withProvider(t)
	same(t, "strategies", w.get("/auth/strategies").want(200).list(), []map[string]any{{
		"type": "oidc", "name": "home", "redirect": true, "logoutUrl": nil,
	}})
	w.do("POST", "/auth/login", "", "Authorization", basic("ana", "x")).fails(401)
	to, _ := w.get("/auth/oidc/HOME/redirect").want(200).object()["url"].(string)
	u, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(to, m.AuthorizationEndpoint()) ||
		u.Query().Get("redirect_uri") != w.url+"/auth/oidc/home/cb" {
		t.Errorf("got %q, %v", to, err)
	}
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if got := w.get("/auth/oidc/home/redirect", "Accept",
		"text/html,*/*").want(302).header.Get("Location"); !strings.HasPrefix(got, m.AuthorizationEndpoint()) {
		t.Errorf("sent to %q", got)
	}
	w.get("/auth/oidc/home/cb?code=x&state=y").fails(401, "did not begin")
	m.Shutdown()
	w.get("/auth/oidc/home/redirect").want(200) // its settings are known
	if listed := w.get("/auth/strategies").list(); len(listed) != 1 {
		t.Errorf("strategies %v", listed)
	}
}

// TestOIDCProviderUnavailable: a provider outage is no failed login, and disturbs nothing else.
func TestOIDCProviderUnavailable(t *testing.T) {
	w, m := withProvider(t, func(o *testOptions) { o.Pages = fakePages{} })
	m.Shutdown()
	w.get("/auth/oidc/home/redirect").fails(502, "cannot be asked now")
	plainClient(w)
	got := string(w.get("/auth/oidc/home/redirect", "Accept", "text/html").want(502).body)
	if !strings.HasPrefix(got, "refused: the provider cannot be asked now") {
		t.Errorf("browsers get %q", got)
	}
	got = string(w.get("/auth/oidc/home/cb?state=x", "Accept", "text/html").want(401).body)
	if !strings.HasPrefix(got, "refused: this browser did not begin") {
		t.Errorf("browsers get %q", got)
	}
	w.get("/health").want(200)
}

// TestOIDCSessionAuthorizesAPI goes through a provider with a browser's cookies.
func TestOIDCSessionAuthorizesAPI(t *testing.T) {
	w, m := withProvider(t, func(o *testOptions) { o.Pages = fakePages{} })
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	w.client = &http.Client{Jar: jar}
	t.Cleanup(w.client.CloseIdleConnections)
	m.QueueUser(jane{})
	same(t, "where it ends",
		string(w.get("/auth/oidc/home/redirect?next=/containers", "Accept", "text/html").want(200).body),
		"page /containers jane.doe@example.com")
	same(t, "user", w.get("/auth/user").want(200).object(), map[string]any{"username": "jane.doe@example.com"})
	w.get("/api/tokens").want(200)
	w.do("POST", "/auth/logout", "").want(200)
	w.get("/auth/user").fails(401)
}

// jane is a user of the provider.
type jane struct{}

func (jane) Info() map[string]any {
	return map[string]any{"sub": "1234567890", "email": "jane.doe@example.com", "email_verified": true}
}

func (j jane) Claims(token map[string]any) { maps.Copy(token, j.Info()) }
