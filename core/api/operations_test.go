package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// owe adds a delivery in a state and returns its id.
func (w *world) owe(state string) int64 {
	w.t.Helper()
	ctx := context.Background()
	n := len(must(w.store.Deliveries(ctx, store.DeliveryFilter{Limit: 1000})))
	_, err := w.store.Plan(ctx, "dispatch", 0, []delivery.Delivery{{Trigger: "smtp.gmail", Subject: "local/nginx", Fingerprint: fmt.Sprint(n), Containers: []string{"c1"}}})
	if err != nil {
		w.t.Fatal(err)
	}
	id := must(w.store.Deliveries(ctx, store.DeliveryFilter{Limit: 1}))[0].ID
	if state != delivery.Pending {
		if err := w.store.Finish(ctx, id, delivery.Outcome{State: state, Error: "login with " + smtpPass + " refused"}); err != nil {
			w.t.Fatal(err)
		}
	}
	return id
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func ids(items []map[string]any) []int64 {
	found := []int64{}
	for _, item := range items {
		found = append(found, int64(item["id"].(float64)))
	}
	return found
}

func TestDeliveries(t *testing.T) {
	w := start(t, nil)
	same(t, "no deliveries", string(w.get("/api/deliveries").want(200).body), "[]")
	failed, sent, pending := w.owe(delivery.Failed), w.owe(delivery.Sent), w.owe(delivery.Pending)

	same(t, "all", ids(w.get("/api/deliveries").want(200).list()), []int64{pending, sent, failed})
	same(t, "failed", ids(w.get("/api/deliveries?state=failed").want(200).list()), []int64{failed})
	same(t, "of a trigger", ids(w.get("/api/deliveries?trigger=smtp.gmail&limit=1").want(200).list()), []int64{pending})
	same(t, "of another", ids(w.get("/api/deliveries?trigger=ntfy.one").want(200).list()), []int64{})
	same(t, "the next page", ids(w.get(fmt.Sprintf("/api/deliveries?limit=1&before=%d", sent)).want(200).list()), []int64{failed})

	w.get("/api/deliveries?state=lost").fails(400, "state: want one of pending, sending")
	w.get("/api/deliveries?limit=0").fails(400, "limit: want a whole number from 1 to 1000")
	w.get("/api/deliveries?before=x").fails(400, "before")
	w.get("/api/deliveries?limti=5").fails(400, "limti", "did you mean limit?")
	w.get("/api/deliveries?limit=5&limit=6").fails(400, "given 2 times")

	w.do("POST", fmt.Sprintf("/api/deliveries/%d/retry", failed), "").want(202)
	if w.triggers.woke != 1 {
		t.Errorf("the dispatcher was woken %d times", w.triggers.woke)
	}
	same(t, "pending", ids(w.get("/api/deliveries?state=pending").want(200).list()), []int64{pending, failed})
	w.do("POST", fmt.Sprintf("/api/deliveries/%d/retry", sent), "").fails(409)
	w.do("POST", "/api/deliveries/99/retry", "").fails(404, "Delivery not found")
	w.do("POST", "/api/deliveries/x/retry", "").fails(404, "Delivery not found")
}

func TestEventsHistory(t *testing.T) {
	w := start(t, nil)
	same(t, "no events", string(w.get("/api/events").want(200).body), "[]")
	for i := range 5 {
		w.happen(event.Event{Type: event.CheckFinished, Subject: "local", Run: fmt.Sprint("run", i), Payload: event.Payload{Check: &event.Check{Watcher: "local", Containers: i}}})
	}
	c := nginx()
	w.happen(event.Event{Type: event.UpdateFound, Subject: event.Subject(c), Payload: event.Payload{Container: &c}})
	all := w.get("/api/events").want(200).list()
	same(t, "ids", ids(all), []int64{6, 5, 4, 3, 2, 1})
	same(t, "the type", all[0]["type"], any("update.found"))
	same(t, "its container", all[0]["container"].(map[string]any)["name"], any("nginx"))
	same(t, "a page", ids(w.get("/api/events?limit=2&before=4").want(200).list()), []int64{3, 2})
	w.get("/api/events?limit=1001").fails(400, "limit")
	w.get("/api/events?after=1").fails(400, "after")
}

func TestPlugins(t *testing.T) {
	w := start(t, nil)
	all := w.get("/api/plugins").want(200).list()
	if len(all) != 1 || all[0]["name"] != "test" || all[0]["builtin"] != true || all[0]["state"] != "running" {
		t.Errorf("plugins: %v", all)
	}
	if types, _ := all[0]["types"].([]any); len(types) != 5 {
		t.Errorf("types: %v", all[0]["types"])
	}
	w.do("POST", "/api/plugins/nope/restart", "").fails(404, "Plugin not found")
	w.do("POST", "/api/plugins/nope/trust", `{"sha256":"00"}`).fails(404, "Plugin not found")
}

func TestReady(t *testing.T) {
	next := time.Date(2026, 3, 29, 2, 0, 0, 0, time.UTC)
	w := start(t, nil)
	w.checks.next = next
	state := decodeAs[readiness](w.get("/api/ready").want(503))
	if state.Ready || len(state.Problems) != 2 {
		t.Errorf("ready %t, problems %q", state.Ready, state.Problems)
	}
	for _, want := range []string{"trigger.smtp.refused: ", "trigger.acme.x: "} {
		if !slices.ContainsFunc(state.Problems, func(p string) bool { return strings.HasPrefix(p, want) }) {
			t.Errorf("no problem of %s in %q", want, state.Problems)
		}
	}
	if !state.Watchers["local"].NextCheck.Equal(next) {
		t.Errorf("next check %v", state.Watchers)
	}
}

// TestUnreachableEngine: every answer that monitoring reads says it, and health stays well.
func TestUnreachableEngine(t *testing.T) {
	w := start(t, nil)
	local := w.opt.Components.All(kind.Watcher)[0]
	w.put(nginx())
	told := func(state string, failed int) {
		t.Helper()
		ready := decodeAs[readiness](w.get("/api/ready").want(503)) // triggers of the fixture are misconfigured
		problem := slices.ContainsFunc(ready.Problems, func(p string) bool {
			return p == "watcher.docker.local: connect: refused"
		})
		same(t, "problems tell of it", problem, failed > 0)
		same(t, "the state", w.get("/api/watchers").want(200).list()[0]["state"], any(state))
		same(t, "the summary", w.get("/api/summary?watcher=local").want(200).object()["failedWatchers"], any(float64(failed)))
		same(t, "the badge", strings.Contains(string(w.get("/api/badge.svg").want(200).body), "watcher failed"), failed > 0)
		same(t, "the metrics", strings.Contains(string(w.get("/metrics").want(200).body), fmt.Sprintf(`dogwatch_component_failed{id="watcher.docker.local"} %d`, failed)), true)
		w.get("/health").want(200)
	}
	told("ready", 0)
	refused := errors.New("watcher.docker.local: connect: refused") // as plugins' errors begin
	if !local.SetReached(refused) || local.SetReached(refused) || !local.Usable() {
		t.Error("the component does not tell what changed")
	}
	told("failed", 1)
	local.SetReached(nil)
	told("ready", 0)
}

func TestHealthCountsUp(t *testing.T) {
	now := time.Now()
	w := start(t, nil, func(o *Options) { o.Now = func() time.Time { return now } })
	now = now.Add(90500 * time.Millisecond)
	same(t, "uptime", w.get("/health").want(200).object()["uptime"], any(90.5))
}

// brokenStore fails like a store whose disk is full or whose file is damaged.
type brokenStore struct {
	Store
	err error
}

func (b brokenStore) Commit(context.Context, event.Change) error { return b.err }
func (b brokenStore) History(context.Context, event.Filter) ([]event.Event, error) {
	return nil, b.err
}
func (b brokenStore) Deliveries(context.Context, store.DeliveryFilter) ([]delivery.Delivery, error) {
	return nil, b.err
}
func (b brokenStore) LastEvent(context.Context) (int64, error)                  { return 0, b.err }
func (b brokenStore) Retry(context.Context, int64) error                        { return b.err }
func (b brokenStore) OldestEvent(context.Context) (int64, error)                { return 0, b.err }
func (b brokenStore) Events(context.Context, int64, int) ([]event.Event, error) { return nil, b.err }

func TestBrokenStore(t *testing.T) {
	w := start(t, nil, func(o *Options) {
		o.Store = brokenStore{o.Store, errors.New("store.db: no such table: runtime error")}
	})
	w.put(nginx())
	w.get("/api/containers").want(200) // from memory
	w.do("DELETE", "/api/containers/"+nginx().ID, "").fails(500, "internal error")
	w.get("/api/events").fails(500, "internal error")
	w.get("/api/events", "Accept", "text/event-stream").fails(500, "internal error")
	w.get("/api/deliveries").fails(500, "internal error")
	w.do("POST", "/api/deliveries/1/retry", "").fails(500, "internal error")
	w.get("/metrics").want(500)
	if !strings.Contains(w.log.String(), "no such table") {
		t.Errorf("the log does not tell why: %s", w.log)
	}
}

func TestFullDisk(t *testing.T) {
	w := start(t, nil, func(o *Options) {
		o.Store = brokenStore{o.Store, fmt.Errorf("save containers: %w: free space on the disk that holds the store", store.ErrFull)}
	})
	w.put(nginx())
	w.do("DELETE", "/api/containers/"+nginx().ID, "").fails(507, "disk full", "free space")
	same(t, "containers", w.get("/api/containers").want(200).names(), []string{"nginx"})
}
