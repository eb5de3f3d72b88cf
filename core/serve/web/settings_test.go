package web

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func TestSettingsPage(t *testing.T) {
	u := withFakes(t, func(f *fakeService) {
		f.fakeComponents, f.fakePlugins = fakeComponents{all: []service.Component{webtest.SMTP()}},
			fakePlugins{all: somePlugins()}
		f.fakeSettings = &fakeSettings{level: "debug", about: service.About{
			Version: "1.2.3", ConfigFile: "/config/dogwatch.yaml", Started: webtest.Noon,
			Problems: []string{"server.prot: unknown setting; did you mean server.port?"},
			Settings: []service.Setting{
				{Name: "log.level", Value: "debug", Source: "env DOGWATCH_LOG_LEVEL"},
				{Name: "log.format", Value: "text", Source: "default"},
				{Name: "store.path", Value: "/store", Source: "default"}, {Name: "public.url", Source: "default"},
			},
		}}
	})
	_, body := get(t, u, "/settings")
	webtest.Contains(t, body, "1 trigger", "No watchers", "8 plugins", "/config/dogwatch.yaml", "1 problem in the configuration",
		"did you mean server.port?",
		"debug", "environment variable DOGWATCH_LOG_LEVEL", `href="/base/settings/api"`, `href="/base/watchers"`)
	webtest.Contains(t, request(u, "GET", "/settings", nil, "Accept-Language", "de").Body.String(),
		`<span lang="en">server.prot</span>: Einstellung unbekannt; meinten Sie server.port?`)
	changed, others, _ := strings.Cut(body, "Default values")
	if !strings.Contains(changed, "log.level<") || !strings.Contains(others, "log.format<") ||
		strings.Contains(changed, "log.format<") || strings.Contains(others, "log.level<") {
		t.Error("what is set is not before the defaults, and only there")
	}
	_, body = get(t, u, "/settings?q=+STORE")
	if !strings.Contains(body, "store.path<") || strings.Contains(body, "log.format<") {
		t.Error("a search for the store does not find its setting alone")
	}
	_, body = get(t, u, "/settings?q="+url.QueryEscape(webtest.Evil))
	webtest.Contains(t, body, "No setting has", `href="/base/settings#all">Show all`)
}

func TestLogLevelSettings(t *testing.T) {
	settings := &fakeSettings{
		level: "info",
		about: service.About{
			Settings: []service.Setting{{Name: "log.level", Value: "INFO", Source: "default"}, {
				Name: "log.levels", Value: "check=trace", Source: "env",
			}},
		},
	}
	u := withFakes(t, func(f *fakeService) { f.fakeSettings = settings })
	_, body := get(t, u, "/settings")
	webtest.Contains(t, body, `<option value="info" selected>`, `action="/base/settings/log"`, "check=trace",
		"until the next restart.")
	res, _ := post(t, u, "/settings/log", url.Values{"level": {"debug"}})
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/base/settings#log" ||
		settings.level != "debug" {
		t.Errorf("%d to %q, level %s", res.StatusCode, res.Header.Get("Location"), settings.level)
	}
	_, body = get(t, u, "/settings")
	webtest.Contains(t, body, `<option value="debug" selected>`, `until the next restart, when it is <span class="tag">info</span> again`)
	if res, body := post(t, u, "/settings/log", url.Values{
		"level": {"loud"},
	}); res.StatusCode != http.StatusUnprocessableEntity || settings.level != "debug" {
		t.Errorf("%d, level %s: %s", res.StatusCode, settings.level, body)
	}
}

func TestLogPage(t *testing.T) {
	settings := &fakeSettings{level: "info", recent: logging.NewRecent()}
	u := withFakes(t, func(f *fakeService) { f.fakeSettings = settings })
	_, body := get(t, u, "/log")
	webtest.Contains(t, body, "Nothing was logged since Dogwatch started.", `data-live="log"`)

	log, err := logging.New(logging.Options{Output: io.Discard, Recent: settings.recent, Redactor: new(logging.Redactor)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 201 {
		log.Named("check").Info("check finished", "run", i)
	}
	log.Named("plugin").Named("triggers").Warn("it said " + webtest.Evil)
	_, body = get(t, u, "/log")
	webtest.Contains(t, body, "check finished: run=200", "<td class=\"tag subject\">plugin.triggers</td>",
		`<option>plugin</option>`, "Older entries are not shown here")
	if strings.Contains(body, "run=1<") || strings.Contains(body, "<script>alert") {
		t.Error("more than 200 entries are shown, or markup of others is not escaped")
	}
	_, body = get(t, u, "/log?part=plugin&level=warn")
	if strings.Contains(body, "check finished") || !strings.Contains(body, "plugin.triggers") {
		t.Error("the part and the level choose no entries")
	}
	for i := range 8 {
		log.Named("plugin").Error("it ended", "id", 100+i)
		log.Named("plugin").Warn("it is started again", "in", i)
	}
	_, body = get(t, u, "/log?level=warn")
	if strings.Count(body, "it ended: id=") != 1 || strings.Count(body, "it is started again") != 1 {
		t.Errorf("errors that repeat are lines each:\n%s", body)
	}
	webtest.Contains(t, body, "it ended: id=107 <span class=\"second\">(8 like this since ")
	_, body = get(t, u, "/log?part=x&level=loud")
	webtest.Contains(t, body, "No recent entry matches.")
}

// fakeSettings are settings of no program.
type fakeSettings struct {
	fakeReload
	about  service.About
	level  string
	recent *logging.Recent
}

func (f *fakeSettings) About() service.About { return f.about }

func (f *fakeSettings) LogLevel() string { return f.level }

func (f *fakeSettings) LogEntries(actor auth.Actor, filter logging.Filter) ([]logging.Entry, []string, error) {
	if actor.Scope < auth.Write {
		return nil, nil, service.ErrForbidden
	}
	entries, parts := f.recent.Entries(filter)
	return entries, parts, nil
}

func (f *fakeSettings) SetLogLevel(_ context.Context, _ auth.Actor, level string) error {
	if level == "loud" {
		return sdk.Invalid("level", "want another")
	}
	f.level = level
	return nil
}

func TestAPIPageLinksToItsSchemas(t *testing.T) {
	_, body := get(t, withFakes(t, nil), "/settings/api")
	for _, part := range strings.Split(body, `href="#schema-`)[1:] {
		if name, _, _ := strings.Cut(part, `"`); !strings.Contains(body, `id="schema-`+name+`"`) {
			t.Errorf("a link leads to the schema %q, which there is not", name)
		}
	}
	webtest.Contains(t, body, `id="op-listContainers"`, "/api/containers", "list of <a href=\"#schema-Container\">", "image",
		`<code>dogwatch.display.name</code>`)
}

// TestNotificationsOfFailedTrigger names the trigger that does not work, rather than asking for one.
func TestNotificationsOfFailedTrigger(t *testing.T) {
	u := withFakes(t, func(f *fakeService) {
		f.fakeAccess = fakeAccess{calls: new([]string)}
		f.fakeComponents = fakeComponents{all: []service.Component{
			webtest.Configured(kind.Trigger, "webpush", "phones", component.Failed),
		}}
	})
	_, body := get(t, u, "/settings/notifications")
	webtest.Contains(t, body, "The trigger webpush.phones does not work", `href="/base/triggers/webpush/phones"`)
	if strings.Contains(body, "No trigger of type webpush is configured") {
		t.Error("it asks for a trigger that is configured")
	}
}
