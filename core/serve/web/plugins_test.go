package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/internal/gallery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func somePlugins() []service.Plugin {
	triggers, mine, bad := webtest.PluginIn("triggers", plugin.Running), webtest.PluginIn("my-plugin", plugin.Untrusted),
		webtest.PluginIn("bad", plugin.Broken)
	triggers.Builtin, triggers.PID, triggers.Memory, triggers.Restarts, triggers.Since = true, 4711, 21_500_000, 2,
		sdk.TimeOf(webtest.Noon.Add(-time.Hour))
	triggers.Types = []plugin.TypeName{{Kind: kind.Trigger, Type: "smtp"}, {Kind: kind.Trigger, Type: "ntfy"}}
	mine.Error, mine.SHA256, mine.Grants = "its file changed since it was trusted", strings.Repeat("ab", 32),
		[]string{"engine"}
	bad.Error = "it crashed 5 times in a row and is stopped"
	registries := webtest.PluginIn("registries", plugin.Stopped)
	registries.Builtin = true
	return []service.Plugin{triggers, registries, mine, bad, webtest.PluginIn("poor", plugin.Backoff),
		webtest.PluginIn("odd", plugin.Rejected), webtest.PluginIn("new", plugin.Starting),
		webtest.PluginIn("idle", plugin.Asleep)}
}

func TestPluginPage(t *testing.T) {
	u := withFakes(t, func(f *fakeService) { f.fakePlugins = fakePlugins{all: somePlugins()} })
	_, body := get(t, u, "/plugins")
	webtest.Contains(t, body, "8 plugins, 1 running, 4 failed, 21.5 MB in total", "4711", "21.5 MB", "Provides 2 types",
		`<a href="/base/plugins/types/trigger/smtp">smtp</a>`,
		`action="/base/plugins/my-plugin/trust"><input type="hidden" name="sha256" value="`+strings.Repeat("ab", 32)+
			`">`, `action="/base/plugins/triggers/restart"`, "Not needed", "Untrusted", "Failed",
		"Asleep", "It starts by itself as soon as it is needed.",
		strings.Repeat("ab", 32), "engine")
	if n := strings.Count(body, "/trust\""); n != 1 {
		t.Errorf("%d plugins can be trusted", n)
	}
}

func TestPluginPageShowsWhatWasInstalled(t *testing.T) {
	all := somePlugins()
	all[2].Installed = &install.Status{
		Name: "my-plugin", Pin: install.Pin{Ref: "ghcr.io/me/lamp:1.0"}, KeyName: "minisign 12AB", Previous: "0.9",
		Available: "ghcr.io/me/lamp:1.1",
	}
	u := withFakes(t, func(f *fakeService) { f.fakePlugins = fakePlugins{all: all} })
	_, body := get(t, u, "/plugins")
	webtest.Contains(t, body, "<dd class=\"tag wrap\">ghcr.io/me/lamp:1.0</dd>", "by minisign 12AB", "0.9",
		"A newer version is available: <code>ghcr.io/me/lamp:1.1</code>", "dogwatch plugin update my-plugin")
	if n := strings.Count(body, "A newer version"); n != 1 {
		t.Errorf("%d plugins have a newer version", n)
	}
	_, body = get(t, u, "/")
	webtest.Contains(t, body, "<li>Plugin my-plugin: a newer version is available, ghcr.io/me/lamp:1.1.")
}

// installedPlugin has a plugin that was granted one of the two capabilities it asks for.
func installedPlugin(b service.Plugin) service.Plugin {
	b.Installed = &install.Status{
		Name: b.Name, Pin: install.Pin{Ref: "ghcr.io/me/lamp:1.0"}, Granted: []string{"credentials"},
	}
	b.Requested, b.Grants = []string{"credentials", "engine", "run"}, []string{"credentials", "run"}
	return b
}

func TestGrantPlugin(t *testing.T) {
	done := []string{}
	all := somePlugins()
	all[2] = installedPlugin(all[2])
	fake := fakePlugins{all: all, calls: &done}
	u := withFakes(t, func(f *fakeService) { f.fakePlugins = fake })
	_, body := get(t, u, "/plugins")
	webtest.Contains(t, body, ">Grant engine</button>", "It asks for your container engine, and with it the machine.",
		">Take away credentials</button>", "It has the logins of your registries.")
	if strings.Contains(body, "away run") {
		t.Error("what the configuration grants can be taken away on the page")
	}
	for _, granted := range []string{"true", "false"} {
		r, _ := post(t, u, "/plugins/my-plugin/grant", url.Values{"capability": {"engine"}, "granted": {granted}})
		if r.StatusCode != http.StatusSeeOther {
			t.Errorf("status %d", r.StatusCode)
		}
		_, body := get(t, u, strings.TrimPrefix(r.Header.Get("Location"), "/base"))
		webtest.Contains(t, body, "is being started again.")
	}
	if !slices.Equal(done, []string{"grant my-plugin engine true", "grant my-plugin engine false"}) {
		t.Errorf("done: %q", done)
	}
	token := func(r *http.Request) *http.Request {
		return r.WithContext(auth.With(r.Context(), auth.Identity{User: "ci", Method: "token", Scope: auth.Write}))
	}
	_, body = respond(t, u, token(httptest.NewRequest(http.MethodGet, "/plugins", nil)))
	if strings.Contains(body, "/grant\"") {
		t.Error("the page offers it to a token")
	}
	status, body := respond(t, u,
		token(httptest.NewRequest(http.MethodPost, "/plugins/my-plugin/grant?capability=engine&granted=true", nil)))
	if status != http.StatusForbidden || len(done) != 2 {
		t.Errorf("status %d, done %q", status, done)
	}
	webtest.Contains(t, body, "A token cannot say what plugins are granted.")
	fake.err = errors.New("it does not ask for that")
	u = withFakes(t, func(f *fakeService) { f.fakePlugins = fake })
	if r, body := post(t, u, "/plugins/my-plugin/grant", url.Values{
		"capability": {"x"},
	}); r.StatusCode != http.StatusConflict || !strings.Contains(body, "It does not ask for that.") {
		t.Errorf("status %d: %s", r.StatusCode, body)
	}
}

// TestPluginWhoseFileWasReplaced: it runs, and is trusted where others are that do not.
func TestPluginWhoseFileWasReplaced(t *testing.T) {
	replaced := webtest.PluginIn("my-plugin", plugin.Running)
	replaced.Builtin, replaced.Error, replaced.SHA256 = false, "its file changed since it was trusted",
		strings.Repeat("ab", 32)
	fake := fakePlugins{all: []service.Plugin{replaced, webtest.PluginIn("triggers", plugin.Running)}, calls: &[]string{}}
	_, body := get(t, withFakes(t, func(f *fakeService) { f.fakePlugins = fake }), "/plugins")
	webtest.Contains(t, body, "2 running, 1 failed", "The process of the file before goes on",
		"its file changed since it was trusted", ">Trust this file</button>")
	if n := strings.Count(body, ">Trust this file</button>"); n != 1 {
		t.Errorf("%d plugins can be trusted", n)
	}
}

func TestRestartAndTrustPlugin(t *testing.T) {
	done := []string{}
	fake := fakePlugins{all: somePlugins(), calls: &done}
	u := withFakes(t, func(f *fakeService) { f.fakePlugins = fake })
	for _, action := range []string{"restart", "trust"} {
		r, _ := post(t, u, "/plugins/my-plugin/"+action, url.Values{"sha256": {strings.Repeat("ab", 32)}})
		if r.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: status %d", action, r.StatusCode)
		}
		_, body := get(t, u, strings.TrimPrefix(r.Header.Get("Location"), "/base"))
		webtest.Contains(t, body, "my-plugin is ")
	}
	if !slices.Equal(done, []string{"restart my-plugin", "trust my-plugin " + strings.Repeat("ab", 32)}) {
		t.Errorf("done: %q", done)
	}
	_, body := get(t, u, "/plugins?did=restarted&to=not-there")
	if strings.Contains(body, "is being restarted") {
		t.Error("the address made the page say something of a plugin that is not there")
	}

	fake.err = errors.New("its checksum is pinned by the configuration; s3cret")
	u = withFakes(t, func(f *fakeService) { f.fakePlugins = fake })
	r, body := post(t, u, "/plugins/my-plugin/trust", nil)
	if r.StatusCode != http.StatusConflict || strings.Contains(body, "s3cret") {
		t.Errorf("status %d: %s", r.StatusCode, body)
	}
	webtest.Contains(t, body, "Its checksum is pinned by the configuration")
}

// TestTrustPluginForbidsTokens: only a logged-in user says which files run.
func TestTrustPluginForbidsTokens(t *testing.T) {
	done := []string{}
	u := withFakes(t, func(f *fakeService) { f.fakePlugins = fakePlugins{all: somePlugins(), calls: &done} })
	token := func(r *http.Request) *http.Request {
		return r.WithContext(auth.With(r.Context(), auth.Identity{User: "ci", Method: "token", Scope: auth.Write}))
	}
	_, body := respond(t, u, token(httptest.NewRequest(http.MethodGet, "/plugins", nil)))
	if strings.Contains(body, "/trust\"") {
		t.Error("the page offers it")
	}
	webtest.Contains(t, body, "Who is logged in can trust it.")
	status, body := respond(t, u,
		token(httptest.NewRequest(http.MethodPost, "/plugins/my-plugin/trust?sha256="+strings.Repeat("ab", 32), nil)))
	if status != http.StatusForbidden || len(done) > 0 {
		t.Errorf("status %d, done %q", status, done)
	}
	webtest.Contains(t, body, "people who are logged in")
}

// TestGalleryOnThePluginPage: what can be installed is listed; a change is confirmed before it is made, and only people
// can have one made.
func TestGalleryOnThePluginPage(t *testing.T) {
	done := []string{}
	all := somePlugins()
	all[2] = installedPlugin(all[2])
	all[2].Installed.Previous = "0.9"
	one := func(name, reference, installed, newer string, builtIn bool) install.Offer {
		return install.Offer{
			Plugin: gallery.Plugin{Name: name, Kind: kind.Trigger, Type: "x", Does: "rings <b>bells</b>",
				Source: "https://git.example.org/" + name},
			Reference: reference, Installed: installed, Newer: newer, BuiltIn: builtIn,
		}
	}
	fake := fakePlugins{all: all, calls: &done, offers: []install.Offer{
		one("bell", "ghcr.io/dogwatch/bell:1.2.3", "", "", true), one("gong", "", "", "", true),
		one("horn", "ghcr.io/eve/horn:1", "", "", false),
		one("drum", "ghcr.io/dogwatch/drum:1.2.3", "1.0.0", "ghcr.io/dogwatch/drum:1.2.3", true),
	}}
	u := withFakes(t, func(f *fakeService) { f.fakePlugins = fake })
	_, body := get(t, u, "/plugins")
	webtest.Contains(t, body, "<h2>Gallery</h2>", `<button name="gallery" value="newest">`, "rings &lt;b&gt;bells&lt;/b&gt;", `aria-label="Install bell of the gallery"`,
		"1.0.0 is installed", `aria-label="Update drum of the gallery"`, `aria-label="Roll back my-plugin"`)
	for _, absent := range []string{"Install gong", "Install horn", "Install drum", "<b>bells"} {
		if strings.Contains(body, absent) {
			t.Errorf("the page has %s", absent)
		}
	}
	_, body = post(t, u, "/plugins/bell/change", url.Values{"do": {"install"}, "gallery": {"newest"}})
	webtest.Contains(t, body, "Install bell?", "ghcr.io/dogwatch/bell:1.2.3", "It is granted nothing.", `name="sure" value="1"`,
		`action="/base/plugins/bell/change"`, `name="gallery" value="newest"`)
	if len(done) > 0 {
		t.Errorf("done without a confirmation: %q", done)
	}
	for i, do := range []string{"install", "update", "rollback"} {
		if r, body := post(t, u, "/plugins/bell/change", url.Values{"do": {do}, "sure": {"1"}}); r.StatusCode !=
			http.StatusSeeOther {
			t.Fatalf("%s: status %d: %s", do, r.StatusCode, body)
		}
		for body = ""; strings.Count(body, "Bell 1.2.3 is") <= i; {
			_, body = get(t, u, "/plugins")
		}
	}
	if want := []string{"install bell false", "update bell false", "rollback bell false"}; !slices.Equal(done, want) {
		t.Errorf("done: %q", done)
	}
	webtest.Contains(t, body, "Bell 1.2.3 is installed.", "Bell 1.2.3 is back.")
	if r, _ := post(t, u, "/plugins/bell/change", url.Values{"do": {"burn"}}); r.StatusCode !=
		http.StatusUnprocessableEntity {
		t.Errorf("status %d", r.StatusCode)
	}
	token := func(r *http.Request) *http.Request {
		return r.WithContext(auth.With(r.Context(), auth.Identity{User: "ci", Method: "token", Scope: auth.Write}))
	}
	status, body := respond(t, u, token(httptest.NewRequest(http.MethodPost, "/plugins/bell/change?do=install&sure=1", nil)))
	if status != http.StatusForbidden || len(done) != 3 {
		t.Errorf("status %d, done %q", status, done)
	}
	webtest.Contains(t, body, "A token cannot install plugins.")
	_, body = respond(t, u, token(httptest.NewRequest(http.MethodGet, "/plugins", nil)))
	if strings.Contains(body, "/change\"") {
		t.Error("the page offers it to a token")
	}
}
