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
	"github.com/dogwatch/dogwatch/sdk"
)

func TestUnreported(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), store.Options{Bus: &event.Bus{}, Now: time.Now, Log: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	finished := func(watcher string, single bool) event.Event {
		return event.Event{At: time.Now(), Type: event.CheckFinished, Subject: watcher, Payload: event.Payload{Check: &event.Check{Watcher: watcher, Single: single}}}
	}
	found := func(watcher, id string) event.Event {
		c := sdk.Container{ID: id, Name: id, Watcher: watcher}
		return event.Event{At: time.Now(), Type: event.UpdateFound, Subject: event.Subject(c), Payload: event.Payload{Container: &c}}
	}
	log := []event.Event{
		found("local", "reported"), finished("local", true),
		found("local", "in its own check"), finished("local", false),
		found("local", "a"), finished("local", true),
		found("remote", "never whole"),
		found("gone", "nobody asks"),
	}
	for range 2 * unreportedPage { // more than a page of other things
		log = append(log, event.Event{At: time.Now(), Type: event.CheckStarted, Subject: "local"})
	}
	log = append(log, found("local", "b"), found("local", "c")) // by a check that was killed
	if err := s.Commit(context.Background(), event.Change{Events: log}); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	if err := unreported(t.Context(), s, []string{"local", "remote"}, func(c sdk.Container) { got[c.Watcher] = append(got[c.Watcher], c.ID) }); err != nil {
		t.Fatal(err)
	}
	if want := map[string][]string{"local": {"c", "b", "a"}, "remote": {"never whole"}}; !reflect.DeepEqual(got, want) {
		t.Fatalf("unreported are %v, want %v", got, want)
	}
}
