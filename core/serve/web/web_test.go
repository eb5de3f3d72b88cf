package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
)

func TestPagesSetSecurityHeaders(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web"))
	for _, path := range []string{"/", "/containers", "/containers/local/web", "/nowhere"} {
		h := request(u, "GET", path, nil).Header()
		policy := h.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'self'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the policy %q", path, policy)
		}
		if h.Get("Cache-Control") != "no-store" || !strings.Contains(h.Get("Vary"), "HX-Request") {
			t.Errorf("%s has the headers %v", path, h)
		}
	}
}

// TestFrameAncestors: pages are shown in frames of our own pages, and in those of the
// dashboards that the operator named.
func TestFrameAncestors(t *testing.T) {
	for _, test := range []struct {
		origins              []string
		ancestors, forOthers string
	}{
		{nil, "frame-ancestors 'self'", "SAMEORIGIN"},
		{[]string{"https://dash.example.org", "http://nas:7575"},
			"frame-ancestors 'self' https://dash.example.org http://nas:7575", ""},
		{[]string{"*"}, "frame-ancestors 'self' *", ""},
	} {
		u, _ := withStore(t, webtest.Container("web"))
		u.FrameAncestors = test.origins
		refused := httptest.NewRecorder()
		u.Logins = fakeLogins{}
		u.Refuse(refused, httptest.NewRequest("GET", "/", nil), http.StatusUnauthorized, "log in again")
		for path, h := range map[string]http.Header{
			"/": request(u, "GET", "/", nil).Header(), "/containers": request(u, "GET", "/containers", nil).Header(),
			"/nowhere": request(u, "GET", "/nowhere", nil).Header(), "a refusal": refused.Header(),
		} {
			parts := strings.Split(h.Get("Content-Security-Policy"), "; ")
			if got := parts[len(parts)-1]; got != test.ancestors || h.Get("X-Frame-Options") != test.forOthers {
				t.Errorf("%s with %v: %q and %q", path, test.origins, got, h.Get("X-Frame-Options"))
			}
		}
	}
}

func TestThemeCookie(t *testing.T) {
	u, _ := withStore(t)
	w := request(u, "POST", "/theme", map[string][]string{"theme": {"dark"}, "back": {"//evil.example"}})
	cookie := w.Result().Cookies()[0]
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/base/" || cookie.Value != "dark" ||
		!cookie.HttpOnly {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if page := request(u, "GET", "/", nil, "Cookie", "dogwatch-theme=dark").Body.String(); !strings.Contains(page,
		`data-theme="dark"`) {
		t.Error("the choice has no effect")
	}
	if page := request(u, "GET", "/", nil, "Cookie", "dogwatch-theme=evil").Body.String(); strings.Contains(page,
		`data-theme`) {
		t.Error("an unknown theme has an effect")
	}
}

func TestLanguageOfPages(t *testing.T) {
	u, _ := withStore(t)
	w := request(u, "POST", "/language", map[string][]string{"language": {"de"}, "back": {"/history"}})
	cookie := w.Result().Cookies()[0]
	if w.Header().Get("Location") != "/base/history" || cookie.Value != "de" || cookie.MaxAge <= 0 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w = request(u, "POST", "/language", map[string][]string{"language": {""}}); w.Result().Cookies()[0].MaxAge >= 0 {
		t.Error("the choice cannot be taken back")
	}
	for _, tt := range []struct{ header, cookie, lang, heading string }{
		{"", "", "en", "Overview"}, {"de-CH,fr", "", "de", "Übersicht"}, {"de", "en", "en", "Overview"},
		{"en", "de", "de", "Übersicht"},
	} {
		page := request(u, "GET", "/", nil, "Accept-Language", tt.header, "Cookie", language.Cookie+"="+tt.cookie).Body.String()
		if !strings.Contains(page, `<html lang="`+tt.lang+`"`) || !strings.Contains(page, "<h1>"+tt.heading+"</h1>") {
			t.Errorf("header %q, cookie %q: not the page in %s", tt.header, tt.cookie, tt.lang)
		}
	}
}
