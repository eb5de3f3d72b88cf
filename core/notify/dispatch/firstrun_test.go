package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

func waiting(b Backlog) func(*Trigger) { return func(t *Trigger) { t.Backlog = b } }

// ten returns ten containers with an update each.
func ten() (all []sdk.Container, stored []*sdk.Container) {
	for i := range 10 {
		c := minor(fmt.Sprintf("app%d", i))
		all, stored = append(all, c), append(stored, with(c, sdk.StateOffered))
	}
	return all, stored
}

func titles(all []trigger.Request) (list []string) {
	for _, r := range all {
		list = append(list, r.Title)
	}
	return list
}

// TestFirstStartTellsOnce of what waits, for each mode and value of the option; later updates come as ever.
func TestFirstStartTellsOnce(t *testing.T) {
	later := "New tag found for container later"
	for about, c := range map[string]struct {
		change  []func(*Trigger)
		first   int
		message string
		then    string
	}{
		"summary": {[]func(*Trigger){waiting(BacklogSummary)}, 1, "10 updates are waiting", later},
		"summary, in batches": {[]func(*Trigger){waiting(BacklogSummary), batch}, 1, "10 updates are waiting",
			"1 updates available"},
		"none": {[]func(*Trigger){waiting(BacklogNone)}, 0, "", later},
		"each": {[]func(*Trigger){waiting(BacklogEach)}, 10, "New tag found for container app0",
			later},
		"each, in batches": {[]func(*Trigger){waiting(BacklogEach), batch}, 1, "10 updates available",
			"1 updates available"},
		"summary, only when asked": {[]func(*Trigger){waiting(BacklogSummary), func(t *Trigger) { t.Auto = false }}, 0,
			"", ""},
	} {
		t.Run(about, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				phone, got := simple(t, "ntfy.phone", c.change...)
				b := open(t, phone)
				defer func() { b.stop() }()
				all, stored := ten()
				b.list(stored...)
				b.checked(all)
				settle(time.Minute)
				b.checked(nil, all...)
				settle(time.Minute)
				if n := len(got.all()); n != c.first || n > 0 && got.all()[0].Title != c.message {
					t.Fatalf("%q, want %d, the first %q", titles(got.all()), c.first, c.message)
				}
				if r := got.all(); c.message == "10 updates are waiting" &&
					(len(r[0].Containers) != 0 || r[0].Event.Summary.Offered != 10) {
					t.Errorf("%+v", r[0])
				}
				got.forget()
				b.list(append(stored, with(minor("later"), sdk.StateOffered))...)
				b.checked([]sdk.Container{minor("later")}, all...)
				settle(time.Minute)
				if n := titles(got.all()); c.then == "" && len(n) > 0 ||
					c.then != "" && !slices.Equal(n, []string{c.then}) {
					t.Errorf("then %q, want %q", n, c.then)
				}
			})
		})
	}
}

// TestNewTriggerTellsOfWhatWaits: one that is added later, after the next check, and no other, which is notified of
// what that check finds.
func TestNewTriggerTellsOfWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone, got := simple(t, "ntfy.phone", waiting(BacklogSummary))
		b := open(t, phone)
		defer func() { b.stop() }()
		all, stored := ten()
		b.list(stored...)
		b.checked(all)
		settle(time.Minute)
		b.stop()
		mail, mailed := simple(t, "smtp.mail", waiting(BacklogSummary))
		b.triggers = append(b.triggers, mail)
		b.start(nil)
		settle(time.Minute)
		b.list(append(stored, with(minor("later"), sdk.StateOffered))...)
		b.checked([]sdk.Container{minor("later")}, all...)
		settle(time.Minute)
		old, fresh := titles(got.all()), titles(mailed.all())
		if !slices.Equal(old, []string{"10 updates are waiting", "New tag found for container later"}) ||
			!slices.Equal(fresh, []string{"11 updates are waiting"}) {
			t.Errorf("%q and %q", old, fresh)
		}
	})
}

// TestFirstStartWaitsForAllWatchers, so that there is one message, and none of single updates before it.
func TestFirstStartWaitsForAllWatchers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone, got := simple(t, "ntfy.phone", waiting(BacklogSummary))
		b := open(t)
		b.stop()
		b.triggers, b.atStart = []Trigger{phone}, []string{"local", "nas"}
		b.start(nil)
		defer func() { b.stop() }()
		all, stored := ten()
		b.list(stored...)
		b.checked(all[:5])
		settle(time.Minute)
		if n := len(got.all()); n != 0 {
			t.Errorf("%d messages before the second watcher was checked: %q", n, titles(got.all()))
		}
		b.report(event.Check{Watcher: "nas"}, all[5:])
		settle(time.Minute)
		if n := titles(got.all()); !slices.Equal(n, []string{"10 updates are waiting"}) {
			t.Errorf("%q", n)
		}
	})
}

// TestFirstRunWaitsForAReceiver: a trigger that nobody receives yet is notified of nothing, and of what waits once
// somebody does.
func TestFirstRunWaitsForAReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var subscribed atomic.Bool
		phone, got := simple(t, "webpush.phone", waiting(BacklogSummary), func(t *Trigger) {
			t.Received = func(context.Context) bool { return subscribed.Load() }
		})
		b := open(t, phone)
		defer func() { b.stop() }()
		all, stored := ten()
		b.list(stored...)
		b.checked(all)
		settle(time.Minute)
		if n := titles(got.all()); len(n) != 0 {
			t.Errorf("nobody receives %q", n)
		}
		subscribed.Store(true)
		b.checked(nil, all...)
		settle(time.Minute)
		if n := titles(got.all()); !slices.Equal(n, []string{"10 updates are waiting"}) {
			t.Errorf("%q", n)
		}
	})
}

// TestOlderInstallationKnowsWhatWaits: its triggers were notified of it before triggers had backlogs.
func TestOlderInstallationKnowsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone, got := simple(t, "ntfy.phone", waiting(BacklogSummary))
		b := open(t)
		defer func() { b.stop() }()
		if _, err := b.store.Plan(context.Background(), Reader, 1, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the dispatcher reads its triggers at its start
		b.triggers = []Trigger{phone}
		all, stored := ten()
		b.list(stored...)
		b.checked(nil, all...)
		settle(time.Minute)
		if len(got.all()) != 0 {
			t.Errorf("%q", titles(got.all()))
		}
	})
}

// failingPlans fails every second plan, after or before it is stored.
type failingPlans struct {
	failingStore
	plans int
}

func (s *failingPlans) Plan(ctx context.Context, reader string, cursor int64, ds []delivery.Delivery) (int, error) {
	s.plans++
	switch s.plans % 4 {
	case 1:
		return 0, errors.New("disk full")
	case 3: // as if the process had been killed after the commit
		n, err := s.failingStore.Plan(ctx, reader, cursor, ds)
		return n, errors.Join(err, errors.New("interrupted"))
	}
	return s.failingStore.Plan(ctx, reader, cursor, ds)
}

func TestFirstStartSurvivesAFailingStore(t *testing.T) {
	for _, change := range [][]func(*Trigger){{waiting(BacklogSummary)}, {waiting(BacklogSummary), batch}} {
		synctest.Test(t, func(t *testing.T) {
			phone, got := simple(t, "ntfy.phone", change...)
			b := open(t, phone)
			b.stop()
			all, stored := ten()
			b.list(stored...)
			var calls atomic.Int64
			b.start(func(s Store) Store { return &failingPlans{failingStore: failingStore{s, &calls}} })
			defer func() { b.stop() }()
			b.checked(all)
			settle(time.Hour)
			b.checked(nil, all...)
			settle(time.Hour)
			if n := titles(got.all()); !slices.Equal(n, []string{"10 updates are waiting"}) {
				t.Errorf("%q", n)
			}
		})
	}
}

// TestOlder: an installation stays older or newer, whatever it plans since.
func TestOlder(t *testing.T) {
	for cursor, want := range map[int64]bool{0: false, 7: true} {
		synctest.Test(t, func(t *testing.T) {
			b := open(t)
			defer func() { b.stop() }()
			if cursor > 0 {
				if _, err := b.store.Plan(context.Background(), Reader, cursor, nil); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if got, err := Older(t.Context(), b.store); got != want || err != nil {
					t.Errorf("planned up to %d: %t, %v", cursor, got, err)
				}
				for range 10 {
					b.checked([]sdk.Container{minor("web")})
				}
				settle(time.Minute)
			}
		})
	}
}
