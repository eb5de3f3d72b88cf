package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/testrun"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// evilTexts puts evil text wherever text from elsewhere is shown.
func evilTexts(f *fakeService) {
	components := []service.Component{}
	for _, k := range kind.Kinds() {
		c := configured(k, "mock", "main", component.Failed)
		c.Summary, c.DocsURL, c.Error, c.Warnings, c.Hosts, c.Limits = evil, "javascript:alert(1)", evil,
			[]string{evil}, []string{evil}, []registry.Limit{limit(evil, 10, 1)}
		c.Settings = []service.Setting{{Name: "url", Value: evil, Help: evil, Source: evil}, {
			Name: "body", Value: evil, Help: evil, Source: "default",
		}}
		components = append(components, c)
	}
	f.fakeComponents = fakeComponents{
		all: components, result: service.TestResult{Result: testrun.Result{Title: evil, Body: evil, Response: evil}},
		failure: errors.New(evil),
	}
	b := pluginIn(evil, evil)
	b.Error, b.Version, b.Types, b.Grants, b.SHA256 = evil, evil, []plugin.TypeName{{Kind: evil, Type: evil}},
		[]string{evil}, evil
	f.fakePlugins = fakePlugins{all: []service.Plugin{b}, calls: &[]string{}}
	c := &sdk.Container{
		ID: evil, Name: evil, Watcher: evil, Image: sdk.Image{Name: evil, Tag: sdk.Tag{Value: evil}},
		UpdateKind: sdk.UpdateKind{Kind: evil, LocalValue: evil, RemoteValue: evil, SemverDiff: evil},
	}
	history := fakeHistory{
		deliveries: []delivery.Delivery{{ID: 1, Trigger: evil, Subject: evil, State: delivery.Failed, Error: evil}},
	}
	for i, e := range []event.Event{
		{Type: event.UpdateFound, Payload: event.Payload{Container: c}},
		{Type: event.CheckFailed, Payload: event.Payload{Check: &event.Check{Watcher: evil, Error: evil}}},
		{Type: event.TriggerFailed, Payload: event.Payload{Delivery: &event.Delivery{Trigger: evil, Error: evil}}},
		{Type: event.PluginBroken, Payload: event.Payload{Plugin: &event.Plugin{State: evil, Error: evil}}},
		{
			Type:    event.LoginFailed,
			Payload: event.Payload{Login: &event.Login{Method: evil, Address: evil, Token: evil, Error: evil}},
		},
	} {
		e.ID, e.Subject, e.At = int64(i+1), evil, noon
		history.events = append(history.events, e)
	}
	f.fakeHistory = history
	f.fakePolicies = fakePolicies{subjects: []policypreview.Subject{{
		Running: evil,
		Update:  policy.Update{Subject: evil, Candidates: []policy.Candidate{{Tag: evil, Kind: sdk.KindTag, Diff: evil}}},
		Rules:   policy.Rules{Problems: []policy.Problem{{Source: evil, Text: evil}}},
	}}}
	f.fakeSettings = &fakeSettings{
		about: service.About{
			Version: evil, ConfigFile: evil, Problems: []string{evil},
			Settings: []service.Setting{{Name: evil, Value: evil, Help: evil, Source: evil}},
		},
	}
}

// TestPagesEscapeTextsFromElsewhere keeps plugins, labels and users from cross-site scripting (XSS).
func TestPagesEscapeTextsFromElsewhere(t *testing.T) {
	u := withFakes(t, evilTexts)
	for _, path := range []string{
		"/watchers", "/registries", "/triggers", "/watchers/mock/main", "/registries/mock/main", "/triggers/mock/main",
		"/plugins", "/plugins?did=restarted&to=" + url.QueryEscape(evil), "/history", "/deliveries", "/settings",
		"/settings/api", "/start",
		"/policies", "/policies?rule=" + url.QueryEscape(evil) + "&value=" + url.QueryEscape(evil),
		"/policies?rule=minage&value=7d",
		"/history?topic=" + url.QueryEscape(evil) + "&watcher=" + url.QueryEscape(evil) + "&q=" +
			url.QueryEscape(evil) + "&since=" + url.QueryEscape(evil),
		"/deliveries?state=" + url.QueryEscape(evil) + "&trigger=" + url.QueryEscape(evil),
		"/triggers/mock/" + url.PathEscape(evil),
	} {
		t.Run(path, func(t *testing.T) {
			_, body := get(t, u, path)
			mustBeInert(t, body)
			if !strings.Contains(body, "</html>") {
				t.Errorf("no whole page: %s", body)
			}
		})
	}
	for _, path := range []string{"/triggers/mock/main", "/registries/mock/main"} {
		body := tested(t, u, path, url.Values{"image": {evil}})
		mustBeInert(t, body)
		contains(t, body, "It does not work: ")
	}
}

func TestPagesOfEmptyInstallation(t *testing.T) {
	u := withFakes(t, nil)
	for path, want := range map[string]string{
		"/watchers": "No watcher is configured", "/registries": "No registry is configured",
		"/triggers": "DOGWATCH_TRIGGER_NTFY_MAIN_TOPIC=my-updates",
		"/plugins":  "0 plugins", "/history": "Nothing has happened yet", "/deliveries": "No trigger is configured",
		"/settings":   "1.2.3",
		"/containers": "No watcher is configured", "/": "No watcher is configured",
		"/policies": "No container has an update", "/settings/api": "/api/containers", "/start": "No watcher is configured",
	} {
		code, body := get(t, u, path)
		if code != http.StatusOK {
			t.Errorf("%s: status %d", path, code)
		}
		contains(t, body, want, "<h1>", `href="/base/history"`)
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
		contains(t, body, "There is no such", "since this page was made")
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
		contains(t, body, "There is no such", "</html>")
	}
}

func TestOversizedFormsAreRejected(t *testing.T) {
	done := []string{}
	u := withFakes(t, func(f *fakeService) {
		f.fakePlugins = fakePlugins{all: []service.Plugin{pluginIn("x", plugin.Running)}, calls: &done}
	})
	for _, path := range []string{"/triggers/smtp/main/test", "/plugins/x/restart", "/plugins/x/trust",
		"/deliveries/1/retry"} {
		r, body := post(t, u, path, url.Values{"image": {strings.Repeat("x", page.MaxForm)}})
		if r.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: status %d", path, r.StatusCode)
		}
		contains(t, body, "Nothing was done")
	}
	if len(done) > 0 {
		t.Errorf("something was done: %q", done)
	}
}

func TestPagesOfFailingStore(t *testing.T) {
	u := withFakes(t, func(f *fakeService) {
		f.fakeHistory = fakeHistory{err: errors.New("disk on fire")}
		f.fakeComponents = fakeComponents{all: []service.Component{smtp()}}
	})
	for _, path := range []string{"/watchers", "/triggers/smtp/main", "/history", "/deliveries", "/history.csv",
		"/deliveries.csv", "/start"} {
		code, body := get(t, u, path)
		if code != http.StatusInternalServerError || strings.Contains(body, "disk on fire") {
			t.Errorf("%s: status %d: %s", path, code, body)
		}
		contains(t, body, "its log has the details")
	}
}
