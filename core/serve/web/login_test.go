package web

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
)

// fakeLogins knows ana, whose password is "right".
type fakeLogins struct {
	open       bool
	strategies []auth.Strategy
	err        error
	elsewhere  string
}

func (f fakeLogins) Open() bool { return f.open }

func (f fakeLogins) Strategies() []auth.Strategy { return f.strategies }

func (f fakeLogins) Login(
	w http.ResponseWriter, _ *http.Request, user, password string, keep bool,
) (auth.Identity, error) {
	if f.err != nil {
		return auth.Identity{}, f.err
	}
	if user != "ana" || password != "right" {
		return auth.Identity{}, auth.ErrBadCredentials
	}
	http.SetCookie(w, &http.Cookie{Name: "session", Value: strconv.FormatBool(keep)})
	return auth.Identity{User: user}, nil
}

func (f fakeLogins) Logout(http.ResponseWriter, *http.Request) (string, error) {
	return f.elsewhere, f.err
}

func (fakeLogins) ActorOf(r *http.Request) auth.Actor {
	return auth.Actor{Identity: auth.From(r.Context())}
}

var (
	byPassword = auth.Strategy{Type: "basic", Name: "Login"}
	byProvider = auth.Strategy{Type: "oidc", Name: "home"}
)

func withLogins(t *testing.T, f fakeLogins) *UI {
	t.Helper()
	return newUI(t, Options{BasePath: "/dog", Logins: f}, newFakeService())
}

func TestLoginPage(t *testing.T) {
	u := withLogins(t, fakeLogins{strategies: []auth.Strategy{byPassword, byProvider}})
	status, body := get(t, u, "/login?next=/containers%3Fq%3Da")
	webtest.Contains(t, body, `action="/dog/login"`, `name="next" value="/containers?q=a"`,
		`href="/dog/auth/oidc/home/redirect?next=%2Fcontainers%3Fq%3Da"`, "Log in with home",
		`autocomplete="current-password"`)
	if status != http.StatusOK || strings.Contains(body, "<nav") {
		t.Errorf("%d: whoever is not logged in needs no navigation", status)
	}
	for _, next := range []string{"//evil.com", "https://evil.com", `"><script>alert(1)</script>`, "/\\evil.com"} {
		_, body := get(t, u, "/login?next="+url.QueryEscape(next))
		if strings.Contains(body, "evil") || strings.Contains(body, "<script") {
			t.Errorf("%q is in the page", next)
		}
	}
	_, body = get(t, withLogins(t, fakeLogins{}), "/login")
	webtest.Contains(t, body, "Nobody can log in")
}

func TestLoginPageRedirects(t *testing.T) {
	straight := byProvider
	straight.Redirect = true
	for path, test := range map[string]struct {
		logins fakeLogins
		to     string
	}{
		"/login?next=/a": {fakeLogins{open: true}, "/dog/a"},
		"/login": {fakeLogins{strategies: []auth.Strategy{straight, byPassword}},
			"/dog/auth/oidc/home/redirect"},
		"/login?next=/b":      {fakeLogins{strategies: []auth.Strategy{straight}}, "/dog/auth/oidc/home/redirect?next=%2Fb"},
		"/login?stay":         {fakeLogins{strategies: []auth.Strategy{straight}}, ""},
		"/login?next=//b.com": {fakeLogins{strategies: []auth.Strategy{byProvider}}, ""},
	} {
		u := withLogins(t, test.logins)
		w := httptest.NewRecorder()
		u.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if got := w.Header().Get("Location"); got != test.to {
			t.Errorf("%s leads to %q, want %q", path, got, test.to)
		}
	}
}

// TestLoginRejectsOpenRedirect: a login leads to a path on this server.
func TestLoginRejectsOpenRedirect(t *testing.T) {
	u := withLogins(t, fakeLogins{strategies: []auth.Strategy{byPassword}})
	for next, to := range map[string]string{
		"": "/dog/", "/containers": "/dog/containers", "//evil.com": "/dog/", "https://evil.com": "/dog/",
	} {
		resp, _ := post(t, u, "/login", url.Values{"user": {"ana"}, "password": {"right"}, "next": {next}})
		if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != to ||
			resp.Header.Get("Set-Cookie") == "" {
			t.Errorf("%q: %d to %q", next, resp.StatusCode, resp.Header.Get("Location"))
		}
	}
}

func TestLoginForm(t *testing.T) {
	u := withLogins(t, fakeLogins{strategies: []auth.Strategy{byPassword}})
	for keep, want := range map[string]string{"1": "session=true", "": "session=false"} {
		form := url.Values{"user": {"ana"}, "password": {"right"}}
		if keep != "" {
			form.Set("keep", keep)
		}
		if resp, _ := post(t, u, "/login", form); resp.Header.Get("Set-Cookie") != want {
			t.Errorf("keep %q: %s", keep, resp.Header.Get("Set-Cookie"))
		}
		form.Set("password", "wrong")
		if _, body := post(t, u, "/login", form); strings.Contains(body, `value="1" checked`) != (keep != "") {
			t.Errorf("the choice %q is forgotten: %s", keep, body)
		}
	}
	resp, body := post(t, u, "/login", url.Values{"user": {webtest.Evil}, "password": {"secret-typed-wrong"}, "next": {"/a"}})
	if resp.StatusCode != http.StatusUnauthorized || strings.Contains(body, "secret-typed-wrong") {
		t.Errorf("%d: %s", resp.StatusCode, body)
	}
	webtest.Contains(t, body, "Wrong username or password.", `value="/a"`)
	webtest.MustBeInert(t, body)
	resp, body = post(t, withLogins(t, fakeLogins{err: &auth.ThrottledError{Wait: 90 * time.Second}}), "/login", nil)
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "90" {
		t.Errorf("%d, %v", resp.StatusCode, resp.Header)
	}
	webtest.Contains(t, request(u, http.MethodGet, "/login?next=/a", nil).Body.String(), "Log in to continue.")
	webtest.Contains(t, body, "Too many wrong logins: try again in 1 min 30 s.")
	resp, body = post(t, withLogins(t, fakeLogins{err: errors.New("disk full")}), "/login", nil)
	if resp.StatusCode != http.StatusInternalServerError || strings.Contains(body, "disk full") {
		t.Errorf("%d: %s", resp.StatusCode, body)
	}
	resp, _ = post(t, u, "/login", url.Values{"user": {strings.Repeat("x", page.MaxForm)}})
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("the status of a large form is %d", resp.StatusCode)
	}
}

// TestBrokenFormNeedsNoPage: clients that stall in the middle of a form are closed by the thousand, and to render a
// page for each would need more memory than the bound on what they may send.
func TestBrokenFormNeedsNoPage(t *testing.T) {
	u := withLogins(t, fakeLogins{})
	broken := &net.OpError{Op: "read", Err: net.ErrClosed}
	for _, err := range []error{io.ErrUnexpectedEOF, broken, os.ErrDeadlineExceeded} {
		r := httptest.NewRequest(http.MethodPost, "/login", iotest.ErrReader(err))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if status, body := respond(t, u, r); status != http.StatusBadRequest || strings.Contains(body, "<html") {
			t.Errorf("%v: %d %s", err, status, body)
		}
	}
}

func TestLogoutPage(t *testing.T) {
	_, body := post(t,
		withLogins(t, fakeLogins{
			strategies: []auth.Strategy{byPassword}, elsewhere: "https://id.example.org/end?client_id=x&y=z",
		}), "/logout", nil)
	webtest.Contains(t, body, "You are logged out.", `href="https://id.example.org/end?client_id=x&amp;y=z"`,
		`http-equiv="refresh" content="0; url=https://id.example.org/end?client_id=x&amp;y=z"`)
	if _, body := get(t, withLogins(t, fakeLogins{strategies: []auth.Strategy{byPassword}}),
		"/login"); strings.Contains(body, "refresh") {
		t.Error("the page leaves by itself")
	}
	_, body = post(t, withLogins(t, fakeLogins{elsewhere: "javascript:alert(1)"}), "/logout", nil)
	if strings.Contains(body, "javascript") {
		t.Error("a script is linked")
	}
}

// TestRefuseRendersLoginPage: a page that the API has rendered is as well protected, and shows what others say as text.
func TestRefuseRendersLoginPage(t *testing.T) {
	u := withLogins(t, fakeLogins{strategies: []auth.Strategy{byProvider}})
	w := httptest.NewRecorder()
	u.Refuse(w, httptest.NewRequest(http.MethodGet, "/x", nil), http.StatusUnauthorized, "ünal "+webtest.Evil)
	if w.Code != http.StatusUnauthorized || w.Header().Get("Content-Security-Policy") != contentPolicy {
		t.Errorf("%d, %v", w.Code, w.Header())
	}
	webtest.MustBeInert(t, w.Body.String())
	webtest.Contains(t, w.Body.String(), "Ünal")
}
