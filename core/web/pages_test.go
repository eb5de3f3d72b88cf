package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// noon is when the tests of pages take place.
var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

// evil is what plugins, labels and users could write to have a browser run it.
const evil = `"><script>alert(1)</script><img src=x onerror=alert(2)>'` + "`{{.}}"

// fakeSetup is a Setup of constant components.
type fakeSetup struct {
	all     []Component
	trial   Trial
	preview error
	asked   *string // the image that was asked about last
}

func (f fakeSetup) List(k kind.Kind) (of []Component) {
	for _, c := range f.all {
		if c.Kind == k {
			of = append(of, c)
		}
	}
	return of
}

func (f fakeSetup) Get(_ context.Context, k kind.Kind, typ, name string) (Component, bool) {
	i := slices.IndexFunc(f.all, func(c Component) bool { return c.Kind == k && c.Type == typ && c.Name == name })
	if i < 0 {
		return Component{}, false
	}
	return f.all[i], true
}

func (f fakeSetup) Preview(context.Context, string, string) (string, string, error) {
	return "New tag found", "Container web can be updated", f.preview
}

func (f fakeSetup) Try(_ context.Context, _ kind.Kind, _, _, image string) (Trial, bool) {
	if f.asked != nil {
		*f.asked = image
	}
	return f.trial, true
}

// fakeProcesses are constant plugins that remember what was done with them.
type fakeProcesses struct {
	all  []Plugin
	done *[]string
	err  error
}

func (f fakeProcesses) All() []Plugin { return f.all }

func (f fakeProcesses) Restart(name string) bool {
	*f.done = append(*f.done, "restart "+name)
	return slices.ContainsFunc(f.all, func(p Plugin) bool { return p.Name == name })
}

func (f fakeProcesses) Trust(_ context.Context, name, sha256 string) (bool, error) {
	*f.done = append(*f.done, "trust "+name+" "+sha256)
	return slices.ContainsFunc(f.all, func(p Plugin) bool { return p.Name == name }), f.err
}

// fakeArchive has constant events and deliveries, and remembers what it was asked.
type fakeArchive struct {
	events     []event.Event
	deliveries []delivery.Delivery
	err        error
	asked      *[]event.Filter
}

func (f fakeArchive) History(_ context.Context, q event.Filter) ([]event.Event, error) {
	if f.asked != nil {
		*f.asked = append(*f.asked, q)
	}
	var found []event.Event
	for _, e := range f.events {
		if (q.Before == 0 || e.ID < q.Before) && len(found) < q.Limit && (q.Subject == "" || e.Subject == q.Subject) && (len(q.Types) == 0 || slices.Contains(q.Types, e.Type)) {
			found = append(found, e)
		}
	}
	return found, f.err
}

func (f fakeArchive) Deliveries(_ context.Context, state, trigger string, before int64, limit int) ([]delivery.Delivery, error) {
	var found []delivery.Delivery
	for _, d := range f.deliveries {
		if (before == 0 || d.ID < before) && len(found) < limit && (state == "" || d.State == state) && (trigger == "" || d.Trigger == trigger) {
			found = append(found, d)
		}
	}
	return found, f.err
}

func (f fakeArchive) Retry(_ context.Context, id int64) error {
	for _, d := range f.deliveries {
		switch {
		case d.ID == id && d.State == delivery.Failed:
			return nil
		case d.ID == id:
			return fmt.Errorf("retry: %w", ErrNotFailed)
		}
	}
	return fmt.Errorf("retry: %w", sdk.ErrNotFound)
}

// emptyStore has nothing.
type emptyStore struct{ Store }

func (emptyStore) Snapshot() store.Snapshot                 { return store.Snapshot{} }
func (emptyStore) LastEvent(context.Context) (int64, error) { return 7, nil }

// side is a UI of which only the pages beside the containers work.
func side(t *testing.T, change func(*Options)) *UI {
	t.Helper()
	document, err := os.ReadFile("../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{
		BasePath: "/base", Version: "1.2.3", Store: emptyStore{}, Checks: fakeChecks{}, Setup: fakeSetup{}, Processes: fakeProcesses{done: &[]string{}}, Archive: fakeArchive{},
		About: func() About { return About{Version: "1.2.3", Started: noon.Add(-time.Hour)} }, OpenAPI: document,
		Redact: func(s string) string { return strings.ReplaceAll(s, "s3cret", "***") }, Log: hclog.NewNullLogger(), Now: func() time.Time { return noon },
	}
	if change != nil {
		change(&opt)
	}
	u := New(opt)
	t.Cleanup(u.Close)
	return u
}

func get(t *testing.T, u *UI, path string) (int, string) {
	t.Helper()
	return answer(t, u, ofOperator(httptest.NewRequest(http.MethodGet, path, nil)))
}

// ofOperator makes a request that of somebody who is logged in.
func ofOperator(r *http.Request) *http.Request {
	return r.WithContext(auth.With(r.Context(), auth.Identity{User: "ana", Method: "basic.main", Scope: auth.Manage}))
}

func post(t *testing.T, u *UI, path string, form url.Values) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	u.ServeHTTP(w, ofOperator(r))
	return w.Result(), w.Body.String()
}

// tested tries a component and returns the page to which that leads.
func tested(t *testing.T, u *UI, path string, form url.Values) string {
	t.Helper()
	resp, _ := post(t, u, path+"/test", form)
	to := resp.Header.Get("Location")
	if resp.StatusCode != http.StatusSeeOther || to != "/base"+path+"?tested#trial" {
		t.Fatalf("a test of %s answers %d, leads to %q", path, resp.StatusCode, to)
	}
	_, body := get(t, u, path+"?tested")
	return body
}

func answer(t *testing.T, u *UI, r *http.Request) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	u.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(body)
}

func contains(t *testing.T, body string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(body, w) {
			t.Errorf("there is no %q in\n%s", w, body)
		}
	}
}

// inert reports markup that came from evil text.
func mustBeInert(t *testing.T, body string) {
	t.Helper()
	for _, bad := range []string{"<script>alert", "<img src=x", "onerror=alert(2)>'", "javascript:"} {
		if strings.Contains(body, bad) {
			t.Errorf("%q is in the page:\n%s", bad, body)
		}
	}
}

// evilWorld has evil text wherever somebody else's text is shown.
func evilWorld(o *Options) {
	components := []Component{}
	for _, k := range kind.Kinds() {
		components = append(components, Component{
			Kind: k, Type: "mock", Name: "main", Summary: evil, DocsURL: "javascript:alert(1)", State: "failed", Error: evil, Warnings: []string{evil},
			Options: []Setting{{Name: "url", Value: evil, Help: evil, Source: evil}, {Name: "body", Value: evil, Help: evil, Source: "default"}},
			Hosts:   []string{evil}, Limits: []Limit{{Host: evil, Limit: 10, Remaining: 1, At: noon}},
		})
	}
	o.Setup = fakeSetup{all: components, trial: Trial{Title: evil, Body: evil, Answer: evil, Error: evil}, preview: errors.New(evil)}
	o.Processes = fakeProcesses{all: []Plugin{{Name: evil, State: evil, Error: evil, Version: evil, Types: []string{evil}, Grants: []string{evil}, SHA256: evil}}, done: &[]string{}}
	c := &sdk.Container{ID: evil, Name: evil, Watcher: evil, Image: sdk.Image{Name: evil, Tag: sdk.Tag{Value: evil}}, UpdateKind: sdk.UpdateKind{Kind: evil, LocalValue: evil, RemoteValue: evil, SemverDiff: evil}}
	archive := fakeArchive{deliveries: []delivery.Delivery{{ID: 1, Trigger: evil, Subject: evil, State: delivery.Failed, Error: evil}}}
	for i, e := range []event.Event{
		{Type: event.UpdateFound, Payload: event.Payload{Container: c}},
		{Type: event.CheckFailed, Payload: event.Payload{Check: &event.Check{Watcher: evil, Error: evil}}},
		{Type: event.TriggerFailed, Payload: event.Payload{Delivery: &event.Delivery{Trigger: evil, Error: evil}}},
		{Type: event.PluginBroken, Payload: event.Payload{Plugin: &event.Plugin{State: evil, Error: evil}}},
		{Type: event.LoginFailed, Payload: event.Payload{Login: &event.Login{Method: evil, Address: evil, Token: evil, Error: evil}}},
	} {
		e.ID, e.Subject, e.At = int64(i+1), evil, noon
		archive.events = append(archive.events, e)
	}
	o.Archive = archive
	o.About = func() About {
		return About{Version: evil, ConfigFile: evil, Problems: []string{evil}, Settings: []Setting{{Name: evil, Value: evil, Help: evil, Source: evil}}}
	}
}

func TestTextOfOthersIsInert(t *testing.T) {
	u := side(t, evilWorld)
	for _, path := range []string{
		"/watchers", "/registries", "/triggers", "/watchers/mock/main", "/registries/mock/main", "/triggers/mock/main",
		"/plugins", "/plugins?did=restarted&to=" + url.QueryEscape(evil), "/history", "/deliveries", "/settings", "/settings/api", "/start",
		"/history?topic=" + url.QueryEscape(evil) + "&watcher=" + url.QueryEscape(evil) + "&q=" + url.QueryEscape(evil) + "&since=" + url.QueryEscape(evil),
		"/deliveries?state=" + url.QueryEscape(evil) + "&trigger=" + url.QueryEscape(evil), "/triggers/mock/" + url.PathEscape(evil),
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

func TestWithoutKey(t *testing.T) {
	c := &component.Component{Kind: kind.Trigger, Type: "ntfy", Name: "phone"}
	for text, want := range map[string]string{
		"trigger.ntfy.phone.topic: is required": "topic: is required",
		"trigger.ntfy.phone2.topic: is gone":    "trigger.ntfy.phone2.topic: is gone",
		"the plugin is down":                    "the plugin is down",
	} {
		if got := withoutKey(text, c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPagesNeedNoData(t *testing.T) {
	u := side(t, nil)
	for path, want := range map[string]string{
		"/watchers": "No watcher is configured", "/registries": "No registry is configured", "/triggers": "DOGWATCH_TRIGGER_NTFY_MAIN_TOPIC=my-updates",
		"/plugins": "0 plugins", "/history": "Nothing has happened yet", "/deliveries": "No trigger is configured", "/settings": "1.2.3",
		"/settings/api": "/api/containers", "/start": "No watcher is configured",
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

func TestUnknownIDs(t *testing.T) {
	u := side(t, nil)
	for _, path := range []string{"/triggers/smtp/gone", "/watchers/docker/gone", "/registries/hub/gone"} {
		code, body := get(t, u, path)
		if code != http.StatusNotFound {
			t.Errorf("%s: status %d", path, code)
		}
		contains(t, body, "There is no such", "since this page was made")
	}
	for path, want := range map[string]int{
		"/triggers/smtp/gone/test": 404, "/plugins/gone/restart": 404, "/plugins/gone/trust": 404, "/deliveries/77/retry": 404, "/deliveries/x/retry": 404,
		"/deliveries/99999999999999999999/retry": 404,
	} {
		r, body := post(t, u, path, nil)
		if r.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, r.StatusCode, want)
		}
		contains(t, body, "There is no such", "</html>")
	}
}

func TestOversizedForms(t *testing.T) {
	done := []string{}
	u := side(t, func(o *Options) { o.Processes = fakeProcesses{all: []Plugin{{Name: "x"}}, done: &done} })
	for _, path := range []string{"/triggers/smtp/main/test", "/plugins/x/restart", "/plugins/x/trust", "/deliveries/1/retry"} {
		r, body := post(t, u, path, url.Values{"image": {strings.Repeat("x", maxForm)}})
		if r.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: status %d", path, r.StatusCode)
		}
		contains(t, body, "Nothing was done")
	}
	if len(done) > 0 {
		t.Errorf("something was done: %q", done)
	}
}

func TestStoreThatFails(t *testing.T) {
	u := side(t, func(o *Options) {
		o.Archive = fakeArchive{err: errors.New("disk on fire")}
		o.Setup = fakeSetup{all: []Component{{Kind: kind.Trigger, Type: "smtp", Name: "main"}}}
	})
	for _, path := range []string{"/watchers", "/triggers/smtp/main", "/history", "/deliveries", "/history.csv", "/deliveries.csv", "/start"} {
		code, body := get(t, u, path)
		if code != http.StatusInternalServerError || strings.Contains(body, "disk on fire") {
			t.Errorf("%s: status %d: %s", path, code, body)
		}
		contains(t, body, "its log has the details")
	}
}
