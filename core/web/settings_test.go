package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/service"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func TestSettingsPage(t *testing.T) {
	u := withFakes(t, func(f *fakeService) {
		f.fakeComponents, f.fakePlugins = fakeComponents{all: []service.Component{smtp()}}, fakePlugins{all: somePlugins()}
		f.fakeSettings = &fakeSettings{level: "debug", about: service.About{
			Version: "1.2.3", ConfigFile: "/config/dogwatch.yaml", Started: noon, Problems: []string{"server.prot: unknown setting; did you mean server.port?"},
			Settings: []service.Setting{
				{Name: "log.level", Value: "debug", Source: "env DOGWATCH_LOG_LEVEL"}, {Name: "log.format", Value: "text", Source: "default"},
				{Name: "store.path", Value: "/store", Source: "default"}, {Name: "public.url", Source: "default"},
			},
		}}
	})
	_, body := get(t, u, "/settings")
	contains(t, body, "1 trigger", "0 watchers", "7 plugins", "/config/dogwatch.yaml", "1 problem in the configuration", "did you mean server.port?",
		"debug", "env DOGWATCH_LOG_LEVEL", "1 set", `href="/base/settings/api"`, `href="/base/watchers"`)
	if n := strings.Count(body, "<details open"); n != 1 {
		t.Errorf("%d sections are open, want the one in which something is set", n)
	}
}

func TestLogLevel(t *testing.T) {
	settings := &fakeSettings{level: "info", about: service.About{Settings: []service.Setting{{Name: "log.level", Value: "INFO", Source: "default"}, {Name: "log.levels", Value: "check=trace", Source: "env"}}}}
	u := withFakes(t, func(f *fakeService) { f.fakeSettings = settings })
	_, body := get(t, u, "/settings")
	contains(t, body, `<option value="info" selected>`, `action="/base/settings/log"`, "check=trace", "until Dogwatch starts again.")
	res, _ := post(t, u, "/settings/log", url.Values{"level": {"debug"}})
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/base/settings#log" || settings.level != "debug" {
		t.Errorf("%d to %q, level %s", res.StatusCode, res.Header.Get("Location"), settings.level)
	}
	_, body = get(t, u, "/settings")
	contains(t, body, `<option value="debug" selected>`, `then it is <span class="tag">info</span> as before`)
	if res, body := post(t, u, "/settings/log", url.Values{"level": {"loud"}}); res.StatusCode != http.StatusUnprocessableEntity || settings.level != "debug" {
		t.Errorf("%d, level %s: %s", res.StatusCode, settings.level, body)
	}
}

func TestAPIPage(t *testing.T) {
	u := withFakes(t, nil)
	p, err := readAPI(u.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	operations, anchors := 0, map[string]bool{}
	for _, s := range p.Schemas {
		anchors[s.Name] = true
	}
	for _, g := range p.Groups {
		if g.Name == "other" || g.Description == "" {
			t.Errorf("the tag %s is not declared", g.Name)
		}
		for _, o := range g.Operations {
			operations++
			if o.ID == "" || o.Summary == "" || len(o.Responses) == 0 {
				t.Errorf("%s %s: %+v", o.Method, o.Path, o)
			}
			for _, f := range o.Parameters {
				if f.Name == "" || f.Where == "" {
					t.Errorf("%s %s: a parameter without name: %+v", o.Method, o.Path, f)
				}
			}
			for _, a := range o.Responses {
				if a.Description == "" {
					t.Errorf("%s %s: status %s says nothing", o.Method, o.Path, a.Status)
				}
			}
		}
	}
	if want := strings.Count(string(u.OpenAPI), "operationId:"); operations != want {
		t.Errorf("%d operations of %d", operations, want)
	}
	_, body := get(t, u, "/settings/api")
	for _, part := range strings.Split(body, `href="#schema-`)[1:] {
		if name, _, _ := strings.Cut(part, `"`); !anchors[name] {
			t.Errorf("a link leads to the schema %q, which there is not", name)
		}
	}
	contains(t, body, `id="op-listContainers"`, "/api/containers", "list of <a href=\"#schema-Container\">", "image", `<code>dogwatch.display.name</code>`)
}

func TestAPIPageOfNonsense(t *testing.T) {
	for _, text := range []string{"\t", "paths: []", "paths: {/x: {get: []}}", "paths: {/x: {parameters: {}, get: {}}}", "components: {schemas: 5}"} {
		if _, err := readAPI([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestProse(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"a `b` c":                  "<p>a <code>b</code> c</p>",
		"one\n\ntwo":               "<p>one</p><p>two</p>",
		"<b>`<i>`":                 "<p>&lt;b&gt;<code>&lt;i&gt;</code></p>",
		"odd ` one</code><script>": "<p>odd <code> one&lt;/code&gt;&lt;script&gt;</code></p>",
	} {
		if got := string(prose(in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestGuide(t *testing.T) {
	ready, failed := configured(kind.Watcher, "docker", "local", component.Ready), configured(kind.Watcher, "docker", "nas", component.Failed)
	failed.Error = "permission denied"
	checked := map[string]bool{"local": true}
	for _, c := range []struct {
		name  string
		s     situation
		title string
	}{
		{"demo", situation{Demo: true, Containers: 20, Triggers: 1}, "This is a demo"},
		{"nothing at all", situation{}, "No engine yet"},
		{"engine fails", situation{Watchers: []service.Component{ready, failed}, Checked: checked, Triggers: 1}, "No engine yet"},
		{"before the first check", situation{Watchers: []service.Component{ready}}, "Looking for containers"},
		{"no containers", situation{Watchers: []service.Component{ready}, Checked: checked}, "No containers"},
		{"no triggers", situation{Watchers: []service.Component{ready}, Checked: checked, Containers: 3}, "Nothing tells you yet"},
		{"one engine fails, and others work", situation{Watchers: []service.Component{ready, failed}, Checked: checked, Containers: 3, Triggers: 1}, ""},
		{"all is well", situation{Watchers: []service.Component{ready}, Checked: checked, Containers: 3, Triggers: 1}, ""},
	} {
		g := newGuide(c.s)
		switch {
		case g == nil && c.title != "":
			t.Errorf("%s: no guide", c.name)
		case g != nil && g.Title != c.title:
			t.Errorf("%s: %q", c.name, g.Title)
		case g != nil && g.Said == "":
			t.Errorf("%s: says nothing", c.name)
		}
	}
	if g := newGuide(situation{Watchers: []service.Component{failed}}); g.Reason != "permission denied" {
		t.Errorf("the reason is %q", g.Reason)
	}
}

func TestStartPage(t *testing.T) {
	u := withFakes(t, func(f *fakeService) {
		f.fakeComponents = fakeComponents{all: []service.Component{configured(kind.Watcher, "docker", "local", component.Ready)}}
		f.fakeHistory = fakeHistory{events: []event.Event{{ID: 1, At: noon, Type: event.CheckFailed, Subject: "local",
			Payload: event.Payload{Check: &event.Check{Watcher: "local", Error: "dial unix /var/run/docker.sock: permission denied"}}}}}
	})
	_, body := get(t, u, "/start")
	contains(t, body, "cannot reach its engine", "permission denied", "/var/run/docker.sock:/var/run/docker.sock:ro", "group_add", "dogwatch demo")
}
