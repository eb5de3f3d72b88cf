package auth

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestIdentifyWithoutConfiguredLogin(t *testing.T) {
	w := start(t)
	if !w.auth.Open() || len(w.auth.Problems()) > 0 {
		t.Error(w.auth.Problems())
	}
	const anonymous = "anonymous anonymous write"
	same(t, "no credentials", w.get(w.browser(), "/"), anonymous)
	for _, credentials := range []string{"Basic", "Basic !!!", "Basic Og==", "Bearer dw_x", "Digest x"} {
		same(t, credentials, w.with("Authorization", credentials), anonymous)
	}
	same(t, "methods", w.auth.Methods()[0].ID(), "anonymous.anonymous")
	same(t, "strategies", len(w.auth.Strategies()), 1)
}

// TestMisconfiguredLoginFailsClosed: a login that is configured and does not work opens nothing.
func TestMisconfiguredLoginFailsClosed(t *testing.T) {
	for setting, problem := range map[string]string{
		"WUD_AUTH_BASIC_MAIN_USER=ana":           "auth.basic.main.hash: is required",
		"WUD_AUTH_BASIC_MAIN_HASH=":              "nobody can log in",
		"WUD_AUTH_USER=ana":                      "nobody can log in",
		"DOGWATCH_AUTH_BSIC_MAIN_USER=ana":       "did you mean auth.basic.main",
		"DOGWATCH_AUTH_OIDC_X_CLIENTID=dogwatch": "auth.oidc.x.discovery: is required",
		"DOGWATCH_AUTH_BASIC_A_HASH__FILE=/none": "nobody can log in",
	} {
		w := start(t, setting)
		if w.auth.Open() || !contains(w.auth.Problems(), problem) {
			t.Errorf("%s: open %v, problems %v", setting, w.auth.Open(), w.auth.Problems())
		}
		same(t, setting, w.get(w.browser(), "/"), "nothing")
		same(t, setting, w.basic("ana", "x"), ErrBadCredentials.Error())
		same(t, setting, w.login(w.browser(), "ana", "x"), ErrBadCredentials.Error())
	}
	w := start(t, "DOGWATCH_AUTH_BASIC_A_USER=ana", "DOGWATCH_AUTH_BASIC_A_HASH=$$2y$$10$$abc")
	if !contains(w.auth.Problems(), "doubled") || w.auth.Methods()[0].Problem == "" {
		t.Error(w.auth.Problems())
	}
	// An explicit anonymous one opens everything beside others, as in WUD.
	both := start(t, append(ana, "WUD_AUTH_ANONYMOUS_X_Y=z")...)
	same(t, "anonymous", both.get(both.browser(), "/"), "anonymous anonymous write")
	same(t, "wrong password", both.basic("ana", "x"), "anonymous anonymous write")
	same(t, "right password", both.basic("ana", password), "ana basic.main manage")
}

func TestBasicAuthentication(t *testing.T) {
	w := start(t, append(ana, "WUD_AUTH_BASIC_OTHER_USER=Bob", "WUD_AUTH_BASIC_OTHER_HASH=with:colons in it",
		"WUD_AUTH_BASIC_NOBODY_USER=anonymous", "WUD_AUTH_BASIC_NOBODY_HASH=with:colons in it")...)
	if !contains(w.auth.Problems(), "auth.basic.other.hash: is a password in clear") {
		t.Error(w.auth.Problems())
	}
	for _, test := range []struct{ user, password, want string }{
		{"ana", password, "ana basic.main manage"}, {"ana", password, "ana basic.main manage"},
		{"Bob", "with:colons in it", "Bob basic.other manage"},
		{"anonymous", "with:colons in it", "basic.nobody.anonymous basic.nobody manage"},
		{"Ana", password, ErrBadCredentials.Error()}, {"ana", "", ErrBadCredentials.Error()},
		{"", "", ErrBadCredentials.Error()}, {"", password, ErrBadCredentials.Error()},
		{"bob", "with:colons in it", ErrBadCredentials.Error()}, {"ana", "with:colons in it", ErrBadCredentials.Error()},
		{"ana", strings.Repeat("x", maxPassword+1), ErrBadCredentials.Error()}, {"unknown", "x", ErrBadCredentials.Error()},
	} {
		same(t, test.user+" "+test.password, w.basic(test.user, test.password), test.want)
	}
	for _, header := range []string{"Basic", "Basic ", "Basic !!!",
		"Basic " + base64.StdEncoding.EncodeToString([]byte("ana")), "Digest ana", "ana"} {
		same(t, header, w.with("Authorization", header), ErrBadCredentials.Error())
	}
	same(t, "nothing", w.get(w.browser(), "/"), "nothing")
	// A program that logs in with every request is recorded once, and so is each wrong password.
	for range 5 {
		w.basic("ana", password)
		w.basic("ana", "wrong once")
	}
	same(t, "logins", w.events("auth.login"), 3)
	same(t, "failures of ana", count(w.trail(), "auth.failed ana basic"), 2)
	same(t, "failures of strangers", count(w.trail(), "auth.failed unknown user basic"), 3)
}

func TestLoginThrottling(t *testing.T) {
	w := start(t, ana...)
	guess := func(user string, n int) (refused int) {
		for i := range n {
			w.basic(user, "guess "+user+string(rune('a'+i%26))+string(rune('a'+i/26)))
			if tooMany(w.failed()) {
				refused++
			}
		}
		return refused
	}
	same(t, "refused of 30", guess("ana", 30), 20)
	// The right password is not checked either: the client does not learn that it was right.
	w.basic("ana", password)
	if !tooMany(w.failed()) {
		t.Error("an address may go on guessing")
	}
	w.login(w.browser(), "ana", password)
	if !tooMany(w.failed()) {
		t.Error("the form is a way around")
	}
	var e *ThrottledError
	if errors.As(w.failed(), &e) && (e.Wait <= 0 || e.Wait > pairPause) {
		t.Errorf("wait %s", e.Wait)
	}
	w.pass(pairPause)
	same(t, "after a pause", w.basic("ana", password), "ana basic.main manage")
	// A user who has logged in from an address is not throttled by guesses from it.
	guess("zoe", 30)
	same(t, "known password", w.basic("ana", password), "ana basic.main manage")
	if n := w.events("auth.failed"); n > 40 {
		t.Errorf("%d failures are recorded", n)
	}
	if strings.Contains(strings.Join(w.trail(), "\n")+w.log.String(), "zoe") {
		t.Error("the name of a user who does not exist is recorded: it may be a password")
	}
}

// TestThrottlingBoundsRecordedFailures: how many failures are stored is limited, from however many addresses they come.
func TestThrottlingBoundsRecordedFailures(t *testing.T) {
	w := start(t, append(ana, "DOGWATCH_SERVER_TRUSTEDPROXIES=127.0.0.1,::1")...)
	attempts := 0
	for i := range 400 {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = "127.0.0.1:1"
		r.Header.Set("X-Forwarded-For",
			"2001:db8:0:"+string("0123456789abcdef"[i/16%16])+string("0123456789abcdef"[i%16])+"::1")
		r.SetBasicAuth("ana", "guess"+string(rune('a'+i)))
		if _, err := w.auth.Identify(httptest.NewRecorder(), r); !tooMany(err) {
			attempts++
		}
	}
	if attempts > userBurst {
		t.Errorf("%d guesses of one user were checked", attempts)
	}
	if len(w.auth.passwords.cache.wrong) > maxCached {
		t.Error("the cache grows without bound")
	}
}

func TestSessionLifetime(t *testing.T) {
	w := start(t, ana...)
	c := w.browser()
	same(t, "before", w.get(c, "/"), "nothing")
	same(t, "login", w.login(c, "ana", password), "ana basic.main manage")
	first := w.cookie(c, sessionCookie)
	same(t, "after", w.get(c, "/"), "ana basic.main manage")
	if len(first) != 43 {
		t.Errorf("the id %q has not 256 bits", first)
	}
	w.restart()
	same(t, "after a restart", w.get(c, "/"), "ana basic.main manage")

	// Used once a day it lasts, but not for ever.
	days := 0
	for ; days < 200 && w.get(c, "/") == "ana basic.main manage"; days++ {
		w.pass(24 * time.Hour)
	}
	if days != 90 {
		t.Errorf("the session lasted %d days", days)
	}
	w.login(c, "ana", password)
	w.pass(idleTime)
	same(t, "after a week without use", w.get(c, "/"), "nothing")

	w.login(c, "ana", password)
	stolen := w.cookie(c, sessionCookie)
	w.get(c, "/logout")
	same(t, "after logout", w.get(c, "/"), "nothing")
	same(t, "with the old id", w.with("Cookie", sessionCookie+"="+stolen), "nothing")
	same(t, "logouts", w.events("auth.logout"), 1)
	for _, value := range []string{"", "x", strings.Repeat("A", 43), strings.Repeat("A", 4000)} {
		same(t, "wrong cookie", w.with("Cookie", sessionCookie+"="+value), "nothing")
	}
	// What is stored does not open the door.
	s, err := w.store.Session(t.Context(), hashOf(first))
	if err == nil || strings.Contains(string(s.Hash), first) {
		t.Errorf("%+v", s)
	}
}

// TestLoginPreventsSessionFixation: a login never uses the session id that the browser sent, and ends its session.
func TestLoginPreventsSessionFixation(t *testing.T) {
	w := start(t, ana...)
	c := w.browser()
	u, _ := url.Parse(w.url)
	planted := strings.Repeat("A", 43)
	c.Jar.SetCookies(u, []*http.Cookie{{Name: w.named(sessionCookie), Value: planted, Path: "/"}})
	w.login(c, "ana", password)
	first := w.cookie(c, sessionCookie)
	if first == planted || first == "" {
		t.Fatal("the planted id is in use")
	}
	same(t, "the planted id", w.with("Cookie", sessionCookie+"="+planted), "nothing")
	w.login(c, "ana", password)
	if w.cookie(c, sessionCookie) == first {
		t.Error("the id stays the same")
	}
	same(t, "the id before", w.with("Cookie", sessionCookie+"="+first), "nothing")
}

// TestChangedPasswordEndsSessions: and so does removing the user.
func TestChangedPasswordEndsSessions(t *testing.T) {
	w := start(t, ana...)
	c := w.browser()
	w.login(c, "ana", password)
	caller := Identity{session: hashOf(w.cookie(c, sessionCookie))}
	if !w.auth.Current(t.Context(), caller) || !w.auth.Current(t.Context(), Identity{}) {
		t.Error("a session that is good is not")
	}
	value := w.config.Auth[0].Options["hash"]
	value.V = "another password"
	w.config.Auth[0].Options["hash"] = value
	w.restart()
	same(t, "after a change", w.get(c, "/"), "nothing")
	if w.auth.Current(t.Context(), caller) {
		t.Error("a stream would go on")
	}
}

func TestSessionsPerUserAreBounded(t *testing.T) {
	w := start(t, ana...)
	oldest := w.browser()
	w.login(oldest, "ana", password)
	for range 50 {
		w.pass(time.Second)
		w.login(w.browser(), "ana", password)
	}
	same(t, "the oldest", w.get(oldest, "/"), "nothing")
}

func TestSessionCookieAttributes(t *testing.T) {
	for _, test := range []struct {
		settings    []string
		peerAddress string
		headers     map[string]string
		host        string
		secure      bool
	}{
		{nil, "192.0.2.1:1", nil, "nas", false},
		{nil, "192.0.2.1:1", map[string]string{"X-Forwarded-Proto": "https"}, "nas", false}, // not a trusted proxy
		{[]string{"DOGWATCH_SERVER_TRUSTEDPROXIES=192.0.2.0/24"}, "192.0.2.1:1", map[string]string{
			"X-Forwarded-Proto": "https",
		}, "nas", true},
		{[]string{"DOGWATCH_SERVER_TRUSTEDPROXIES=192.0.2.0/24"}, "198.51.100.1:1", map[string]string{
			"X-Forwarded-Proto": "https",
		}, "nas", false},
		{[]string{"DOGWATCH_PUBLIC_URL=https://dog.example.org"}, "192.0.2.1:1", nil, "dog.example.org", true},
		// a browser would not send it back
		{[]string{"DOGWATCH_PUBLIC_URL=https://dog.example.org"}, "192.0.2.1:1", nil, "nas:3000", false},
	} {
		w := start(t, append(test.settings, ana...)...)
		r := httptest.NewRequest(http.MethodPost, "/login", nil)
		r.RemoteAddr, r.Host = test.peerAddress, test.host
		for name, value := range test.headers {
			r.Header.Set(name, value)
		}
		response := httptest.NewRecorder()
		if _, err := w.auth.Login(response, r, "ana", password, true); err != nil {
			t.Fatal(err)
		}
		cookies := response.Result().Cookies()
		if len(cookies) != 1 {
			t.Fatalf("%v", cookies)
		}
		c := cookies[0]
		if c.Secure != test.secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" ||
			c.MaxAge != int(idleTime/time.Second) {
			t.Errorf("%+v: %v", test, c)
		}
	}
}

func TestTokens(t *testing.T) {
	w := start(t, ana...)
	actor := Actor{Identity: Identity{User: "ana"}}
	make := func(scope Scope, expires time.Time) (string, int64) {
		secret, made, err := w.auth.CreateToken(t.Context(), actor, NewToken{
			Name: " home page ", Scope: scope, Expires: expires,
		})
		if err != nil {
			t.Fatal(err)
		}
		return secret, made.ID
	}
	read, id := make(Read, time.Time{})
	write, _ := make(Write, time.Time{})
	short, _ := make(Write, w.now().Add(time.Hour))
	if !IsToken(read) || read == write {
		t.Errorf("%s, %s", read, write)
	}
	same(t, "read", w.with("Authorization", "Bearer "+read), "home page token read")
	same(t, "write", w.with("Authorization", "bearer  "+write), "home page token write")
	same(t, "as a password", w.basic("any", read), "home page token read")
	same(t, "short", w.with("Authorization", "Bearer "+short), "home page token write")
	w.pass(time.Hour)
	same(t, "expired", w.with("Authorization", "Bearer "+short), ErrBadToken.Error())
	for _, wrong := range []string{"", "x", "dw_", "wud_abc", tokenPrefix + newSecret(), read[:len(read)-1], read + "x",
		strings.ToUpper(read)} {
		same(t, wrong, w.with("Authorization", "Bearer "+wrong), ErrBadToken.Error())
	}
	all, err := w.auth.Tokens(t.Context())
	if err != nil || len(all) != 3 || all[2].Used.IsZero() || !all[2].Expires.IsZero() {
		t.Errorf("%+v, %v", all, err)
	}
	for _, token := range all {
		if strings.Contains(string(token.Hash), read) {
			t.Error("the secret is stored")
		}
	}
	if err := w.auth.RevokeToken(t.Context(), actor, id); err != nil {
		t.Fatal(err)
	}
	same(t, "revoked", w.with("Authorization", "Bearer "+read), ErrBadToken.Error())
	if err := w.auth.RevokeToken(t.Context(), actor, id); err == nil {
		t.Error("revoked twice")
	}
	same(t, "trail",
		[]int{count(w.trail(), "auth.token.created ana  home page"),
			count(w.trail(), "auth.token.revoked ana  home page")}, []int{3, 1})
	for _, requested := range []NewToken{
		{Scope: Read}, {Name: "x"}, {Name: "x", Scope: Manage}, {Name: "a\nb", Scope: Read},
		{Name: strings.Repeat("x", 101), Scope: Read},
		{Name: "x", Scope: Read, Expires: w.now()},
	} {
		if secret, _, err := w.auth.CreateToken(t.Context(), actor, requested); err == nil {
			t.Errorf("%+v made %s", requested, secret)
		}
	}
	if text := w.log.String() + strings.Join(w.trail(), "\n"); strings.Contains(text, read[3:]) ||
		strings.Contains(text, write[3:]) {
		t.Error("a token is logged")
	}
}
