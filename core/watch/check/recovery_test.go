package check

import (
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestRecoverBacklog(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	names := []string{"web", "cache", "late", "other", "own"}
	var containers []sdk.Container
	for _, n := range names {
		containers = append(containers, container(n, "nginx:1.25.0"))
	}
	w.engine.has(containers...)
	w.run()
	found := func(c sdk.Container) event.Event {
		return event.Event{
			At: time.Now(), Type: event.UpdateFound, Subject: event.Subject(c), Payload: event.Payload{Container: &c},
		}
	}
	checked := func(single bool) event.Event {
		return event.Event{
			At: time.Now(), Type: event.CheckFinished, Subject: "local",
			Payload: event.Payload{Check: &event.Check{Watcher: "local", Single: single}},
		}
	}
	recreated, gone, elsewhere := w.get("id-cache"), w.get("id-other"), w.get("id-other")
	recreated.ID = "id-before"
	gone.ID, gone.Name = "id-gone", "gone"
	elsewhere.Watcher = "removed"
	log := []event.Event{
		found(w.get("id-other")), checked(true),
		found(w.get("id-own")), checked(false),
		found(w.get("id-web")), checked(true), found(gone), found(w.get("id-web")), found(recreated), found(elsewhere),
	}
	for range 2 * recoveryPage { // more than a page of events that do not matter
		log = append(log, event.Event{At: time.Now(), Type: event.CheckStarted, Subject: "local"})
	}
	log = append(log, found(w.get("id-late"))) // by a check during which the process was killed
	if err := w.store.Commit(t.Context(), event.Change{Events: log}); err != nil {
		t.Fatal(err)
	}
	if err := w.Recover(t.Context(), w.store, []string{"local"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]string{{"id-cache", "id-late", "id-web"}, nil} {
		got := w.run().Found
		slices.Sort(got)
		equal(t, "found", got, want)
	}
}
