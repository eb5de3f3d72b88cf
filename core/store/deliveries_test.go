package store

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
)

func offer(trigger, subject, fingerprint string) delivery.Delivery {
	return delivery.Delivery{Trigger: trigger, Subject: subject, Fingerprint: fingerprint, Event: 1, Run: "r1",
		Containers: []string{"id of " + subject}, Payload: []byte(`[{"id":"1"}]`)}
}

func plan(t *testing.T, s *Store, ds ...delivery.Delivery) int {
	t.Helper()
	n, err := s.Plan(t.Context(), "dispatch", 1, ds)
	must(t, err)
	return n
}

func claim(t *testing.T, s *Store, trigger string, now time.Time) delivery.Delivery {
	t.Helper()
	d, ok, err := s.Claim(t.Context(), trigger, now)
	must(t, err)
	if !ok {
		t.Fatalf("nothing to claim for %s", trigger)
	}
	return d
}

func idle(t *testing.T, s *Store, trigger string, now time.Time) {
	t.Helper()
	if d, ok, err := s.Claim(t.Context(), trigger, now); ok || err != nil {
		t.Fatalf("claimed %+v (%v), want nothing due", d, err)
	}
}

func TestDeliveryFromPlanToSent(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	want := offer("smtp.main", "local/web", "f1")
	want.Batch = true
	plan(t, s, want)
	want.ID, want.State, want.NextAt, want.CreatedAt, want.UpdatedAt = 1, delivery.Pending, start, start, start
	got, err := s.Delivery(ctx, 1)
	must(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("planned %+v\nwant    %+v", got, want)
	}

	idle(t, s, "smtp.other", start)
	idle(t, s, "smtp.main", start.Add(-time.Millisecond))
	want.State, want.Attempts = delivery.Sending, 1
	if got := claim(t, s, "smtp.main", start); !reflect.DeepEqual(got, want) {
		t.Errorf("claimed %+v\nwant    %+v", got, want)
	}
	idle(t, s, "smtp.main", start.Add(time.Hour))

	s = again(t, s) // the attempt is in the file before it is made
	if got, err := s.Delivery(ctx, 1); err != nil || got.Attempts != 1 || got.State != delivery.Sending {
		t.Errorf("after a restart: %+v, %v", got, err)
	}

	must(t, s.Finish(ctx, 1, delivery.Outcome{
		State: delivery.Pending, Error: "connection refused", NextAt: start.Add(time.Minute),
	}))
	idle(t, s, "smtp.main", start.Add(59*time.Second))
	if at, ok, err := s.NextDue(ctx); err != nil || !ok || !at.Equal(start.Add(time.Minute)) {
		t.Errorf("next due %v, %v, %v", at, ok, err)
	}
	if got := claim(t, s, "smtp.main", start.Add(time.Minute)); got.Attempts != 2 ||
		got.Error != "connection refused" || len(got.Payload) == 0 {
		t.Errorf("claimed again %+v", got)
	}
	must(t,
		s.Finish(ctx, 1, delivery.Outcome{State: delivery.Sent, Title: "web can be updated"},
			event.Event{Type: event.TriggerSent, Subject: "smtp.main"}))
	got, err = s.Delivery(ctx, 1)
	must(t, err)
	if got.State != delivery.Sent || got.Title != "web can be updated" || got.Error != "" || len(got.Payload) != 0 {
		t.Errorf("finished %+v", got)
	}
	if events, err := s.Events(ctx, 0, 0); err != nil || len(events) != 1 || events[0].Type != event.TriggerSent {
		t.Errorf("events %+v, %v", events, err)
	}
	if _, ok, err := s.NextDue(ctx); ok || err != nil {
		t.Errorf("something is due: %v, %v", ok, err)
	}
}

func TestClaimTakesTheOldestDue(t *testing.T) {
	s := fresh(t)
	late, early := offer("a", "local/late", ""), offer("a", "local/early", "")
	late.NextAt, early.NextAt = start.Add(2*time.Minute), start.Add(time.Minute)
	plan(t, s, late, early, offer("b", "local/b", ""), offer("a", "local/1", ""), offer("a", "local/2", ""))
	var got []string
	for range 4 {
		got = append(got, claim(t, s, "a", start.Add(time.Hour)).Subject)
	}
	if want := []string{"local/1", "local/2", "local/early", "local/late"}; !slices.Equal(got, want) {
		t.Errorf("claimed %v, want %v", got, want)
	}
	for _, tc := range []struct {
		triggers []string
		want     bool
	}{{nil, true}, {[]string{"b"}, true}, {[]string{"a"}, false}, {[]string{"a", "b"}, true}, {[]string{"c"}, false}} {
		if _, ok, err := s.NextDue(t.Context(), tc.triggers...); ok != tc.want || err != nil {
			t.Errorf("NextDue(%v) = %v, %v", tc.triggers, ok, err)
		}
	}
}

func TestClaimIsExclusive(t *testing.T) {
	s := fresh(t)
	var ds []delivery.Delivery
	for i := range 60 {
		ds = append(ds, offer("a", "local/web", fmt.Sprint(i)))
	}
	plan(t, s, ds...)
	var mu sync.Mutex
	claimed := map[int64]int{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				d, ok, err := s.Claim(t.Context(), "a", start)
				if err != nil || !ok {
					if err != nil {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				claimed[d.ID]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for id, n := range claimed {
		if n != 1 {
			t.Errorf("delivery %d was claimed %d times", id, n)
		}
	}
	if len(claimed) != 60 {
		t.Errorf("%d of 60 claimed", len(claimed))
	}
}

func TestFinishAndRetryCheckTheState(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	plan(t, s, offer("a", "local/1", ""), offer("a", "local/2", ""))
	for title, tc := range map[string]struct{ got, want error }{
		"finish the unknown": {s.Finish(ctx, 99, delivery.Outcome{State: delivery.Sent}, happenings(1)...), ErrNotFound},
		"retry the unknown":  {s.Retry(ctx, 99), ErrNotFound},
		"retry the pending":  {s.Retry(ctx, 1), ErrConflict},
		"skip the pending":   {s.Finish(ctx, 1, delivery.Outcome{State: delivery.Skipped}), nil},
		"finish twice":       {s.Finish(ctx, 1, delivery.Outcome{State: delivery.Sent}, happenings(1)...), ErrConflict},
		"retry the skipped":  {s.Retry(ctx, 1), ErrConflict},
		"fail":               {s.Finish(ctx, 2, delivery.Outcome{State: delivery.Failed, Error: "no"}), nil},
		"read the unknown":   {func() error { _, err := s.Delivery(ctx, 99); return err }(), ErrNotFound},
	} {
		if !errors.Is(tc.got, tc.want) {
			t.Errorf("%s: %v, want %v", title, tc.got, tc.want)
		}
	}
	if err := s.Finish(ctx, 2, delivery.Outcome{State: "done"}); err == nil {
		t.Error("an unknown state was accepted")
	}
	if events, err := s.Events(ctx, 0, 0); err != nil || len(events) != 0 {
		t.Errorf("refused calls left events %v, %v", events, err)
	}
	must(t, s.Retry(ctx, 2))
	if d := claim(t, s, "a", start); d.ID != 2 || d.Attempts != 1 || len(d.Payload) == 0 {
		t.Errorf("retried as %+v", d)
	}
	must(t, s.Finish(ctx, 2, delivery.Outcome{State: delivery.Pending, Error: "no", NextAt: start.Add(time.Hour)}))
	if _, due, err := s.Claim(ctx, "a", start); due || err != nil {
		t.Errorf("it is due before its next attempt: %v, %v", due, err)
	}
	must(t, s.Retry(ctx, 2))
	if d := claim(t, s, "a", start); d.ID != 2 || d.Attempts != 2 || len(d.Payload) == 0 {
		t.Errorf("sent sooner as %+v", d)
	}
}

// TestDeliveryChangesTouchTheBus: pages show them, and nothing of this is in the log.
func TestDeliveryChangesTouchTheBus(t *testing.T) {
	bus := new(event.Bus)
	s := fresh(t, func(o *Options) { o.Bus = bus })
	var seen uint64
	touched := func(doing string, want bool) {
		t.Helper()
		types, now := bus.Touched(seen)
		if got := slices.Equal(types, []event.Type{event.DeliveryChanged}); got != want {
			t.Errorf("%s: touched %v", doing, types)
		}
		seen = now
	}
	plan := []delivery.Delivery{{Trigger: "a.b", Subject: "x", Fingerprint: "1"}}
	_, err := s.Plan(t.Context(), "r", 1, plan)
	must(t, err)
	touched("plan", true)
	_, err = s.Plan(t.Context(), "r", 2, plan)
	must(t, err)
	touched("plan the same", false)
	d, ok, err := s.Claim(t.Context(), "a.b", start)
	must(t, err)
	touched("claim", ok)
	_, _, err = s.Claim(t.Context(), "a.b", start)
	must(t, err)
	touched("claim nothing", false)
	must(t, s.Finish(t.Context(), d.ID, delivery.Outcome{State: delivery.Pending, NextAt: start}))
	touched("try again later", true)
	must(t, s.Finish(t.Context(), d.ID, delivery.Outcome{State: delivery.Failed}))
	touched("give up", true)
	must(t, s.Retry(t.Context(), d.ID))
	touched("retry", true)
	if last, err := s.LastEvent(t.Context()); err != nil || last != 0 {
		t.Errorf("the log has %d events (%v)", last, err)
	}
}

func TestRecoverDecidesByDelivery(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	plan(t, s, offer("smtp.main", "local/web", ""), offer("docker.local", "local/web", ""),
		offer("ntfy.x", "local/web", ""))
	claim(t, s, "smtp.main", start)
	claim(t, s, "docker.local", start)
	s = again(t, s)
	later := start.Add(time.Minute)
	decide := func(d delivery.Delivery) delivery.Outcome {
		if d.Attempts != 1 {
			t.Errorf("asked for the outcome of %+v", d)
		}
		if d.Trigger == "docker.local" {
			return delivery.Outcome{State: delivery.Failed, Error: "outcome unknown"}
		}
		return delivery.Outcome{State: delivery.Pending, Error: "interrupted", NextAt: later}
	}
	if n, err := s.Recover(ctx, decide); n != 2 || err != nil {
		t.Fatalf("Recover = %d, %v", n, err)
	}
	if n, err := s.Recover(ctx, decide); n != 0 || err != nil {
		t.Fatalf("Recover again = %d, %v", n, err)
	}
	if _, due, err := s.Claim(ctx, "smtp.main", start); due || err != nil {
		t.Errorf("due at once: %t, %v", due, err)
	}
	if d := claim(t, s, "smtp.main", later); d.Attempts != 2 {
		t.Errorf("tried again as %+v", d)
	}
	if d, err := s.Delivery(ctx, 2); err != nil || d.State != delivery.Failed || d.Error != "outcome unknown" {
		t.Errorf("given up as %+v, %v", d, err)
	}
	events, err := s.Events(ctx, 0, 0)
	must(t, err)
	want := event.Delivery{ID: 2, Trigger: "docker.local", Attempts: 1, Error: "outcome unknown"}
	if len(events) != 1 || events[0].Type != event.TriggerFailed || events[0].Subject != "docker.local" ||
		*events[0].Delivery != want {
		t.Errorf("events %+v", events)
	}
	if _, err := s.Recover(ctx, func(delivery.Delivery) delivery.Outcome {
		return delivery.Outcome{State: "gone"}
	}); err == nil {
		t.Error("an unknown state was accepted")
	}
}

func TestDeliveriesAreFilteredAndPaged(t *testing.T) {
	s := fresh(t)
	for i := range 6 {
		plan(t, s, offer([]string{"a", "b"}[i%2], "local/web", fmt.Sprint(i)))
	}
	claim(t, s, "a", start)
	for _, tc := range []struct {
		filter DeliveryFilter
		want   []int64
	}{
		{DeliveryFilter{}, []int64{6, 5, 4, 3, 2, 1}},
		{DeliveryFilter{Trigger: "a"}, []int64{5, 3, 1}},
		{DeliveryFilter{State: delivery.Sending}, []int64{1}},
		{DeliveryFilter{State: delivery.Pending, Trigger: "a", Limit: 1}, []int64{5}},
		{DeliveryFilter{Before: 5, Limit: 2}, []int64{4, 3}},
		{DeliveryFilter{State: delivery.Failed}, nil},
	} {
		ds, err := s.Deliveries(t.Context(), tc.filter)
		must(t, err)
		var got []int64
		for _, d := range ds {
			got = append(got, d.ID)
			if d.Payload != nil {
				t.Error("a list carries payloads")
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%+v: %v, want %v", tc.filter, got, tc.want)
		}
	}
}

func TestPruneKeepsFingerprintsOfContainers(t *testing.T) {
	now := start
	s := fresh(t, func(o *Options) { o.Now = func() time.Time { return now } })
	ctx := t.Context()
	must(t, s.Commit(ctx, event.Change{Put: []sdk.Container{container("local", "web", "1")}}))
	var ds []delivery.Delivery
	for i := range remembered + 2 {
		ds = append(ds, offer("a", "local/web", fmt.Sprint(i)))
	}
	ds = append(ds, offer("a", "local/gone", "f"), offer("a", "run-1", "f"), offer("a", "local/pending", "f"))
	plan(t, s, ds...)
	for range len(ds) - 1 {
		must(t, s.Finish(ctx, claim(t, s, "a", now).ID, delivery.Outcome{State: delivery.Sent}))
	}
	now = start.Add(48 * time.Hour)
	plan(t, s, offer("a", "local/recent", "f"))
	must(t, s.Finish(ctx, int64(len(ds)+1), delivery.Outcome{State: delivery.Sent}))
	must(t, s.Prune(ctx, start.Add(24*time.Hour)))
	left, err := s.Deliveries(ctx, DeliveryFilter{})
	must(t, err)
	count := map[string]int{}
	for _, d := range left {
		count[d.Subject]++
	}
	if want := map[string]int{
		"local/web": remembered, "local/pending": 1, "local/recent": 1,
	}; !reflect.DeepEqual(count, want) {
		t.Errorf("left %v, want %v", count, want)
	}
	if n := plan(t, s, offer("a", "local/web", fmt.Sprint(remembered+1))); n != 0 {
		t.Error("the container's latest offer was forgotten")
	}
}
