package store

import (
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestPlanDeduplicatesUpdates(t *testing.T) {
	for state, pendingAgain := range map[string]bool{
		delivery.Pending: false, delivery.Sending: false, delivery.Sent: false, delivery.Failed: false,
		delivery.Skipped: true,
	} {
		t.Run(state, func(t *testing.T) {
			s := fresh(t)
			if n := plan(t, s, offer("a", "local/web", "f"), offer("a", "local/web", "f")); n != 1 {
				t.Errorf("%d planned, want 1", n)
			}
			if state != delivery.Pending {
				claim(t, s, "a", start)
			}
			if state != delivery.Sending {
				must(t, s.Finish(t.Context(), 1, delivery.Outcome{State: state, Error: "e"}))
			}
			again := offer("a", "local/web", "f")
			again.Payload = []byte("new")
			if n := plan(t, s, again); (n == 1) != pendingAgain {
				t.Errorf("%d planned again", n)
			}
			d, err := s.Delivery(t.Context(), 1)
			must(t, err)
			if pendingAgain && (d.State != delivery.Pending || d.Attempts != 0 || string(d.Payload) != "new") {
				t.Errorf("pending again as %+v", d)
			}
			if !pendingAgain && (d.State != state || string(d.Payload) == "new") {
				t.Errorf("changed into %+v", d)
			}
			if n := plan(t, s, offer("b", "local/web", "f"), offer("a", "local/other", "f"),
				offer("a", "local/web", "g")); n != 3 {
				t.Errorf("%d other offers planned, want 3", n)
			}
		})
	}
}

// TestRenamedContainerIsNotNotifiedTwice: under another name it is the same
// container, and what a trigger notified of it counts, even long ago.
func TestRenamedContainerIsNotNotifiedTwice(t *testing.T) {
	now := start
	s := fresh(t, func(o *Options) { o.Now = func() time.Time { return now } })
	must(t, s.Commit(t.Context(), event.Change{Put: []sdk.Container{container("local", "new", "1")}}))
	known := s.Snapshot().All()[0].Container.ID
	old, renamed, other := offer("a", "local/old", "f"), offer("a", "local/new", "f"), offer("a", "local/other", "f")
	old.Containers, renamed.Containers = []string{known}, []string{known}
	if n := plan(t, s, old); n != 1 {
		t.Fatalf("%d planned", n)
	}
	must(t, s.Finish(t.Context(), claim(t, s, "a", now).ID, delivery.Outcome{State: delivery.Sent}))
	now = start.Add(48 * time.Hour)
	must(t, s.Prune(t.Context(), start.Add(24*time.Hour)))
	if n := plan(t, s, renamed, other); n != 1 {
		t.Errorf("%d planned, want only that of the other container", n)
	}
	further, elsewhere := renamed, renamed
	further.Fingerprint, elsewhere.Trigger = "another update", "b"
	if n := plan(t, s, further, elsewhere); n != 2 {
		t.Errorf("%d planned, want another update, and another trigger's", n)
	}
}

func TestPlanIsOneTransaction(t *testing.T) {
	s := fresh(t)
	_, err := s.writer.Exec(`CREATE TRIGGER boom BEFORE INSERT ON deliveries WHEN NEW.subject = 'boom'
		BEGIN SELECT RAISE(ABORT, 'boom'); END`)
	must(t, err)
	plan(t, s, offer("a", "local/1", ""))
	n, err := s.Plan(t.Context(), "dispatch", 9, []delivery.Delivery{offer("a", "local/2", ""), offer("a", "boom", "")})
	if err == nil || n != 0 {
		t.Fatalf("Plan = %d, %v", n, err)
	}
	if ds, err := s.Deliveries(t.Context(), DeliveryFilter{}); err != nil || len(ds) != 1 {
		t.Errorf("deliveries %+v, %v", ds, err)
	}
	if at, err := s.Cursor(t.Context(), "dispatch"); err != nil || at != 1 {
		t.Errorf("cursor %d, %v, want it where it was", at, err)
	}
	_, err = s.Plan(t.Context(), "dispatch", 0, nil)
	must(t, err)
	if at, err := s.Cursor(t.Context(), "dispatch"); err != nil || at != 1 {
		t.Errorf("cursor moved back to %d, %v", at, err)
	}
	if at, err := s.Cursor(t.Context(), "new"); err != nil || at != 0 {
		t.Errorf("cursor of a new reader %d, %v", at, err)
	}
}
