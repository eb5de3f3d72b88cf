package auth

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// given logs ana in with a request and returns the cookie of the session.
func given(t *testing.T, w *testServer, r *http.Request) *http.Cookie {
	t.Helper()
	response := httptest.NewRecorder()
	if _, err := w.auth.Login(response, r, "ana", password, true); err != nil {
		t.Fatal(err)
	}
	if h := response.Header(); h.Get("Clear-Site-Data") != "" {
		t.Error("a login clears what is not ours")
	}
	for _, c := range response.Result().Cookies() {
		if strings.HasPrefix(c.Name, sessionCookie) && c.MaxAge >= 0 {
			return c
		}
	}
	t.Fatal("a login sets no cookie")
	return nil
}

// TestSessionCookieNamePathAndSecure: whatever port a proxy leaves in Host, and
// only under the name of public.url.
func TestSessionCookieNamePathAndSecure(t *testing.T) {
	const https, http = "DOGWATCH_PUBLIC_URL=https://dog.example.org/watch/", "DOGWATCH_PUBLIC_URL=http://nas.lan:8080"
	for _, test := range []struct {
		settings     []string
		host, origin string
		want         string
	}{
		{nil, "nas", "", "dogwatch_session /"},
		{nil, "nas:443", "", "dogwatch_session /"},
		{nil, "nas:3000", "", "dogwatch_session_3000 /"},
		{nil, "[fd00::1]:3001", "", "dogwatch_session_3001 /"},
		{nil, "[fd00::1]", "", "dogwatch_session /"},
		{nil, "nas:3000; Secure", "", "dogwatch_session /"},
		{[]string{"DOGWATCH_SERVER_BASEPATH=/dog/"}, "nas:3000", "", "dogwatch_session_3000 /dog"},
		{[]string{https}, "dog.example.org", "", "dogwatch_session /watch secure"},
		{[]string{https}, "dog.example.org:443", "https://dog.example.org", "dogwatch_session /watch secure"},
		{[]string{https}, "dog.example.org:80", "", "dogwatch_session /watch secure"},
		{[]string{https}, "DOG.example.org:3000", "https://dog.example.org", "dogwatch_session /watch secure"},
		// At home, past the proxy, a Secure cookie would be dropped by the browser.
		{[]string{https, "DOGWATCH_SERVER_BASEPATH=/watch"}, "192.168.1.5:3000", "http://192.168.1.5:3000",
			"dogwatch_session_3000 /watch"},
		{[]string{https}, "nas", "", "dogwatch_session /"},
		{[]string{https}, "dog.example.org:3000", "http://dog.example.org:3000", "dogwatch_session /watch"},
		{[]string{http}, "nas.lan", "", "dogwatch_session_8080 /"},
		{[]string{http}, "nas.lan:3000", "", "dogwatch_session_8080 /"},
	} {
		w := start(t, append(ana, test.settings...)...)
		r := httptest.NewRequest("POST", "/", nil)
		r.Host = test.host
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		c := given(t, w, r)
		got := c.Name + " " + c.Path
		if c.Secure {
			got += " secure"
		}
		same(t, test.host+" with "+strings.Join(test.settings, " "), got, test.want)
		if !c.HttpOnly || c.Domain != "" {
			t.Errorf("the cookie %v is readable by scripts or other hosts", c)
		}
	}
}

// TestSessionCookieIgnoresForeignCookies: cookies of other programs on the host, even of
// the same name, neither disturb a session nor are changed.
func TestSessionCookieIgnoresForeignCookies(t *testing.T) {
	w := start(t, ana...)
	post := func(cookies ...string) *http.Request {
		r := httptest.NewRequest("POST", "/", nil)
		r.Host = "nas:3000"
		r.Header.Set("Cookie", strings.Join(cookies, "; "))
		return r
	}
	own := given(t, w, post("connect.sid=s%3Aabc", "dogwatch_session=of-another", "dogwatch_session_3001=of-one-more"))
	same(t, "the cookie", own.Name, "dogwatch_session_3000")
	others := []string{"connect.sid=s%3Aabc", "dogwatch_session=of-another", "dogwatch_session_3001=of-one-more",
		"dogwatch_session_3000=with-a-shorter-path", "dogwatch_session_3000="}
	for at := range len(others) + 1 {
		cookies := slices.Insert(slices.Clone(others), at, own.Name+"="+own.Value)
		caller, err := w.auth.Identify(httptest.NewRecorder(), post(cookies...))
		if err != nil || caller.User != "ana" {
			t.Errorf("with %v: %+v, %v", cookies, caller, err)
		}
	}
	// A cookie of an earlier version, without the port in its name, is accepted too.
	caller, err := w.auth.Identify(httptest.NewRecorder(), post("dogwatch_session="+own.Value))
	if err != nil || caller.User != "ana" {
		t.Errorf("an older cookie: %+v, %v", caller, err)
	}

	response := httptest.NewRecorder()
	if _, err := w.auth.Logout(response, post(others...)); err != nil || len(response.Header()) > 0 {
		t.Errorf("to log out with foreign cookies: %v, %v", response.Header(), err)
	}
	if _, err := w.auth.Logout(response, post(append(others, own.Name+"="+own.Value)...)); err != nil {
		t.Fatal(err)
	}
	for _, c := range response.Result().Cookies() {
		if c.Name != own.Name || c.Path != own.Path || c.MaxAge >= 0 {
			t.Errorf("to log out touches %v", c)
		}
	}
	if len(response.Result().Cookies()) != 1 || response.Header().Get("Clear-Site-Data") != "" {
		t.Errorf("to log out responds with %v", response.Header())
	}
}
