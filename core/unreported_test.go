package core

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/store"
)

func TestUnreported(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), store.Options{Bus: &event.Bus{}, Now: time.Now, Log: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	finished := func(watcher string, single bool, found ...string) event.Event {
		return event.Event{At: time.Now(), Type: event.CheckFinished, Subject: watcher, Payload: event.Payload{Check: &event.Check{Watcher: watcher, Single: single, Found: found}}}
	}
	log := []event.Event{
		finished("local", true, "reported"),
		finished("local", false, "reported"),
		finished("local", true, "a"),
		finished("remote", true, "never whole"),
		finished("gone", true, "nobody asks"),
	}
	for range 2 * unreportedPage { // more than a page of other things
		log = append(log, event.Event{At: time.Now(), Type: event.CheckStarted, Subject: "local"})
	}
	log = append(log, finished("local", true, "b", "c"))
	if err := s.Commit(context.Background(), event.Change{Events: log}); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	if err := unreported(t.Context(), s, []string{"local", "remote"}, func(w string, ids []string) { got[w] = append(got[w], ids...) }); err != nil {
		t.Fatal(err)
	}
	if want := map[string][]string{"local": {"b", "c", "a"}, "remote": {"never whole"}}; !reflect.DeepEqual(got, want) {
		t.Fatalf("unreported are %v, want %v", got, want)
	}
}
