package web

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

var (
	partIDs  = regexp.MustCompile(`<[a-z0-9]+ [^>]*\bdata-part\b[^>]*>`)
	idOf     = regexp.MustCompile(`\bid="([^"]+)"`)
	bodyOf   = regexp.MustCompile(`<body data-live="([^"]*)" data-last="(\d+)">`)
	anyIDs   = regexp.MustCompile(`\bid="([^"]+)"`)
	families = []string{"container", "update", "choice", "operation", "check", "trigger", "plugin", "component",
		"delivery", "scan", "auth", "setting"}
)

// partsOf are the parts of a page that its script keeps up to date.
func partsOf(t *testing.T, path, html string) (ids []string) {
	t.Helper()
	for _, tag := range partIDs.FindAllString(html, -1) {
		id := idOf.FindStringSubmatch(tag)
		if id == nil {
			t.Errorf("%s has a part without an id: %s", path, tag)
			continue
		}
		ids = append(ids, id[1])
	}
	return ids
}

// TestLivePagesServeTheirParts: every page that shows what changes says what it follows, and
// serves its script the same parts, without the frame.
func TestLivePagesServeTheirParts(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("2.0.0", "major")))
	fakes(u).fakeComponents = fakeComponents{
		all: []service.Component{webtest.Configured(kind.Watcher, "docker", "local", component.Ready),
			webtest.Configured(kind.Registry, "hub", "public", component.Ready), webtest.SMTP()},
	}
	fakes(u).fakeHistory = fakeHistory{
		events: []event.Event{{
			ID: 3, At: webtest.Noon, Type: event.PluginUp, Subject: "trigger", Payload: event.Payload{Plugin: &event.Plugin{}},
		}},
		deliveries: []delivery.Delivery{{ID: 4, Trigger: "smtp.main", Subject: "local/web", State: delivery.Sent}},
	}
	for path, want := range map[string]string{
		"/":                                  "overview",
		"/containers/local/web":              "runs change decide tabs brings",
		"/containers/local/web?tab=versions": "runs change decide tabs versions scan",
		"/containers/local/web?tab=why":      "runs change decide tabs",
		"/containers/local/web?tab=activity": "runs change decide tabs operations happened sent",
		"/containers/local/web?tab=details":  "runs change decide tabs facts",
		"/watchers":                          "summary things", "/registries": "summary things", "/triggers": "summary things",
		"/watchers/docker/local": "head trouble checks limits deliveries",
		"/registries/hub/public": "head trouble limits deliveries", "/triggers/smtp/main": "head trouble limits deliveries",
		"/plugins": "summary things", "/history": "log", "/deliveries": "log", "/start": "guidance",
	} {
		page := request(u, "GET", path, nil).Body.String()
		if got := strings.Join(partsOf(t, path, page), " "); got != want {
			t.Errorf("%s has the parts %q, want %q", path, got, want)
		}
		body := bodyOf.FindStringSubmatch(page)
		if body == nil || body[1] == "" {
			t.Errorf("%s follows nothing", path)
			continue
		}
		for _, family := range strings.Fields(body[1]) {
			if !slices.Contains(families, family) {
				t.Errorf("%s follows %q", path, family)
			}
		}
		ids := map[string]bool{}
		for _, id := range anyIDs.FindAllStringSubmatch(page, -1) {
			if ids[id[1]] {
				t.Errorf("%s has %s twice", path, id[1])
			}
			ids[id[1]] = true
		}
		part := request(u, "GET", path, nil, "HX-Request", "true").Body.String()
		if got := strings.Join(partsOf(t, path, part), " "); got != want || strings.Contains(part, "<html") {
			t.Errorf("%s serves its script %q: %s", path, got, part)
		}
	}
	if list := request(u, "GET", "/containers",
		nil).Body.String(); bodyOf.FindStringSubmatch(list)[1] != page.FollowsContainers {
		t.Error("the list follows nothing")
	}
}

// TestPagesCarryTheirLastEvent: the stream of a page begins where its content ends.
func TestPagesCarryTheirLastEvent(t *testing.T) {
	u := withFakes(t, nil)
	_, body := get(t, u, "/history")
	webtest.Contains(t, body, `data-last="7"`)
	r := httptest.NewRequest(http.MethodGet, "/history", nil)
	r.Header.Set("HX-Request", "true")
	_, body = respond(t, u, r)
	if strings.Contains(body, "data-last") {
		t.Error("a part says when it was made")
	}
}

// TestPagesDoNotPoll: they receive what changes.
func TestPagesDoNotPoll(t *testing.T) {
	source, err := os.ReadFile("page/static/app.js")
	if err != nil {
		t.Fatal(err)
	}
	script := string(source)
	if strings.Contains(script, "setInterval") {
		t.Error("app.js polls")
	}
	templates, err := filepath.Glob("*/*.html")
	if err != nil || len(templates) == 0 {
		t.Fatal("no templates", err)
	}
	for _, name := range templates {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile(`hx-trigger="[^"]*\b(every|poll)\b`).Match(text) {
			t.Errorf("%s polls", name)
		}
	}
	// The script knows every family, and every type in it, that streams send.
	for _, e := range everyEvent() {
		family, rest, _ := strings.Cut(string(e.Type), ".")
		if !regexp.MustCompile(family + `: \[[^\]]*'` + regexp.QuoteMeta(rest) + `'`).MatchString(script) {
			t.Errorf("app.js does not listen to %s", e.Type)
		}
	}
	if !regexp.MustCompile(`check: \[[^\]]*'progress'`).MatchString(script) {
		t.Errorf("app.js does not listen to %s", event.CheckProgressed)
	}
	if !regexp.MustCompile(`delivery: \[[^\]]*'progress'`).MatchString(script) {
		t.Errorf("app.js does not listen to %s", event.DeliveryProgressed)
	}
	for _, typ := range []event.Type{event.ComponentChanged, event.DeliveryChanged, event.PluginChanged,
		event.WorkChanged} {
		if family, _, _ := strings.Cut(string(typ),
			"."); !regexp.MustCompile(family + `: \[[^\]]*'changed'`).MatchString(script) {
			t.Errorf("app.js does not listen to %s", typ)
		}
	}
}

func TestWatcherPagesShowRunningChecks(t *testing.T) {
	u := withFakes(t, func(f *fakeService) {
		f.fakeHistory = fakeHistory{events: webtest.CheckEvents()}
		f.fakeComponents = fakeComponents{
			all: []service.Component{webtest.Configured(kind.Watcher, "docker", "busy", component.Ready),
				webtest.Configured(kind.Watcher, "docker", "idle", component.Ready)},
		}
	})
	u.Started = webtest.Noon
	_, body := get(t, u, "/watchers")
	if n := strings.Count(body, "<progress"); n != 1 {
		t.Errorf("%d watchers are being checked, want 1", n)
	}
	if strings.Contains(body, " of 0") {
		t.Error("the progress of a check is shown before it is known")
	}
	fakes(u).progress = []check.Progress{{Watcher: "busy", Checked: 5, Total: 6}}
	for _, page := range []string{"/watchers", "/watchers/docker/busy"} {
		_, body = get(t, u, page)
		webtest.Contains(t, body, "eing checked now, 5 of 6 ", `<progress value="5" max="6" aria-label="Checking busy">`)
	}
	_, body = get(t, u, "/watchers/docker/busy")
	webtest.Contains(t, body, "being checked now", `aria-label="Checking busy"`)
	_, body = get(t, u, "/watchers/docker/idle")
	if strings.Contains(body, "<progress") {
		t.Error("a watcher at rest is being checked")
	}
}
