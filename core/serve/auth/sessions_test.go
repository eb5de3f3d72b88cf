package auth

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
)

// requestWith is a request with the session of a browser.
func (w *testServer) requestWith(c *http.Client) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	caller := Identity{User: "ana", Method: "basic.main", Scope: Manage}
	if c != nil {
		caller.session = hashOf(w.cookie(c, sessionCookie))
	}
	return r.WithContext(With(r.Context(), caller))
}

func (w *testServer) sessions(r *http.Request) []Session {
	w.t.Helper()
	all, err := w.auth.Sessions(w.t.Context(), w.auth.ActorOf(r))
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// TestEndSession: sessions are listed without their secrets, and ended by their ids.
func TestEndSession(t *testing.T) {
	w := start(t, append(ana, "WUD_AUTH_BASIC_OTHER_USER=bob", "WUD_AUTH_BASIC_OTHER_HASH="+cheap)...)
	desk, phone, bobs := w.browser(), w.browser(), w.browser()
	began := w.now()
	w.login(phone, "ana", password)
	w.pass(time.Minute)
	w.login(bobs, "bob", password)
	w.pass(time.Minute)
	w.login(desk, "ana", password)
	all := w.sessions(w.requestWith(desk))
	if len(all) != 3 || !all[0].Own || all[1].Own || all[1].User != "bob" || all[1].Method != "basic.other" ||
		!all[2].Created.Equal(began) {
		t.Fatalf("%+v", all)
	}
	for _, s := range all {
		if len(s.ID) != 16 || strings.Contains(string(hashOf(w.cookie(desk, sessionCookie))), s.ID) {
			t.Errorf("the id %q", s.ID)
		}
		same(t, "logged in with an id", w.with("Cookie", sessionCookie+"="+s.ID), "nothing")
	}

	w.pass(recordUse - 2*time.Minute) // since the phone came
	w.get(phone, "/")
	if all := w.sessions(w.requestWith(desk)); all[0].ID == all[1].ID || !all[0].Used.Equal(began.Add(recordUse)) ||
		all[0].Own {
		t.Errorf("used last: %+v", all[0])
	}

	stream := Identity{session: hashOf(w.cookie(bobs, sessionCookie))}
	if err := w.auth.EndSession(t.Context(), w.auth.ActorOf(w.requestWith(desk)), all[1].ID); err != nil {
		t.Fatal(err)
	}
	same(t, "ended", w.get(bobs, "/"), "nothing")
	if w.auth.Current(t.Context(), stream) {
		t.Error("a stream would go on")
	}
	for _, id := range []string{all[1].ID, "", "x", all[0].ID[:8], strings.Repeat("0", 64)} {
		if err := w.auth.EndSession(t.Context(), w.auth.ActorOf(w.requestWith(desk)), id); !errors.Is(err,
			store.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if err := w.auth.EndOthers(t.Context(), w.auth.ActorOf(w.requestWith(desk))); err != nil {
		t.Fatal(err)
	}
	same(t, "others", w.get(phone, "/"), "nothing")
	same(t, "own", w.get(desk, "/"), "ana basic.main manage")
	// by a caller who sends the password with each request
	if err := w.auth.EndOthers(t.Context(), w.auth.ActorOf(w.requestWith(nil))); err != nil {
		t.Fatal(err)
	}
	same(t, "own, from elsewhere", w.get(desk, "/"), "nothing")

	events, err := w.store.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	ended := 0
	for _, e := range events {
		if e.Type == event.LoggedOut && e.Login.By == "ana" && e.Login.Address == "192.0.2.1" {
			ended++
		}
	}
	same(t, "recorded", ended, 3)
}

// TestRemember: a session that is not kept has no cookie age, and ends soon on the server.
func TestRemember(t *testing.T) {
	w := start(t, ana...)
	age := func(response *httptest.ResponseRecorder) int { // of the session's cookie; -2 without one
		for _, c := range response.Result().Cookies() {
			if c.Name == sessionCookie {
				return c.MaxAge
			}
		}
		return -2
	}
	const week = int(idleTime / time.Second)
	login := func(keep bool, r *http.Request) (*httptest.ResponseRecorder, *http.Request) {
		response := httptest.NewRecorder()
		if _, err := w.auth.Login(response, r, "ana", password, keep); err != nil {
			t.Fatal(err)
		}
		return response, withCookies(response)
	}
	remember := func(keep bool, r *http.Request) (*httptest.ResponseRecorder, *http.Request) {
		response := httptest.NewRecorder()
		if err := w.auth.Remember(response, r, keep); err != nil {
			t.Fatal(err)
		}
		return response, withCookies(response)
	}
	fresh := httptest.NewRequest(http.MethodPost, "/", nil)
	kept, _ := login(true, fresh)
	short, session := login(false, fresh)
	same(t, "ages", []int{age(kept), age(short)}, []int{week, 0})
	w.pass(unkeptTime - time.Second)
	response := httptest.NewRecorder()
	caller, err := w.auth.Identify(response, session)
	same(t, "a day later", []any{caller.User, err, age(response)}, []any{"ana", nil, 0})
	longer, session := remember(true, session)
	same(t, "kept after all", age(longer), week)
	w.pass(2 * unkeptTime)
	shorter, session := remember(false, session)
	same(t, "and not", age(shorter), 0)
	w.pass(unkeptTime)
	caller, err = w.auth.Identify(httptest.NewRecorder(), session)
	same(t, "two days later", []any{caller.User, err}, []any{"", nil})

	// Set before the login, it applies to the next session.
	for _, keep := range []bool{true, false} {
		response, next := remember(keep, fresh)
		same(t, "no session", age(response), -2)
		same(t, "remembered", w.auth.Keep(next), keep)
		response, _ = login(w.auth.Keep(next), next)
		for _, c := range response.Result().Cookies() {
			if c.Name == keepCookie && c.MaxAge >= 0 {
				t.Error("the cookie outlives its login")
			}
		}
	}
	same(t, "by default", w.auth.Keep(fresh), true)
}

func withCookies(response *httptest.ResponseRecorder) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	for _, c := range response.Result().Cookies() {
		r.AddCookie(c)
	}
	return r
}

// TestOIDCMaxAgeEndsSession: after that time the provider is asked for a login again, whether the session was used or
// not.
func TestOIDCMaxAgeEndsSession(t *testing.T) {
	for setting, want := range map[string]time.Duration{
		"": 24 * time.Hour, "2h": 2 * time.Hour, "10000h": 90 * 24 * time.Hour,
	} {
		w, m := startProvider(t, "DOGWATCH_AUTH_OIDC_HOME_MAXAGE="+setting)
		c := w.browser()
		w.loginAtProvider(c, m, &providerUser{subject: "1", claims: map[string]any{}})
		began := w.now()
		step := min(want/4, idleTime/2)
		for w.get(c, "/") != "nothing" && w.now().Sub(began) < 200*24*time.Hour {
			w.pass(step)
		}
		if lasted := w.now().Sub(began); lasted < want || lasted >= want+step {
			t.Errorf("maxage %s lasts %s, want %s", setting, lasted, want)
		}
	}
	for _, wrong := range []string{"0s", "-1h", "59s"} {
		w := start(t, "WUD_AUTH_OIDC_HOME_CLIENTID=x", "WUD_AUTH_OIDC_HOME_CLIENTSECRET=y",
			"WUD_AUTH_OIDC_HOME_DISCOVERY=https://id.example.org", "WUD_AUTH_OIDC_HOME_MAXAGE="+wrong)
		if !contains(w.auth.Problems(), "auth.oidc.home.maxage") || w.auth.Open() {
			t.Errorf("%s: %v", wrong, w.auth.Problems())
		}
	}
}
