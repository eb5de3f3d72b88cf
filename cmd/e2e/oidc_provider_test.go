package e2e

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// builtProvider compiles the OpenID Connect provider, a module of its own.
var builtProvider = sync.OnceValues(func() (string, error) { return build("provider", "provider") })

const (
	clientID     = "dogwatch"
	clientSecret = "the secret of the client"
)

// identityProvider is a real provider, at an address where it can be down.
type identityProvider struct {
	t       *testing.T
	address string
	cmd     *exec.Cmd
	log     bytes.Buffer
	back    []string // where it may redirect users
}

// newIdentityProvider returns one that is down.
func newIdentityProvider(t *testing.T) *identityProvider {
	t.Helper()
	if _, err := builtProvider(); err != nil {
		plugintest.Skip(t, "chrome", err) // its module has dependencies of its own
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &identityProvider{t: t, address: l.Addr().String()}
	l.Close()
	t.Cleanup(func() {
		p.down()
		if t.Failed() {
			t.Logf("log of the provider:\n%s", tail(p.log.String(), 20))
		}
	})
	return p
}

func (p *identityProvider) url() string { return "http://" + p.address }

// up starts it, with new keys and without sessions.
func (p *identityProvider) up() {
	p.t.Helper()
	path, err := builtProvider()
	must(p.t, err)
	p.cmd = exec.Command(path)
	p.cmd.Env = append(os.Environ(), "PROVIDER_ADDRESS="+p.address, "PROVIDER_CLIENT="+clientID,
		"PROVIDER_SECRET="+clientSecret)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	must(p.t, p.cmd.Start())
	eventually(p.t, "the provider answers", func() bool {
		resp, err := http.Get(p.url() + "/keys")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	for _, to := range p.back {
		p.set("redirect", to)
	}
}

func (p *identityProvider) down() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}

// set changes how it behaves.
func (p *identityProvider) set(what, to string) {
	p.t.Helper()
	resp, err := http.PostForm(p.url()+"/control", url.Values{"set": {what}, "to": {to}})
	must(p.t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		p.t.Fatalf("set %s: %s", what, resp.Status)
	}
}

// trusts lets it redirect users back to a server.
func (p *identityProvider) trusts(server string) {
	p.t.Helper()
	to := server + "/auth/oidc/home/cb"
	p.back = append(p.back, to)
	if p.cmd != nil {
		p.set("redirect", to)
	}
}

// env configures a server that knows it as "home".
func (p *identityProvider) env(more ...string) []string {
	return append([]string{
		"DOGWATCH_AUTH_OIDC_HOME_DISCOVERY=" + p.url(), "DOGWATCH_AUTH_OIDC_HOME_CLIENTID=" + clientID,
		"DOGWATCH_AUTH_OIDC_HOME_CLIENTSECRET=" + clientSecret, "DOGWATCH_WATCHER_LOCAL_SOCKET=/nonexistent.sock",
	}, more...)
}

// userAgent is a browser without a window: it keeps cookies and follows links.
type userAgent struct {
	t      *testing.T
	client *http.Client
	server string
}

func newUserAgent(t *testing.T, server string) *userAgent {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	return &userAgent{t: t, server: server, client: &http.Client{Jar: jar, Timeout: maxWait}}
}

// do returns the status, where it ended and the text of a response, as a user gets it.
func (v *userAgent) do(method, address string, form url.Values) (int, *url.URL, string) {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, address, strings.NewReader(form.Encode()))
	must(v.t, err)
	req.Header.Set("Accept", "text/html")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := v.client.Do(req)
	must(v.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(v.t, err)
	return resp.StatusCode, resp.Request.URL, string(body)
}

// begin goes to the form of the provider and returns where that is, or what was said instead.
func (v *userAgent) begin() (form *url.URL, said string) {
	v.t.Helper()
	status, at, body := v.do(http.MethodGet, v.server+"/auth/oidc/home/redirect", nil)
	if status == http.StatusOK && strings.Contains(body, "Who are you?") {
		return at, ""
	}
	return nil, body
}

// login goes the whole way and returns the status and text of the page where that ends.
func (v *userAgent) login(name string) (int, string) {
	v.t.Helper()
	form, said := v.begin()
	if form == nil {
		v.t.Fatalf("there is no form: %s", said)
	}
	status, _, body := v.do(http.MethodPost, form.String(), url.Values{
		"user": {name}, "password": {name + " at the provider"},
	})
	return status, body
}

// user returns who the server thinks this is.
func (v *userAgent) user() string {
	v.t.Helper()
	_, _, body := v.do(http.MethodGet, v.server+"/auth/user", nil)
	return body
}

func (v *userAgent) mustBe(name string) {
	v.t.Helper()
	if got := v.user(); !strings.Contains(got, name+"@example.org") {
		v.t.Errorf("the server knows %s, want %s", got, name)
	}
}

// untilForm waits for a provider that was down a moment ago.
func (v *userAgent) untilForm() {
	v.t.Helper()
	eventually(v.t, "the form of the provider", func() bool {
		form, _ := v.begin()
		if form == nil {
			time.Sleep(100 * time.Millisecond)
		}
		return form != nil
	})
}
