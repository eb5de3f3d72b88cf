package store

import (
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
)

// byHand is a manual run of trigger "a" for a container.
func byHand(subject string) delivery.Delivery {
	return delivery.Delivery{
		Trigger: "a", Subject: subject, Fingerprint: delivery.NewManualFingerprint(), Containers: []string{"1"},
		Payload: []byte("[]"),
	}
}

func TestBeginRecordsManualRun(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	run, err := s.Begin(ctx, byHand("local/web"))
	must(t, err)
	if !run.Manual || run.State != delivery.Sending || run.Attempts != 1 || run.Event != 0 || !run.CreatedAt.Equal(start) {
		t.Errorf("begun as %+v", run)
	}
	if _, due, err := s.Claim(ctx, "a", start.Add(time.Hour)); due || err != nil {
		t.Errorf("it is claimed: %t, %v", due, err)
	}
	if n := plan(t, s, offer("a", "local/web", "f")); n != 1 {
		t.Error("a manual run keeps an update from being sent")
	}
	n, err := s.Recover(ctx, func(d delivery.Delivery) delivery.Outcome {
		if d.ID != run.ID || !d.Manual {
			t.Errorf("recovered %+v", d)
		}
		return delivery.Outcome{State: delivery.Failed, Error: "outcome unknown"}
	})
	if n != 1 || err != nil {
		t.Fatalf("%d recovered, %v", n, err)
	}
	events, err := s.Events(ctx, 0, 10)
	must(t, err)
	if want := (event.Delivery{
		ID: run.ID, Trigger: "a", Manual: true, Attempts: 1, Error: "outcome unknown",
	}); len(events) != 1 || *events[0].Delivery != want {
		t.Errorf("events %+v", events)
	}
	must(t, s.Retry(ctx, run.ID))
	if again := claim(t, s, "a", start.Add(time.Hour)); !again.Manual || again.ID != run.ID ||
		string(again.Payload) != "[]" {
		t.Errorf("retried as %+v", again)
	}
}

// TestPruneDropsManualRuns: they take no place of what keeps an update from being sent again.
func TestPruneDropsManualRuns(t *testing.T) {
	now := start
	s := fresh(t, func(o *Options) { o.Now = func() time.Time { return now } })
	ctx := t.Context()
	must(t, s.Commit(ctx, event.Change{Put: []sdk.Container{container("local", "web", "1")}}))
	plan(t, s, offer("a", "local/web", "f"))
	must(t, s.Finish(ctx, claim(t, s, "a", now).ID, delivery.Outcome{State: delivery.Sent}))
	for range 2 * remembered {
		run, err := s.Begin(ctx, byHand("local/web"))
		must(t, err)
		must(t, s.Finish(ctx, run.ID, delivery.Outcome{State: delivery.Sent}))
	}
	now = start.Add(48 * time.Hour)
	must(t, s.Prune(ctx, start.Add(24*time.Hour)))
	left, err := s.Deliveries(ctx, DeliveryFilter{})
	must(t, err)
	if len(left) != 1 || left[0].Fingerprint != "f" {
		t.Errorf("left %+v", left)
	}
}
