package store

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
)

func eventIDs(t *testing.T) func([]event.Event, error) []int64 {
	return func(events []event.Event, err error) (out []int64) {
		t.Helper()
		must(t, err)
		for _, e := range events {
			out = append(out, e.ID)
		}
		return out
	}
}

func TestEventsComeBackAsTheyWere(t *testing.T) {
	s := fresh(t)
	c := container("local", "web", "1")
	c.Image.Digest.Repos, c.Check.At = nil, sdk.TimeOf(start) // as its JSON form
	want := []event.Event{
		{ID: 1, At: start, Type: event.UpdateFound, Subject: "local/web", Run: "r1", Payload: event.Payload{Container: &c}},
		{ID: 2, At: start.Add(time.Hour), Type: event.CheckFinished, Subject: "docker.local", Run: "r1",
			Payload: event.Payload{Check: &event.Check{Watcher: "local", Containers: 3, Updates: []string{"1"}, Took: "1s"}}},
		{ID: 3, At: start, Type: event.TriggerFailed, Subject: "smtp.main",
			Payload: event.Payload{Delivery: &event.Delivery{ID: 4, Trigger: "smtp.main", Attempts: 8, Error: "<no>"}}},
		{
			ID: 4, At: start, Type: event.PluginDown, Subject: "triggers",
			Payload: event.Payload{Plugin: &event.Plugin{State: "backoff"}},
		},
	}
	in := slices.Clone(want)
	in[0].At, in[0].ID = time.Time{}, 77 // the store gives both
	must(t, s.Commit(t.Context(), event.Change{Events: in}))
	got, err := s.Events(t.Context(), 0, 0)
	must(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if in[0].ID != 77 {
		t.Error("the caller's events were changed")
	}
}

func TestEventsArePaged(t *testing.T) {
	s, ids := fresh(t), eventIDs(t)
	ctx := t.Context()
	must(t, s.Commit(ctx, event.Change{Events: happenings(250)}))
	for title, tc := range map[string]struct {
		got         []int64
		first, last int64
		n           int
	}{
		"from the beginning":         {ids(s.Events(ctx, 0, 10)), 1, 10, 10},
		"after":                      {ids(s.Events(ctx, 10, 10)), 11, 20, 10},
		"up to the end":              {ids(s.Events(ctx, 245, 10)), 246, 250, 5},
		"without a limit":            {ids(s.Events(ctx, 0, 0)), 1, 100, 100},
		"backwards from the newest":  {ids(s.EventsBefore(ctx, 0, 10)), 250, 241, 10},
		"backwards":                  {ids(s.EventsBefore(ctx, 241, 10)), 240, 231, 10},
		"backwards to the beginning": {ids(s.EventsBefore(ctx, 3, 10)), 2, 1, 2},
	} {
		if len(tc.got) != tc.n || tc.got[0] != tc.first || tc.got[tc.n-1] != tc.last {
			t.Errorf("%s: got %v, want %d from %d to %d", title, tc.got, tc.n, tc.first, tc.last)
		}
	}
	if got := ids(s.Events(ctx, 250, 10)); got != nil {
		t.Errorf("got %v after the last", got)
	}
}

func TestLastAndOldestEventSurvivePruning(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	expect := func(title string, wantOldest, wantLast int64) {
		t.Helper()
		oldest, err := s.OldestEvent(ctx)
		must(t, err)
		last, err := s.LastEvent(ctx)
		must(t, err)
		if oldest != wantOldest || last != wantLast {
			t.Errorf("%s: oldest %d, last %d, want %d, %d", title, oldest, last, wantOldest, wantLast)
		}
	}
	expect("empty", 1, 0)
	must(t, s.Commit(ctx, event.Change{Events: happenings(10)}))
	expect("ten", 1, 10)
	must(t, s.Prune(ctx, start.Add(seconds(4))))
	expect("four pruned", 5, 10)
	must(t, s.Prune(ctx, start.Add(time.Hour)))
	expect("all pruned", 11, 10)
	s = again(t, s)
	expect("all pruned, restarted", 11, 10)
	must(t, s.Commit(ctx, event.Change{Events: happenings(1)}))
	expect("one more", 11, 11)
}

func TestPruneWaitsForCursors(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	must(t, s.Commit(ctx, event.Change{Events: happenings(10)}))
	for reader, cursor := range map[string]int64{"dispatch": 3, "other": 7} {
		_, err := s.Plan(ctx, reader, cursor, nil)
		must(t, err)
	}
	must(t, s.Prune(ctx, start.Add(time.Hour)))
	if got := eventIDs(t)(s.Events(ctx, 0, 0)); len(got) != 7 || got[0] != 4 {
		t.Errorf("events left: %v, want those that dispatch has not passed, from 4", got)
	}
}

func TestCommitsWakeReaders(t *testing.T) {
	bus := new(event.Bus)
	s := fresh(t, func(o *Options) { o.Bus = bus })
	sub := bus.Subscribe()
	defer sub.Close()
	woken := func() bool {
		select {
		case <-sub.C():
			return true
		default:
			return false
		}
	}
	must(t, s.Commit(t.Context(), event.Change{Events: happenings(1)}))
	if !woken() {
		t.Error("Commit woke no reader")
	}
	if err := s.Commit(t.Context(), event.Change{Put: []sdk.Container{{}}}); err == nil || woken() {
		t.Errorf("a commit that stored nothing (%v) woke readers", err)
	}
	_, err := s.Plan(t.Context(), "dispatch", 1, nil)
	must(t, err)
	if woken() {
		t.Error("moving a cursor woke readers, who would then move it again")
	}
	_, err = s.Plan(t.Context(), "dispatch", 1, []delivery.Delivery{{Trigger: "a", Subject: "b", Fingerprint: "c"}})
	must(t, err)
	if !woken() {
		t.Error("Plan woke no reader")
	}
	must(t, s.Finish(t.Context(), 1, delivery.Outcome{State: delivery.Failed}))
	if !woken() {
		t.Error("Finish woke no reader")
	}
	must(t, s.Retry(t.Context(), 1))
	if !woken() {
		t.Error("Retry woke no reader")
	}
}

// TestEventsReadersSeeEachOnceInOrder has several writers and several readers
// that follow the log by wake-ups, while others read containers.
func TestEventsReadersSeeEachOnceInOrder(t *testing.T) {
	bus := new(event.Bus)
	s := fresh(t, func(o *Options) { o.Bus = bus })
	const writers, commits = 4, 25
	var wg sync.WaitGroup
	for range 3 {
		sub := bus.Subscribe()
		wg.Go(func() {
			defer sub.Close()
			var at int64
			for at < 2*writers*commits {
				events, err := s.Events(t.Context(), at, 7)
				if err != nil {
					t.Error(err)
					return
				}
				for _, e := range events {
					if e.ID != at+1 {
						t.Errorf("event %d follows %d", e.ID, at)
						return
					}
					at = e.ID
				}
				if len(events) == 0 && sub.Wait(t.Context()) != nil {
					return
				}
			}
		})
	}
	for w := range writers {
		wg.Go(func() {
			for i := range commits {
				c := container("local", string(rune('a'+w)), string(rune('a'+w)))
				c.Status = time.Duration(i).String()
				if err := s.Commit(context.Background(), event.Change{Put: []sdk.Container{c}, Events: happenings(2)}); err != nil {
					t.Error(err)
				}
				if r, ok := s.Snapshot().Get(c.ID); !ok || r.Container.Status != c.Status {
					t.Error("a writer does not see its own commit")
				}
			}
		})
	}
	wg.Wait()
	if got := len(again(t, s).Snapshot().All()); got != writers {
		t.Errorf("%d containers, want %d", got, writers)
	}
}
