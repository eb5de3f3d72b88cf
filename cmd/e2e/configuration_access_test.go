package e2e

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The secrets that the installation of TestConfigurationAccess is configured with.
const (
	canaryPass     = "canary-smtp-pass"
	canaryAuth     = "Y2FuYXJ5OmF1dGg="
	canaryPath     = "canary-path"
	canaryQuery    = "canary-query"
	canaryHeader   = "canary-header"
	canaryPassword = "canary-url-password"
	canaryClient   = "canary-client-secret"
)

// asStored are the secrets that the contract has clients see as they are stored.
var asStored = map[string]string{canaryPass: "/api/triggers", canaryAuth: "/api/registries"}

func canaries() []string {
	return []string{canaryPass, canaryAuth, canaryPath, canaryQuery, canaryHeader, canaryPassword, canaryClient}
}

func canaryInstallation(t *testing.T, login ...string) *installation {
	return install(t, append([]string{
		"DOGWATCH_WATCHER_DOCKER_MAIN_HOST=127.0.0.1", "DOGWATCH_WATCHER_DOCKER_MAIN_PORT=1",
		"DOGWATCH_WATCHER_DOCKER_MAIN_CRON=0 0 1 1 *",
		"DOGWATCH_TRIGGER_SMTP_MAIN_HOST=127.0.0.1", "DOGWATCH_TRIGGER_SMTP_MAIN_PORT=1",
		"DOGWATCH_TRIGGER_SMTP_MAIN_FROM=a@example.org",
		"DOGWATCH_TRIGGER_SMTP_MAIN_TO=b@example.org", "DOGWATCH_TRIGGER_SMTP_MAIN_USER=ana",
		"DOGWATCH_TRIGGER_SMTP_MAIN_PASS=" + canaryPass,
		"DOGWATCH_TRIGGER_HTTP_MAIN_URL=http://ana:" + canaryPassword + "@127.0.0.1:1/hooks/" + canaryPath + "?key=" +
			canaryQuery,
		"DOGWATCH_TRIGGER_HTTP_MAIN_HEADERS=X-Key=" + canaryHeader,
		"DOGWATCH_REGISTRY_HUB_PRIVATE_AUTH=" + canaryAuth,
		"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://ana:" + canaryPassword + "@127.0.0.1:1",
	}, login...)...)
}

// as sends a request with a header, and returns the status and the whole answer.
func (d *daemon) as(header, method, path, body string) (int, string) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, strings.NewReader(body))
	must(d.t, err)
	if name, value, given := strings.Cut(header, ": "); given {
		req.Header.Set(name, value)
	}
	if strings.HasPrefix(path, "/api") && body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	must(d.t, err)
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	must(d.t, err)
	return resp.StatusCode, string(said)
}

// form posts a form and returns the page that it leads to.
func (d *daemon) form(header, path string, values url.Values) string {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.url+path, strings.NewReader(values.Encode()))
	must(d.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if name, value, given := strings.Cut(header, ": "); given {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	must(d.t, err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	must(d.t, err)
	return string(page)
}

// tokenOf makes a token and returns the header that carries it.
func (d *daemon) tokenOf(login, scope string) string {
	d.t.Helper()
	status, said := d.as(login, http.MethodPost, "/api/tokens", `{"name":"`+scope+`","scope":"`+scope+`"}`)
	var made struct{ Token string }
	if err := json.Unmarshal([]byte(said), &made); status/100 != 2 || err != nil || made.Token == "" {
		d.t.Fatalf("make a token: %d %s", status, said)
	}
	return "Authorization: Bearer " + made.Token
}

func basicOf(user, password string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// sessionOf logs in and returns the header that carries the session.
func sessionOf(t *testing.T, d *daemon, login string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+"/auth/login", nil)
	must(t, err)
	name, value, _ := strings.Cut(login, ": ")
	req.Header.Set(name, value)
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	resp.Body.Close()
	for _, c := range resp.Cookies() {
		if strings.HasPrefix(c.Name, "dogwatch_session") {
			return "Cookie: " + c.Name + "=" + c.Value
		}
	}
	t.Fatal("a login sets no cookie")
	return ""
}

// showing are the requests whose answers have to do with the configuration.
var showing = []string{
	"GET /api/watchers", "GET /api/watchers/docker/main", "GET /api/registries", "GET /api/registries/hub/private",
	"GET /api/registries/custom/lan",
	"GET /api/triggers", "GET /api/triggers/smtp/main", "GET /api/triggers/http/main", "GET /api/authentications",
	"GET /api/server", "GET /api/store",
	"GET /api/ready", "GET /api/plugins", "GET /api/types/trigger", "GET /api/containers", "GET /api/deliveries",
	"GET /api/summary", "GET /metrics",
	"POST /api/triggers/http/main/test", "POST /api/triggers/smtp/main/test", "POST /api/registries/custom/lan/test",
	"POST /api/watchers/docker/main/test",
	"GET /", "GET /watchers", "GET /watchers/docker/main", "GET /registries", "GET /registries/hub/private",
	"GET /registries/custom/lan",
	"GET /triggers", "GET /triggers/smtp/main", "GET /triggers/http/main", "GET /settings", "GET /plugins",
	"GET /history", "GET /history.csv",
	"GET /deliveries", "GET /deliveries.csv", "POST /triggers/http/main/test", "POST /triggers/smtp/main/test",
	"GET /api/events",
}

// TestConfigurationAccess requests everything that shows configuration as every kind of user,
// and looks for every secret: only those who run the installation see any, and
// of these only the two that the contract has them see.
func TestConfigurationAccess(t *testing.T) {
	t.Parallel()
	const password = "a-password-of-the-test"
	open := canaryInstallation(t).start()
	locked := canaryInstallation(t, "DOGWATCH_AUTH_BASIC_ANA_USER=ana", "DOGWATCH_AUTH_BASIC_ANA_HASH="+password,
		"DOGWATCH_AUTH_OIDC_HOME_DISCOVERY=http://127.0.0.1:1", "DOGWATCH_AUTH_OIDC_HOME_CLIENTID=dogwatch",
		"DOGWATCH_AUTH_OIDC_HOME_CLIENTSECRET="+canaryClient).start()
	beside := canaryInstallation(t, "DOGWATCH_AUTH_ANONYMOUS_ALL_ON=true", "DOGWATCH_AUTH_BASIC_ANA_USER=ana",
		"DOGWATCH_AUTH_BASIC_ANA_HASH="+password).start()
	ana := basicOf("ana", password)
	for _, caller := range []struct {
		name, header string
		d            *daemon
		operator     bool
	}{
		{"no login configured", "", open, true},
		{"anonymous beside a login", "", beside, false},
		{"read token", locked.tokenOf(ana, "read"), locked, false},
		{"write token", locked.tokenOf(ana, "write"), locked, false},
		{"password", ana, locked, true},
		{"session", sessionOf(t, locked, ana), locked, true},
	} {
		t.Run(caller.name, func(t *testing.T) {
			eventually(t, "the components are configured", func() bool {
				_, said := caller.d.as(caller.header, "GET", "/api/triggers", "")
				return !strings.Contains(said, `"starting"`) && strings.Contains(said, "smtp.main")
			})
			seen := map[string]bool{}
			for _, request := range showing {
				method, path, _ := strings.Cut(request, " ")
				body := ""
				if path == "/api/registries/custom/lan/test" {
					body = `{"image":"127.0.0.1:1/a/b:1"}`
				}
				status, said := caller.d.as(caller.header, method, path, body)
				if status == http.StatusUnauthorized || status == http.StatusNotFound ||
					status == http.StatusForbidden && method == "GET" {
					t.Errorf("%s: %d %s", request, status, said)
				}
				for _, canary := range canaries() {
					if !strings.Contains(said, canary) {
						continue
					}
					seen[canary] = true
					if place := asStored[canary]; !caller.operator || place == "" || method != "GET" ||
						!strings.HasPrefix(path, place) {
						at := strings.Index(said, canary)
						t.Errorf("%s shows %s: …%s…", request, canary, said[max(0, at-80):at+len(canary)])
					}
				}
			}
			for canary := range asStored {
				if caller.operator && !seen[canary] {
					t.Errorf("%s is not shown as stored", canary)
				}
			}
		})
	}
	for _, args := range [][]string{{"config", "show"}, {"config", "show", "--all"}, {"config", "validate"}} {
		stdout, stderr, _ := canaryInstallation(t).run(args...)
		for _, canary := range canaries() {
			if strings.Contains(stdout+stderr, canary) {
				t.Errorf("%v shows %s: %s%s", args, canary, stdout, stderr)
			}
		}
	}
}
