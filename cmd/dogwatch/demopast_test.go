package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/store"
)

// TestDemoHasAPast that leads to what its containers run now.
func TestDemoHasAPast(t *testing.T) {
	lab, err := openHomelab(demoRules)
	if err != nil {
		t.Fatal(err)
	}
	defer lab.close()
	folder, now := t.TempDir(), time.Now()
	if err := lab.remember(t.Context(), folder, now); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), filepath.Join(folder, "dogwatch.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, a := range lab.apps {
		r, known := s.Snapshot().Named(demoWatcher, a.name)
		if !known || r.Container.Image.Tag.Value != a.running {
			t.Errorf("the past of %s does not end with %s: %+v", a.name, a.running, r)
		}
	}
	events, err := s.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	types, last := map[event.Type]int{}, time.Time{}
	for _, e := range events {
		if types[e.Type]++; e.At.Before(last) || e.At.After(now) {
			t.Errorf("%s of %s is at %v, after %v", e.Type, e.Subject, e.At, last)
		}
		last = e.At
	}
	if types[event.ContainerAdded] != len(lab.apps) || types[event.UpdateFound] < 20 ||
		types[event.ContainerReplaced] < 5 {
		t.Errorf("the past is too dull to be seen: %v", types)
	}
	if planned, err := s.Cursor(t.Context(), dispatch.Reader); err != nil || planned != events[len(events)-1].ID {
		t.Errorf("triggers are notified of the past from event %d on, %v", planned, err)
	}
	changes, err := s.Changes(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var log history.Log
	for _, c := range changes {
		log.Add(c)
	}
	if days := log.Days(now, nil); len(days) < history.Days-1 || days[len(days)-1].Age.Older == 0 {
		t.Errorf("%d days are known, and the last is %+v", len(days), days[len(days)-1])
	}
}
