package e2e

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
)

// signIn fills in the form of the provider, where the page is.
func (b *tab) signIn(name string) {
	b.t.Helper()
	b.says("Who are you?")
	b.click("input[name=user]")
	b.press(name)
	b.click("input[name=password]")
	b.press(name + " at the provider\r")
}

const toProvider = "a[href*='/auth/oidc/home/redirect']"

// TestOIDCLoginAndLogoutInBrowser is a day with a provider: in, a token, the sessions, and out of everything.
func TestOIDCLoginAndLogoutInBrowser(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	p := newIdentityProvider(t)
	p.up()
	d := install(t, p.env("DOGWATCH_AUTH_OIDC_HOME_LOGOUTRETURN=true", "DOGWATCH_AUTH_OIDC_HOME_GROUPS=admins")...).start()
	p.trusts(d.url)
	b := openTab(t, d.url)
	b.open("/settings")
	b.click(toProvider)
	b.signIn("ana")
	b.says("Create a token")
	if at := js[string](b, "location.pathname"); at != "/settings" {
		t.Errorf("the login ends at %s", at)
	}
	b.says("ana@example.org")

	b.click("input[name=name]")
	b.press("homepage")
	b.click("form[action='/settings/tokens'] button")
	b.says("This is the token homepage")
	token := js[string](b, "document.querySelector('#tokens .verdict pre').innerText.trim()")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+"/api/summary", nil)
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the token lets in with %s", resp.Status)
	}

	phone, desk := newUserAgent(t, d.url), newUserAgent(t, d.url)
	phone.login("ana")
	phone.mustBe("ana")
	desk.login("ana")
	b.open("/settings")
	b.says("End all others (2)")
	for name, width := range map[string]int64{"phone": 390, "desk": 1440} {
		b.size(width, 860)
		js[bool](b, "(document.querySelector('#sessions').scrollIntoView(), true)")
		b.shot("sessions-" + name)
		if over := js[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			t.Errorf("at %d pixels the page is %d too wide", width, over)
		}
	}
	b.click("#sessions tbody tr:not(:has(.second)) button")
	b.says("End all others (1)")
	b.click("#sessions button.danger")
	b.until("document.querySelectorAll('#sessions tbody tr').length === 1")
	for _, v := range []*userAgent{phone, desk} {
		if got := v.user(); strings.Contains(got, "example.org") {
			t.Errorf("a session goes on: %s", got)
		}
	}
	if form, _ := phone.begin(); form != nil {
		t.Error("the provider asks again whom it knows")
	}
	phone.mustBe("ana")

	b.click(".who")
	b.click("form.logout button")
	b.says("Sign out of everything?")
	b.click("button")
	b.says("Log in with home")
	if at := js[string](b, "location.href"); at != d.url+"/login?stay" {
		t.Errorf("the logout ends at %s", at)
	}
	b.shot("logged-out")
	b.open("/")
	b.click(toProvider)
	b.mayFail()
	b.signIn("bob") // it asks again: the session there is over, too
	b.says("The user bob@example.org may not log in: neither is the name in auth.oidc.home.users nor a group of theirs in auth.oidc.home.groups.")
	b.shot("refused")
}

// TestOIDCProviderDownAtStart: Dogwatch starts, says so on the login page, and goes on once the provider is there.
func TestOIDCProviderDownAtStart(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	p := newIdentityProvider(t)
	d := install(t, p.env()...).start()
	p.trusts(d.url)
	b := openTab(t, d.url)
	b.mayFail()
	b.open("/")
	b.click(toProvider)
	b.says("The provider cannot be asked now: ask oidc.home for its settings")
	b.shot("down")
	p.up()
	v := newUserAgent(t, d.url)
	v.untilForm()
	b.click(toProvider)
	b.signIn("ana")
	b.says("ana@example.org")
}

// TestOIDCProviderDownDuringLogin: a user who is at the provider when it goes down gets an error page, and may try
// again.
func TestOIDCProviderDownDuringLogin(t *testing.T) {
	t.Parallel()
	p := newIdentityProvider(t)
	p.up()
	d := install(t, p.env()...).start()
	p.trusts(d.url)
	v := newUserAgent(t, d.url)
	form, said := v.begin()
	if form == nil {
		t.Fatal(said)
	}
	v.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := v.client.PostForm(form.String(), url.Values{"user": {"ana"}, "password": {"ana at the provider"}})
	must(t, err)
	resp.Body.Close()
	back := resp.Header.Get("Location")
	p.down()
	status, _, body := v.do(http.MethodGet, back, nil)
	if status != http.StatusBadGateway ||
		!strings.Contains(body, "The provider cannot be asked now: ask oidc.home for the login") ||
		!strings.Contains(body, "Log in with home") {
		t.Errorf("%d: %s", status, body)
	}
	v.client.CheckRedirect = nil
	p.up() // with other keys
	v.login("ana")
	v.mustBe("ana")
}

// TestOIDCRejectsWrongTokens: a wrong issuer, a wrong clock, other keys.
func TestOIDCRejectsWrongTokens(t *testing.T) {
	t.Parallel()
	p := newIdentityProvider(t)
	p.up()
	d := install(t, p.env()...).start()
	p.trusts(d.url)
	p.set("issuer", "https://evil.example.org")
	v := newUserAgent(t, d.url)
	if form, said := v.begin(); form != nil ||
		!strings.Contains(said, `its issuer is &#34;https://evil.example.org&#34;`) {
		t.Errorf("a wrong issuer: %s", said)
	}
	p.set("issuer", p.url())
	v.untilForm()

	for skew, fine := range map[string]bool{"2m": true, "-2m": true, "1h": false, "-1h": false} {
		p.set("skew", skew)
		v := newUserAgent(t, d.url)
		status, said := v.login("ana")
		if fine {
			v.mustBe("ana")
		} else if status != http.StatusUnauthorized ||
			!strings.Contains(said, "compare the clocks of this machine and of the provider") {
			t.Errorf("a clock that is off by %s: %d %s", skew, status, said)
		}
	}
	p.set("skew", "0s")
	for _, algorithm := range []string{"ES256", "RS256", "RS256"} {
		p.set("key", algorithm)
		v := newUserAgent(t, d.url)
		v.login("ana")
		v.mustBe("ana")
	}
}

// TestOIDCBehindReverseProxy: under a path, behind a proxy that speaks TLS.
func TestOIDCBehindReverseProxy(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	p := newIdentityProvider(t)
	p.up()
	var to *url.URL
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.SetXForwarded()
		}}).ServeHTTP(w, r)
	}))
	// the browser says more than once that it does not know the certificate
	proxy.Config.ErrorLog = log.New(io.Discard, "", 0)
	proxy.StartTLS()
	t.Cleanup(proxy.Close)
	d := install(t,
		p.env("DOGWATCH_PUBLIC_URL="+proxy.URL+"/dog", "DOGWATCH_SERVER_BASEPATH=/dog",
			"DOGWATCH_SERVER_TRUSTEDPROXIES=127.0.0.1",
			"DOGWATCH_AUTH_OIDC_HOME_REDIRECT=true", "DOGWATCH_AUTH_OIDC_HOME_LOGOUTRETURN=true")...).start()
	var err error
	to, err = url.Parse(d.url)
	must(t, err)
	p.trusts(proxy.URL + "/dog")

	b := openTab(t, proxy.URL+"/dog")
	_, err = chromedp.Call(b.ctx, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{
		Ignore: true,
	})
	must(t, err)
	b.open("/settings") // and straight on to the provider
	b.signIn("ana")
	b.says("ana@example.org")
	if at := js[string](b, "location.href"); at != proxy.URL+"/dog/settings" {
		t.Errorf("the login ends at %s", at)
	}
	if cookies := js[string](b, "document.cookie"); strings.Contains(cookies, "dogwatch_session") {
		t.Error("pages can read the session")
	}
	b.click(".who")
	b.click("form.logout button")
	b.says("Sign out of everything?")
	b.click("button")
	b.says("Log in with home")
	if at := js[string](b, "location.href"); at != proxy.URL+"/dog/login?stay" {
		t.Errorf("the logout ends at %s", at)
	}
	b.open("/settings")
	b.says("Who are you?")
}
