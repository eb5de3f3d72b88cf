package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/auth/oidctest"
)

// providerUser is a user of the provider. Its claims can be spoilt.
type providerUser struct {
	subject string
	claims  map[string]any
	// info are the claims of the userinfo endpoint; nil for the same.
	info  map[string]any
	spoil func(token map[string]any)
}

func (p *providerUser) Info() map[string]any {
	if p.info != nil {
		return p.info
	}
	info := map[string]any{"sub": p.subject}
	maps.Copy(info, p.claims)
	return info
}

func (p *providerUser) Claims(token map[string]any) {
	token["sub"] = p.subject
	maps.Copy(token, p.claims)
	if p.spoil != nil {
		p.spoil(token)
	}
}

// startProvider runs a provider, and a server that knows it as "home".
func startProvider(t *testing.T, settings ...string) (*testServer, *oidctest.Provider) {
	t.Helper()
	m := oidctest.Start(t)
	m.ClientSecret = clientSecret
	w := start(t, append([]string{
		"WUD_AUTH_OIDC_HOME_DISCOVERY=" + m.DiscoveryEndpoint(), "WUD_AUTH_OIDC_HOME_CLIENTID=" + m.ClientID,
		"WUD_AUTH_OIDC_HOME_CLIENTSECRET=" + clientSecret, "WUD_AUTH_OIDC_HOME_TIMEOUT=2000",
	}, settings...)...)
	return w, m
}

const begin = "/auth/oidc/home/redirect"

// TestOIDCLogin logs in at the provider and out again.
func TestOIDCLogin(t *testing.T) {
	w, m := startProvider(t)
	c := w.browser()
	var seen []*url.URL
	c.CheckRedirect = func(r *http.Request, _ []*http.Request) error { seen = append(seen, r.URL); return nil }
	m.QueueUser(&providerUser{
		subject: "4711", claims: map[string]any{"email": "jane@example.org", "email_verified": true},
	})
	same(t, "login", w.get(c, begin+"?next=/containers%3Fq%3Dx"), "jane@example.org oidc.home manage")
	query := seen[0].Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": m.ClientID, "code_challenge_method": "S256", "scope": "openid email profile",
		"redirect_uri": w.url + "/auth/oidc/home/cb",
	} {
		same(t, name, query.Get(name), want)
	}
	if len(query.Get("state")) != 43 || len(query.Get("nonce")) != 43 || len(query.Get("code_challenge")) != 43 {
		t.Errorf("redirected with %v", query)
	}
	same(t, "where it ends", seen[len(seen)-1].String(), w.url+"/containers?q=x")
	same(t, "session", w.get(c, "/"), "jane@example.org oidc.home manage")
	if w.cookie(c, flowCookie) != "" {
		t.Error("the cookie of the login stays")
	}
	w.restart()
	same(t, "after a restart", w.get(c, "/"), "jane@example.org oidc.home manage")

	// The redirect is not accepted again, nor in another browser.
	back := seen[1]
	for what, browser := range map[string]*http.Client{"again": c, "elsewhere": w.browser()} {
		if got := w.response(browser.Get(back.String())); !strings.Contains(got, "did not begin") {
			t.Errorf("%s: %s", what, got)
		}
	}
	w.get(c, "/logout")
	same(t, "after logout", w.get(c, "/"), "nothing")
	same(t, "trail",
		[]int{w.events("auth.login jane@example.org oidc.home"), w.events("auth.failed unknown user oidc.home"),
			w.events("auth.logout")}, []int{1, 0, 1})
	same(t, "unknown provider", w.get(c, "/auth/oidc/none/redirect"), ErrUnknownProvider.Error())
}

func (w *testServer) loginAtProvider(c *http.Client, m *oidctest.Provider, p *providerUser) string {
	w.t.Helper()
	m.QueueUser(p)
	return w.get(c, begin)
}

// TestOIDCAllowedUsersAndGroups has the lists of users and groups, and the claims that they compare.
func TestOIDCAllowedUsersAndGroups(t *testing.T) {
	jane := map[string]any{"email": "jane@example.org", "email_verified": true, "preferred_username": "jane",
		"groups":       []string{"staff", "ops"},
		"realm_access": map[string]any{"roles": []string{"dog"}}, "team": "red"}
	unverified := maps.Clone(jane)
	unverified["email_verified"] = false
	for _, test := range []struct {
		name     string
		settings []string
		claims   map[string]any
		want     string
	}{
		{"no lists", nil, jane, "jane@example.org"},
		{"listed", []string{"USERS=bob@example.org,Jane@Example.org"}, jane, "jane@example.org"},
		{"listed by sub", []string{"USERS=4711"}, jane, "jane@example.org"},
		{"not listed", []string{"USERS=bob@example.org"}, jane, ""},
		{"not verified", []string{"USERS=jane@example.org"}, unverified, ""},
		{"not verified, but no matter", nil, unverified, "jane@example.org"},
		{"other claim", []string{"USERNAMECLAIM=preferred_username", "USERS=jane"}, unverified, "jane"},
		{"claim that is missing", []string{"USERNAMECLAIM=nick"}, jane, "jane@example.org"},
		// The name that stands in for a missing claim is not what was listed.
		{"claim that is missing, listed", []string{"USERNAMECLAIM=nick", "USERS=jane@example.org"}, jane, ""},
		{"group", []string{"GROUPS=ops"}, jane, "jane@example.org"},
		{"not in the group", []string{"GROUPS=admins,OPS"}, jane, ""},
		{"no groups at all", []string{"GROUPS=ops"}, map[string]any{"email": "jane@example.org"}, ""},
		{"user or group", []string{"GROUPS=none", "USERS=4711"}, jane, "jane@example.org"},
		{"nested groups", []string{"GROUPS=dog", "GROUPSCLAIM=realm_access.roles"}, jane, "jane@example.org"},
		{"one group as a text", []string{"GROUPS=red", "GROUPSCLAIM=team"}, jane, "jane@example.org"},
		{"nothing but the sub", nil, map[string]any{}, "4711"},
		{"odd characters", nil, map[string]any{"email": "ja\x1b[31m\nne"}, "ja[31mne"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var settings []string
			for _, s := range test.settings {
				settings = append(settings, "WUD_AUTH_OIDC_HOME_"+s)
			}
			w, m := startProvider(t, settings...)
			c := w.browser()
			got := w.loginAtProvider(c, m, &providerUser{subject: "4711", claims: test.claims})
			want := test.want + " oidc.home manage"
			if test.want != "" {
				same(t, "login", got, want)
				return
			}
			if !errors.Is(w.failed(), ErrBadCredentials) || w.get(c, "/") != "nothing" || w.events("auth.failed") != 1 {
				t.Errorf("got %s, trail %v", got, w.trail())
			}
		})
	}
}

// TestOIDCRejectsInvalidTokens: tokens and claims that are not valid, by a provider or an attacker.
func TestOIDCRejectsInvalidTokens(t *testing.T) {
	claims := map[string]any{"email": "jane@example.org"}
	spoilt := func(spoil func(map[string]any)) *providerUser {
		return &providerUser{subject: "4711", claims: claims, spoil: spoil}
	}
	for name, test := range map[string]struct {
		user *providerUser
		want string
	}{
		"other issuer":    {spoilt(func(c map[string]any) { c["iss"] = "https://evil.example.org" }), "verify the id token"},
		"other client":    {spoilt(func(c map[string]any) { c["aud"] = []string{"other"} }), "verify the id token"},
		"several clients": {spoilt(func(c map[string]any) { c["aud"] = []any{c["aud"].([]string)[0], "other"} }), "azp"},
		"other party":     {spoilt(func(c map[string]any) { c["azp"] = "other" }), "azp"},
		"odd party":       {spoilt(func(c map[string]any) { c["azp"] = []string{"other"} }), "azp"},
		"empty party":     {spoilt(func(c map[string]any) { c["azp"] = "" }), "azp"},
		"this party":      {spoilt(func(c map[string]any) { c["azp"] = c["aud"].([]string)[0] }), ""},
		"party of several": {spoilt(func(c map[string]any) {
			client := c["aud"].([]string)[0]
			c["aud"], c["azp"] = []string{"other", client}, client
		}), ""},
		"other login": {spoilt(func(c map[string]any) { c["nonce"] = "x" }), "nonce"},
		"no nonce":    {spoilt(func(c map[string]any) { delete(c, "nonce") }), "nonce"},
		"long expired": {spoilt(func(c map[string]any) { c["exp"] = time.Now().Add(-10 * time.Minute).Unix() }),
			"compare the clocks"},
		"far in future": {spoilt(func(c map[string]any) { c["nbf"] = time.Now().Add(time.Hour).Unix() }),
			"compare the clocks"},
		"another's info": {&providerUser{
			subject: "4711", claims: claims, info: map[string]any{"sub": "1", "email": "boss@example.org"},
		}, "another user"},
		"info without sub": {&providerUser{
			subject: "4711", claims: claims, info: map[string]any{"email": "boss@example.org"},
		}, "another user"},
		"clocks differ":   {spoilt(func(c map[string]any) { c["exp"] = time.Now().Add(-time.Minute).Unix() }), ""},
		"clocks differ 2": {spoilt(func(c map[string]any) { c["nbf"] = time.Now().Add(time.Minute).Unix() }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, m := startProvider(t)
			c := w.browser()
			got := w.loginAtProvider(c, m, test.user)
			if test.want == "" {
				same(t, "login", got, "jane@example.org oidc.home manage")
				return
			}
			if !strings.Contains(got, test.want) || !errors.Is(w.failed(), ErrBadCredentials) || w.get(c, "/") != "nothing" {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestOIDCRejectsWrongState: a redirect that belongs to another browser, or to no login, is refused.
func TestOIDCRejectsWrongState(t *testing.T) {
	w, _ := startProvider(t)
	stop := func(c *http.Client) *url.URL { // goes to the provider and not back
		c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
			if strings.HasSuffix(r.URL.Path, "/cb") {
				return http.ErrUseLastResponse
			}
			return nil
		}
		resp, err := c.Get(w.url + begin)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		back, err := resp.Location()
		if err != nil {
			t.Fatal(err)
		}
		return back
	}
	victim, attacker := w.browser(), w.browser()
	stop(victim)
	// The attacker's redirect in the victim's browser would log the victim in as the attacker.
	if got := w.response(victim.Get(stop(attacker).String())); !strings.Contains(got, "state") {
		t.Errorf("got %s", got)
	}
	for name, spoil := range map[string]func(*url.URL){
		"no state":   func(u *url.URL) { u.RawQuery = "code=x" },
		"no code":    func(u *url.URL) { q := u.Query(); q.Del("code"); u.RawQuery = q.Encode() },
		"wrong code": func(u *url.URL) { q := u.Query(); q.Set("code", "x"); u.RawQuery = q.Encode() },
		"refused":    func(u *url.URL) { u.RawQuery += "&error=access_denied&error_description=no%0Aentry" },
		"another state": func(u *url.URL) {
			q := u.Query()
			q.Set("state", strings.Repeat("A", 43))
			u.RawQuery = q.Encode()
		},
	} {
		c := w.browser()
		back := stop(c)
		spoil(back)
		if got := w.response(c.Get(back.String())); !errors.Is(w.failed(), ErrBadCredentials) ||
			w.get(c, "/") != "nothing" || strings.Contains(got, "\n") {
			t.Errorf("%s: %q, %v", name, got, w.failed())
		}
		w.pass(time.Minute) // for the limit of the address
	}
	c := w.browser()
	back := stop(c)
	w.pass(flowTime + time.Second)
	if got := w.response(c.Get(back.String())); !strings.Contains(got, "too long") {
		t.Errorf("late: %s", got)
	}
	c = w.browser()
	back = stop(c)
	w.restart() // the key that sealed the cookie is gone
	if got := w.response(c.Get(back.String())); !strings.Contains(got, "begin again") {
		t.Errorf("after a restart: %s", got)
	}
	c = w.browser()
	back = stop(c)
	cookie := w.cookie(c, flowCookie)
	u, _ := url.Parse(w.url)
	c.Jar.SetCookies(u, []*http.Cookie{{Name: w.named(flowCookie), Value: cookie[:len(cookie)-4] + "AAAA", Path: "/"}})
	if got := w.response(c.Get(back.String())); !errors.Is(w.failed(), ErrBadCredentials) {
		t.Errorf("a changed cookie: %s", got)
	}
}

// TestOIDCLoginIsUsedOnce: who has copied the cookie and the redirect of a login cannot use them
// again, whatever became of the first use, and as often as others log in meanwhile.
func TestOIDCLoginIsUsedOnce(t *testing.T) {
	w, m := startProvider(t)
	m.QueueUser(&providerUser{subject: "4711", claims: map[string]any{"email": "jane@example.org"}})
	c := w.browser()
	var back *url.URL
	var copied string
	c.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasSuffix(r.URL.Path, "/cb") {
			back, copied = r.URL, w.cookie(c, flowCookie)
		}
		return nil
	}
	w.get(c, begin)
	replay := func(what, want string) {
		t.Helper()
		thief := w.browser()
		u, _ := url.Parse(w.url)
		thief.Jar.SetCookies(u, []*http.Cookie{{Name: w.named(flowCookie), Value: copied, Path: "/"}})
		got := w.response(thief.Get(back.String()))
		if !strings.Contains(got, want) || !errors.Is(w.failed(), ErrBadCredentials) || w.get(thief, "/") != "nothing" {
			t.Errorf("%s: %q", what, got)
		}
	}
	replay("after a login", "used before")
	replay("once more", "used before")
	w.restart()
	replay("after a restart", "begin again")
}

func TestSpentIsBounded(t *testing.T) {
	const logins = maxSpent + 100
	s, now := newSpent(), time.Now()
	for i := range logins {
		if !s.use(flow{State: fmt.Sprint(i), Ends: now.Add(flowTime + time.Duration(i))}, now) {
			t.Fatalf("%d was not used before", i)
		}
	}
	if len(s.ends) != maxSpent || s.use(flow{State: fmt.Sprint(logins - 1)}, now) {
		t.Errorf("%d are remembered, want the %d that end last", len(s.ends), maxSpent)
	}
	s.use(flow{State: "later", Ends: now.Add(2 * flowTime)}, now.Add(flowTime+time.Second))
	if len(s.ends) != 1 {
		t.Errorf("%d have ended and are remembered", len(s.ends)-1)
	}
}

// TestLoginRejectsOpenRedirect: a link to the login page never leads to another site.
func TestLoginRejectsOpenRedirect(t *testing.T) {
	w, m := startProvider(t)
	for _, next := range []string{"https://evil.example.org/", "//evil.example.org", "/\\evil.example.org",
		"javascript:x"} {
		c := w.browser()
		var last *url.URL
		c.CheckRedirect = func(r *http.Request, _ []*http.Request) error { last = r.URL; return nil }
		m.QueueUser(&providerUser{subject: "1", claims: map[string]any{}})
		w.get(c, begin+"?next="+url.QueryEscape(next))
		same(t, next, last.String(), w.url+"/")
		w.pass(time.Minute)
	}
}

// TestOIDCSecretsAreNotLogged: nor are they in events or responses.
func TestOIDCSecretsAreNotLogged(t *testing.T) {
	w, m := startProvider(t, ana...)
	c := w.browser()
	var responses strings.Builder
	responses.WriteString(w.loginAtProvider(c, m, &providerUser{subject: "1", claims: map[string]any{}}))
	responses.WriteString(w.loginAtProvider(w.browser(), m, &providerUser{subject: "1", info: map[string]any{}}))
	secrets := []string{clientSecret, password, cheap[5:], w.cookie(c, sessionCookie)}
	responses.WriteString(w.get(w.browser(), "/auth/oidc/home/cb?code=code-of-the-test&state=x"))
	w.basic("ana", password)
	w.basic("ana", "a-wrong-password")
	w.basic("a-password-in-the-wrong-field", "x")
	m.ClientSecret = "changed at the provider"
	responses.WriteString(w.loginAtProvider(w.browser(), m, &providerUser{subject: "1"}))
	m.Shutdown()
	w.restart() // which forgets what it knew of the provider
	responses.WriteString(w.get(w.browser(), begin))
	events, err := w.store.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal([]any{events, w.auth.Methods(), w.auth.Strategies(), w.auth.Problems()})
	if err != nil {
		t.Fatal(err)
	}
	all := w.log.String() + responses.String() + string(text)
	for _, secret := range append(secrets, "a-wrong-password", "a-password-in-the-wrong-field", "code-of-the-test") {
		if strings.Contains(all, secret) {
			t.Errorf("%q leaves", secret)
		}
	}
}
