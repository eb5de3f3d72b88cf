package web

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// everyEvent has one event of each type.
func everyEvent() []event.Event {
	c := &sdk.Container{
		ID: "c1", Name: "nginx", Watcher: "local", Status: "running",
		Image: sdk.Image{Name: "library/nginx", Tag: sdk.Tag{Value: "1.25"}},
		UpdateKind: sdk.UpdateKind{
			Kind: sdk.KindTag, LocalValue: "1.25", RemoteValue: "1.27", SemverDiff: sdk.DiffMinor,
		}, UpdateAvailable: true,
	}
	digest := *c
	digest.UpdateKind = sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: "sha256:a", RemoteValue: "sha256:b"}
	failing := *c
	failing.Check.State, failing.Error = sdk.CheckFailed, &sdk.ContainerError{Message: "429 Too Many Requests"}
	of := func(t event.Type, c *sdk.Container) event.Event {
		return event.Event{Type: t, Subject: "local/nginx", Payload: event.Payload{Container: c}}
	}
	check := func(t event.Type, c event.Check) event.Event {
		return event.Event{Type: t, Subject: "local", Payload: event.Payload{Check: &c}}
	}
	sent := func(t event.Type, d event.Delivery) event.Event {
		return event.Event{Type: t, Subject: "smtp.main", Payload: event.Payload{Delivery: &d}}
	}
	plugin := func(t event.Type, p event.Plugin) event.Event {
		return event.Event{Type: t, Subject: "triggers", Payload: event.Payload{Plugin: &p}}
	}
	login := func(t event.Type, l event.Login) event.Event {
		return event.Event{Type: t, Subject: "ana", Payload: event.Payload{Login: &l}}
	}
	operation := func(t event.Type, o event.Operation) event.Event {
		o.From, o.To, o.Actor = "nginx:1.25", "nginx:1.27", "ana"
		return event.Event{Type: t, Subject: "local/nginx", Payload: event.Payload{Operation: &o}}
	}
	renamed := of(event.ContainerRenamed, c)
	renamed.From = "old"
	return []event.Event{
		of(event.ContainerAdded, c), of(event.ContainerReplaced, c), renamed, of(event.ContainerChanged, c),
		of(event.ContainerChanged, &failing), of(event.ContainerRemoved, c),
		of(event.UpdateFound, c), of(event.UpdateFound, &digest), of(event.UpdateCleared, c),
		check(event.CheckStarted, event.Check{}),
		check(event.CheckFinished, event.Check{
			Containers: 12, Updates: []string{"a", "b"}, Found: []string{"a"}, Failed: 1, Took: "2s",
		}),
		check(event.CheckFinished, event.Check{Shared: 2, SharedWith: "first"}),
		check(event.CheckFinished, event.Check{Single: true, Containers: 1}),
		check(event.CheckFailed, event.Check{Error: "engine gone"}),
		sent(event.TriggerSent, event.Delivery{Attempts: 1}), sent(event.TriggerSent, event.Delivery{Attempts: 3, Title: "nginx 1.27"}),
		sent(event.TriggerFailed, event.Delivery{Attempts: 10, Error: "535"}),
		sent(event.TriggerSkipped, event.Delivery{Error: "the update is held: snoozed until the next version"}),
		operation(event.OperationQueued, event.Operation{Kind: "update"}),
		operation(event.OperationStarted, event.Operation{Kind: "update"}),
		operation(event.OperationStep, event.Operation{Kind: "update", Step: "start the new nginx"}),
		operation(event.OperationSucceeded, event.Operation{Kind: "rollback"}),
		operation(event.OperationRolledBack, event.Operation{Kind: "update", Error: "it ended with code 1"}),
		operation(event.OperationFailed, event.Operation{Kind: "update", Error: "disk full"}),
		operation(event.OperationCancelled, event.Operation{Kind: "update"}),
		plugin(event.PluginUp, event.Plugin{}), plugin(event.PluginDown, event.Plugin{}),
		plugin(event.PluginDown, event.Plugin{Error: "died"}),
		plugin(event.PluginBroken, event.Plugin{State: "untrusted", Error: "file changed"}),
		login(event.LoginSucceeded, event.Login{Method: "basic.ana", Address: "10.0.0.1"}),
		login(event.LoginFailed, event.Login{Address: "10.0.0.1", Error: "wrong password"}),
		login(event.LoginFailed, event.Login{Attempts: 12}), login(event.LoggedOut, event.Login{}),
		login(event.TokenCreated, event.Login{Token: "homepage", Scope: "read"}),
		login(event.TokenRevoked, event.Login{Token: "homepage"}),
		{
			Type: event.SettingChanged, Subject: "log.level",
			Payload: event.Payload{Setting: &event.Setting{From: "info", To: "debug", User: "ana", Address: "10.0.0.1"}},
		},
	}
}

func TestDescribeEvents(t *testing.T) {
	want := []string{
		"found, running library/nginx:1.25|", "recreated, running library/nginx:1.25|", "renamed: old → nginx|",
		"started|", "check failed: 429 Too Many Requests|failed", "removed|",
		"update found: 1.25 → 1.27 (minor)|minor", "update found: 1.25 a → b (rebuilt)|digest", "up to date with 1.25|ok",
		"check began|", "checked 12 containers: 2 updates (1 new), 1 failed, took 2.0 s|partly",
		"checked no containers: 2 left to first, which watches the same engine|",
		"one container checked: nothing newer|",
		"check failed: engine gone|failed", "sent|ok", "sent at attempt 3: nginx 1.27|ok", "failed after 10 attempts: 535|failed",
		"not sent: the update is held: snoozed until the next version|",
		"update to 1.27 is waiting, by ana|", "update to 1.27 began, by ana|",
		"update: start the new nginx|", "rolled back: 1.25 → 1.27|ok",
		"update to 1.27 did not work, the old container is back: it ended with code 1|failed",
		"update to 1.27 failed: disk full|failed", "update to 1.27 was cancelled|",
		"started|", "stopped|", "process is down: died|failed",
		"will not run: file changed|failed",
		"logged in with a password from 10.0.0.1|", "login refused: wrong password, from 10.0.0.1|failed",
		"12 logins refused|failed", "logged out|", "created the token homepage (read)|", "revoked the token homepage|",
		"changed from info to debug by ana from 10.0.0.1|",
	}
	for i, e := range everyEvent() {
		said, class := words.Event(e)
		if got := said.String() + "|" + class; got != want[i] {
			t.Errorf("%s: got %q, want %q", e.Type, got, want[i])
		}
	}
}

func TestHistoryPagination(t *testing.T) {
	var events []event.Event
	for i := range 120 {
		events = append(events, event.Event{
			ID: int64(120 - i), At: webtest.Noon, Type: event.PluginBroken, Subject: fmt.Sprintf("plugin-%d", 120-i),
			Payload: event.Payload{Plugin: &event.Plugin{}},
		})
	}
	u := withFakes(t, func(f *fakeService) { f.fakeHistory = fakeHistory{events: events} })
	seen := map[string]bool{}
	path := "/history?topic=plugins"
	for pages := 1; ; pages++ {
		_, body := get(t, u, path)
		for _, e := range events {
			if strings.Contains(body, ">"+e.Subject+"<") {
				seen[e.Subject] = true
			}
		}
		_, rest, more := strings.Cut(body, `rel="next" href="/base`)
		if !more {
			if pages != 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		path, _, _ = strings.Cut(rest, `"`)
		path = strings.ReplaceAll(path, "&amp;", "&")
		if !strings.Contains(path, "topic=plugins") {
			t.Fatalf("the filter is lost: %s", path)
		}
	}
	if len(seen) != len(events) {
		t.Errorf("%d of %d events were on a page", len(seen), len(events))
	}
}

func TestHistoryNamesDeliveries(t *testing.T) {
	of := func(id, delivery int64) event.Event {
		return event.Event{
			ID: id, At: webtest.Noon, Type: event.TriggerSent, Subject: "smtp.main",
			Payload: event.Payload{Delivery: &event.Delivery{ID: delivery, Attempts: 1}},
		}
	}
	named := of(6, 14)
	named.Delivery.Title = "Container web was updated"
	u := withFakes(t, func(f *fakeService) {
		f.fakeHistory = fakeHistory{
			events: []event.Event{named, of(5, 13), of(4, 12), of(3, 11), of(2, 0), of(1, 3)},
			deliveries: []delivery.Delivery{
				{ID: 13, Subject: "local/db", Manual: true},
				{ID: 12, Subject: "batch/local", Batch: true, Containers: []string{"a", "b", "c"}},
				{ID: 11, Subject: "local/nginx"}, {ID: 10, Subject: "local/other"}, {ID: 14, Subject: "local/web"},
			},
		}
	})
	_, body := get(t, u, "/history")
	webtest.Contains(t, body, "(3 containers of local)", "(nginx)", "(db, asked for by hand)", "(asked for by hand)")
	if strings.Contains(body, "(other") {
		t.Error("a delivery of another event is named")
	}
	if strings.Contains(body, "(web)") {
		t.Error("a container is named again behind a message that names it")
	}
}

func TestRetryDelivery(t *testing.T) {
	u := withFakes(t, func(f *fakeService) {
		f.fakeHistory = fakeHistory{
			deliveries: []delivery.Delivery{{ID: 1, State: delivery.Failed}, {ID: 2, State: delivery.Sent}},
		}
	})
	r, _ := post(t, u, "/deliveries/1/retry", nil)
	if at := r.Header.Get("Location"); r.StatusCode != http.StatusSeeOther || at != "/base/deliveries?retried=1" {
		t.Errorf("status %d to %s", r.StatusCode, at)
	}
	_, body := get(t, u, "/deliveries?retried=1")
	webtest.Contains(t, body, "Delivery 1 is waiting to be sent again")
	r, body = post(t, u, "/deliveries/2/retry", nil)
	if r.StatusCode != http.StatusConflict {
		t.Errorf("status %d", r.StatusCode)
	}
	webtest.Contains(t, body, "There is nothing to retry")
}

func TestCSVDownloads(t *testing.T) {
	formulas := []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "plain",
		`with "quotes", and commas`, "two\nlines"}
	var events []event.Event
	var pending []delivery.Delivery
	for i := range 450 { // more than are read at a time
		id := int64(450 - i)
		text := formulas[i%len(formulas)]
		events = append(events, event.Event{
			ID: id, At: webtest.Noon, Type: event.CheckFailed, Subject: text, Run: text,
			Payload: event.Payload{Check: &event.Check{Error: text}},
		})
		pending = append(pending, delivery.Delivery{
			ID: id, Trigger: text, Subject: text, State: delivery.Pending, Error: text, CreatedAt: webtest.Noon,
			NextAt: webtest.Noon,
		})
	}
	u := withFakes(t, func(f *fakeService) { f.fakeHistory = fakeHistory{events: events, deliveries: pending} })
	for path, columns := range map[string]int{"/history.csv?topic=checks": 6, "/deliveries.csv": 9} {
		w := httptest.NewRecorder()
		u.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if got := w.Header().Get("Content-Disposition"); !strings.Contains(got, "2026-03-29.csv") {
			t.Errorf("%s: %s", path, got)
		}
		rows, err := csv.NewReader(w.Body).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if len(rows) != 451 || len(rows[0]) != columns {
			t.Errorf("%s: %d rows of %d columns", path, len(rows), len(rows[0]))
		}
		ids := map[string]bool{}
		for _, row := range rows[1:] {
			ids[row[0]] = true
			for _, cell := range row {
				if cell != "" && slices.Contains([]rune("=+-@\t\r\n＝"), []rune(cell)[0]) {
					t.Errorf("%s: a spreadsheet calculates %q", path, cell)
				}
			}
		}
		if len(ids) != 450 {
			t.Errorf("%s: %d different ids", path, len(ids))
		}
	}
}

// TestHistoryFoldsChecks: many checks are one row, and the page has what came before them.
func TestHistoryFoldsChecks(t *testing.T) {
	var events []event.Event
	for i := range 300 {
		events = append(events, event.Event{
			ID: int64(400 - i), At: webtest.Noon, Type: event.CheckFinished, Subject: "local",
			Payload: event.Payload{Check: &event.Check{Containers: 3}},
		})
	}
	events = append(events, event.Event{
		ID: 1, At: webtest.Noon, Type: event.PluginUp, Subject: "watchers", Payload: event.Payload{Plugin: &event.Plugin{}},
	})
	u := withFakes(t, func(f *fakeService) { f.fakeHistory = fakeHistory{events: events} })
	_, body := get(t, u, "/history?q=l")
	webtest.Contains(t, body, "300 checks since", "started",
		`href="/base/history?before=401&amp;each=1&amp;q=l">Show each`)
	if n := strings.Count(body, "<tr id="); n != 2 {
		t.Errorf("%d rows", n)
	}
	_, body = get(t, u, "/history?before=401&each=1&q=l")
	webtest.Contains(t, body, `href="/base/history?q=l">Group similar events`, `each=1&amp;q=l"`)
	if n := strings.Count(body, "<tr id="); n != page.Size {
		t.Errorf("%d rows", n)
	}
}

// TestFoldedFilterOfHistory says how many filters are set: on a phone, the form is folded.
func TestFoldedFilterOfHistory(t *testing.T) {
	u := withFakes(t, func(*fakeService) {})
	for path, want := range map[string]string{
		"/history": "<summary>Filter</summary>", "/history?before=7&each=1": "<summary>Filter</summary>",
		"/history?topic=nonsense&q=+": "<summary>Filter</summary>",
		"/history?topic=updates&q=web&since=2026-11-01&until=2026-11-02&watcher=local&trigger=smtp.main": ">Filter: 6 set<",
	} {
		if _, body := get(t, u, path); !strings.Contains(body, want) {
			t.Errorf("%s lacks %s", path, want)
		}
	}
}
