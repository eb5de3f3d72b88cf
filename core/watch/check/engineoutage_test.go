package check

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
)

// outages is a fixture whose engine fails and whose clock the test sets.
func outages(t *testing.T) (w *fixture, now *time.Time, reached *[]string) {
	t.Helper()
	clock, said := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC), []string{}
	w = open(t, func(_ *fixture, opt *options) {
		opt.Now = func() time.Time { return clock }
		opt.Reached = func(watcher string, err error) {
			if err == nil {
				err = errors.New("ok")
			}
			said = append(said, watcher+": "+err.Error())
		}
	})
	return w, &clock, &said
}

func (w *fixture) fails(err error) {
	w.engine.mu.Lock()
	defer w.engine.mu.Unlock()
	w.engine.err = err
}

// watcherEvents returns the stored events of the types about engines.
func (w *fixture) watcherEvents() (all []event.Event) {
	w.t.Helper()
	found, err := w.store.Events(context.Background(), 0, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.DeleteFunc(found, func(e event.Event) bool { return e.Watcher == nil })
}

func TestOutageIsReportedOnce(t *testing.T) {
	w, now, reached := outages(t)
	began := *now
	local := Watcher{Name: "local", WatchByDefault: true, Lister: w.engine}
	w.fails(errors.New("connection refused"))
	for range 2 { // a restart of an engine, which is no outage
		if _, err := w.Run(t.Context(), local); err == nil {
			t.Fatal("a check without an engine succeeded")
		}
		*now = now.Add(10 * time.Second)
	}
	if all := w.watcherEvents(); len(all) != 0 {
		t.Errorf("after ten seconds: %+v", all)
	}
	for range 3 {
		if w.Probe(t.Context(), local) == nil {
			t.Fatal("a probe without an engine succeeded")
		}
		*now = now.Add(time.Hour)
	}
	all := w.watcherEvents()
	if len(all) != 1 || all[0].Type != event.WatcherFailed || all[0].Subject != "local" ||
		!all[0].Watcher.Since.Equal(began) || all[0].Watcher.Error != "connection refused" {
		t.Fatalf("after an hour: %+v", all)
	}
	if o, failing := w.Outage("local"); !failing || !o.Reported || !o.Since.Equal(began) {
		t.Errorf("the outage is %+v, %v", o, failing)
	}
	w.fails(nil)
	for range 2 {
		if _, err := w.Run(t.Context(), local); err != nil {
			t.Fatal(err)
		}
	}
	all = w.watcherEvents()
	if len(all) != 2 || all[1].Type != event.WatcherRecovered || !all[1].Watcher.Since.Equal(began) {
		t.Errorf("after the engine came back: %+v", all)
	}
	if _, failing := w.Outage("local"); failing {
		t.Error("the outage goes on")
	}
	want := slices.Concat(slices.Repeat([]string{"local: connection refused"}, 5), []string{"local: ok", "local: ok"})
	if !slices.Equal(*reached, want) {
		t.Errorf("reached is %q", *reached)
	}
}

func TestShortOutageIsNotReported(t *testing.T) {
	w, now, _ := outages(t)
	local := Watcher{Name: "local", WatchByDefault: true, Lister: w.engine}
	for range 3 {
		w.fails(errors.New("connection refused"))
		_ = w.Probe(t.Context(), local)
		*now = now.Add(time.Hour)
		w.fails(nil)
		if err := w.Probe(t.Context(), local); err != nil {
			t.Fatal(err)
		}
	}
	if all := w.watcherEvents(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// TestCancelledProbe: that Dogwatch stops says nothing about the engine.
func TestCancelledProbe(t *testing.T) {
	w, _, reached := outages(t)
	w.engine.wait = make(chan struct{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if w.Probe(ctx, Watcher{Name: "local", Lister: w.engine}) == nil {
		t.Error("a cancelled probe succeeded")
	}
	if _, failing := w.Outage("local"); failing || len(*reached) != 0 {
		t.Errorf("reached is %q", *reached)
	}
}

func TestRecoveredOutageHasNoSecondEvent(t *testing.T) {
	w, now, reached := outages(t)
	local := Watcher{Name: "local", WatchByDefault: true, Lister: w.engine}
	w.recoverOutage("local", event.Outage{Since: now.Add(-time.Hour), Error: "connection refused"})
	if !slices.Equal(*reached, []string{"local: connection refused"}) {
		t.Errorf("reached is %q", *reached)
	}
	w.fails(errors.New("connection refused"))
	for range 3 {
		_ = w.Probe(t.Context(), local)
		*now = now.Add(time.Minute)
	}
	if all := w.watcherEvents(); len(all) != 0 {
		t.Errorf("another event: %+v", all)
	}
	w.fails(nil)
	if err := w.Probe(t.Context(), local); err != nil {
		t.Fatal(err)
	}
	if all := w.watcherEvents(); len(all) != 1 || all[0].Type != event.WatcherRecovered {
		t.Errorf("%+v", all)
	}
}
