package web

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/testrun"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// evilTexts puts evil text wherever text from elsewhere is shown.
func evilTexts(f *fakeService) {
	components := []service.Component{}
	for _, k := range kind.Kinds() {
		c := webtest.Configured(k, "mock", "main", component.Failed)
		c.Summary, c.DocsURL, c.Error, c.Warnings, c.Hosts, c.Limits = webtest.Evil, "javascript:alert(1)", webtest.Evil,
			[]string{webtest.Evil}, []string{webtest.Evil}, []registry.Limit{webtest.Limit(webtest.Evil, 10, 1)}
		c.Settings = []service.Setting{{Name: "url", Value: webtest.Evil, Help: webtest.Evil, Source: webtest.Evil}, {
			Name: "body", Value: webtest.Evil, Help: webtest.Evil, Source: "default",
		}}
		components = append(components, c)
	}
	f.fakeComponents = fakeComponents{
		all: components, result: service.TestResult{Result: testrun.Result{Title: webtest.Evil, Body: webtest.Evil,
			Response: webtest.Evil}},
		failure: errors.New(webtest.Evil),
	}
	b := webtest.PluginIn(webtest.Evil, webtest.Evil)
	b.Error, b.Version, b.Types, b.Grants, b.SHA256 = webtest.Evil, webtest.Evil,
		[]plugin.TypeName{{Kind: webtest.Evil, Type: webtest.Evil}},
		[]string{webtest.Evil}, webtest.Evil
	f.fakePlugins = fakePlugins{all: []service.Plugin{b}, calls: &[]string{}}
	c := &sdk.Container{
		ID: webtest.Evil, Name: webtest.Evil, Watcher: webtest.Evil, Image: sdk.Image{Name: webtest.Evil,
			Tag: sdk.Tag{Value: webtest.Evil}},
		UpdateKind: sdk.UpdateKind{Kind: webtest.Evil, LocalValue: webtest.Evil, RemoteValue: webtest.Evil,
			SemverDiff: webtest.Evil},
	}
	history := fakeHistory{
		deliveries: []delivery.Delivery{{ID: 1, Trigger: webtest.Evil, Subject: webtest.Evil, State: delivery.Failed,
			Error: webtest.Evil}},
	}
	for i, e := range []event.Event{
		{Type: event.UpdateFound, Payload: event.Payload{Container: c}},
		{Type: event.CheckFailed, Payload: event.Payload{Check: &event.Check{Watcher: webtest.Evil, Error: webtest.Evil}}},
		{Type: event.TriggerFailed, Payload: event.Payload{Delivery: &event.Delivery{Trigger: webtest.Evil,
			Error: webtest.Evil}}},
		{Type: event.PluginBroken, Payload: event.Payload{Plugin: &event.Plugin{State: webtest.Evil, Error: webtest.Evil}}},
		{
			Type: event.LoginFailed,
			Payload: event.Payload{Login: &event.Login{Method: webtest.Evil, Address: webtest.Evil, Token: webtest.Evil,
				Error: webtest.Evil}},
		},
	} {
		e.ID, e.Subject, e.At = int64(i+1), webtest.Evil, webtest.Noon
		history.events = append(history.events, e)
	}
	f.fakeHistory = history
	f.fakePolicies = fakePolicies{subjects: []policypreview.Subject{{
		Running: webtest.Evil,
		Update: policy.Update{Subject: webtest.Evil,
			Candidates: []candidate.Candidate{{Tag: webtest.Evil, Kind: sdk.KindTag, Diff: webtest.Evil}}},
		Rules: policy.Rules{Problems: []policy.Problem{{Source: webtest.Evil, Text: webtest.Evil}}},
	}}}
	f.fakeSettings = &fakeSettings{
		about: service.About{
			Version: webtest.Evil, ConfigFile: webtest.Evil, Problems: []string{webtest.Evil},
			Settings: []service.Setting{{Name: webtest.Evil, Value: webtest.Evil, Help: webtest.Evil, Source: webtest.Evil}},
		},
	}
}

// TestPagesEscapeTextsFromElsewhere keeps plugins, labels and users from cross-site scripting (XSS).
func TestPagesEscapeTextsFromElsewhere(t *testing.T) {
	u := withFakes(t, evilTexts)
	for _, path := range []string{
		"/watchers", "/registries", "/triggers", "/watchers/mock/main", "/registries/mock/main", "/triggers/mock/main",
		"/plugins", "/plugins?did=restarted&to=" + url.QueryEscape(webtest.Evil), "/history", "/deliveries", "/settings",
		"/settings/api", "/start",
		"/policies", "/policies?rule=" + url.QueryEscape(webtest.Evil) + "&value=" + url.QueryEscape(webtest.Evil),
		"/policies?rule=minage&value=7d",
		"/history?topic=" + url.QueryEscape(webtest.Evil) + "&watcher=" + url.QueryEscape(webtest.Evil) + "&q=" +
			url.QueryEscape(webtest.Evil) + "&since=" + url.QueryEscape(webtest.Evil),
		"/deliveries?state=" + url.QueryEscape(webtest.Evil) + "&trigger=" + url.QueryEscape(webtest.Evil),
		"/triggers/mock/" + url.PathEscape(webtest.Evil),
	} {
		t.Run(path, func(t *testing.T) {
			_, body := get(t, u, path)
			webtest.MustBeInert(t, body)
			if !strings.Contains(body, "</html>") {
				t.Errorf("no whole page: %s", body)
			}
		})
	}
	for _, path := range []string{"/triggers/mock/main", "/registries/mock/main"} {
		body := tested(t, u, path, url.Values{"image": {webtest.Evil}})
		webtest.MustBeInert(t, body)
		webtest.Contains(t, body, "It does not work: ")
	}
}

func TestPagesOfEmptyInstallation(t *testing.T) {
	u := withFakes(t, nil)
	for path, want := range map[string]string{
		"/watchers": "No watcher is configured", "/registries": "No registry is configured",
		"/triggers": "DOGWATCH_TRIGGER_NTFY_MAIN_TOPIC=updates-CHANGE-ME",
		"/plugins":  "No plugins", "/history": "Nothing has happened yet", "/deliveries": "No trigger is configured",
		"/settings":   "1.2.3",
		"/containers": "No watcher is configured", "/": "No watcher is configured",
		"/policies": "No watcher is configured", "/settings/api": "/api/containers", "/start": "No watcher is configured",
	} {
		code, body := get(t, u, path)
		if code != http.StatusOK {
			t.Errorf("%s: status %d", path, code)
		}
		webtest.Contains(t, body, want, "<h1>", `href="/base/history"`, `<p class="version">Dogwatch 1.2.3</p>`)
		for _, bad := range []string{"undefined", "&lt;nil&gt;", "<no value>", "0001-01-01", "%!"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s: %q in the page", path, bad)
			}
		}
	}
}

func TestUnknownIDsAreNotFound(t *testing.T) {
	u := withFakes(t, nil)
	for _, path := range []string{"/triggers/smtp/gone", "/watchers/docker/gone", "/registries/hub/gone"} {
		code, body := get(t, u, path)
		if code != http.StatusNotFound {
			t.Errorf("%s: status %d", path, code)
		}
		webtest.Contains(t, body, "There is no such", "since this page was made")
	}
	for path, want := range map[string]int{
		"/triggers/smtp/gone/test": 404, "/plugins/gone/restart": 404, "/plugins/gone/trust": 404,
		"/deliveries/77/retry": 404, "/deliveries/x/retry": 404,
		"/deliveries/99999999999999999999/retry": 404,
	} {
		r, body := post(t, u, path, nil)
		if r.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, r.StatusCode, want)
		}
		webtest.Contains(t, body, "There is no such", "</html>")
	}
}

func TestOversizedFormsAreRejected(t *testing.T) {
	done := []string{}
	u := withFakes(t, func(f *fakeService) {
		f.fakePlugins = fakePlugins{all: []service.Plugin{webtest.PluginIn("x", plugin.Running)}, calls: &done}
	})
	for _, path := range []string{"/triggers/smtp/main/test", "/plugins/x/restart", "/plugins/x/trust",
		"/deliveries/1/retry"} {
		r, body := post(t, u, path, url.Values{"image": {strings.Repeat("x", page.MaxForm)}})
		if r.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: status %d", path, r.StatusCode)
		}
		webtest.Contains(t, body, "Nothing was done")
	}
	if len(done) > 0 {
		t.Errorf("something was done: %q", done)
	}
}

func TestPagesOfFailingStore(t *testing.T) {
	u := withFakes(t, func(f *fakeService) {
		f.fakeHistory = fakeHistory{err: errors.New("disk on fire")}
		f.fakeComponents = fakeComponents{all: []service.Component{webtest.SMTP()}}
	})
	for _, path := range []string{"/watchers", "/triggers/smtp/main", "/history", "/deliveries", "/history.csv",
		"/deliveries.csv", "/start"} {
		code, body := get(t, u, path)
		if code != http.StatusInternalServerError || strings.Contains(body, "disk on fire") {
			t.Errorf("%s: status %d: %s", path, code, body)
		}
		webtest.Contains(t, body, "its log has the details")
	}
}

// TestTabBarMarksWhereYouAre: phones have four entries, one of which is marked on each page.
func TestTabBarMarksWhereYouAre(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web"))
	entry := regexp.MustCompile(`<a href="/base(/[a-z]*)" class="" aria-current="(?:page|true)"`)
	for path, want := range map[string]string{
		"/": "/", "/containers": "/containers", "/containers/local/web": "/containers", "/history": "/history",
		"/deliveries": "/history", "/operations": "/history", "/settings": "/settings", "/policies": "/settings",
		"/watchers": "/settings", "/registries": "/settings", "/triggers": "/settings", "/plugins": "/settings",
	} {
		_, body := get(t, u, path)
		if marked := entry.FindAllStringSubmatch(body, -1); len(marked) != 1 || marked[0][1] != want {
			t.Errorf("%s marks %q, want %s", path, marked, want)
		}
	}
}

// TestTasksAreNoPage: who opens their address sees the overview, since they are a part of every page.
func TestTasksAreNoPage(t *testing.T) {
	u, _ := withStore(t)
	if w := request(u, "GET", "/work", nil); w.Code/100 != 3 || w.Header().Get("Location") != "/base/" {
		t.Errorf("%d to %q", w.Code, w.Header().Get("Location"))
	}
	if w := request(u, "GET", "/work", nil, "HX-Request", "true"); w.Code != 200 {
		t.Errorf("a page that asks for them gets %d", w.Code)
	}
}
