package dispatch

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/policy/window"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// summed gives a trigger the mode summary, daily at 08:00.
func summed(t *testing.T) func(*Trigger) {
	moments, err := window.ParseMoments("daily 08:00", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return func(tr *Trigger) { tr.Summary, tr.Operations, tr.Batch = moments, true, false }
}

// with gives the update of a container a decision.
func with(c sdk.Container, state string, reasons ...sdk.Reason) *sdk.Container {
	c.Decision = &sdk.Decision{State: state, Reasons: reasons}
	return &c
}

func TestSummaryListsUpdatesByState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone, got := simple(t, "ntfy.phone", summed(t))
		b := open(t, phone)
		defer func() { b.stop() }()
		excluded := minor("excluded")
		excluded.TriggerExclude = "ntfy.phone"
		b.list(
			with(minor("offered"), sdk.StateOffered), with(excluded, sdk.StateOffered),
			with(minor("waits"), sdk.StateOffered, sdk.Reason{Code: sdk.ReasonApproval}),
			with(withUpdate("auto", "1.0.0", "1.0.1", sdk.DiffPatch), sdk.StateAutomatic),
			with(moved("rebuilt"), sdk.StateOffered),
			with(minor("young"), sdk.StateHeld, sdk.Reason{Code: policy.ReasonMinAge, Text: "it is 1 day old"}),
			&sdk.Container{Name: "fine", Watcher: "local"},
		)
		settle(time.Minute)
		b.checked([]sdk.Container{minor("offered")})
		b.ended(event.OperationSucceeded, event.Operation{ID: "1", Kind: "update", Actor: "rule policy.update"})
		settle(7 * time.Hour)
		if len(got.all()) != 0 {
			t.Fatalf("sent before its time: %+v", got.all()[0])
		}
		b.ended(event.OperationRolledBack, event.Operation{ID: "2", Kind: "update", Error: "it ended with code 1\nand more"})
		settle(2 * time.Hour)
		// Of what did not work the trigger is notified at once, too.
		if len(got.all()) != 2 || got.all()[0].Event.Type != trigger.UpdateRolledBack {
			t.Fatalf("%d messages", len(got.all()))
		}
		r := got.all()[1]
		want := `Did not work:
- web: nginx:1.25.0 → nginx:1.26.0: it ended with code 1

To approve:
- waits: 1.0.0 → 1.1.0 (minor)

Offered:
- offered: 1.0.0 → 1.1.0 (minor)
- rebuilt: latest was rebuilt

Updated:
- web: nginx:1.25.0 → nginx:1.26.0, by rule policy.update

Will be updated by rule:
- auto: 1.0.0 → 1.0.1 (patch)

Held:
- young: 1.0.0 → 1.1.0 (minor), it is 1 day old
`
		if r.Body != want || r.Title != "Dogwatch: 1 did not work, 1 updated, 1 to approve, 2 offered, 1 automatic, 1 held" {
			t.Errorf("%s\n%s", r.Title, r.Body)
		}
		if *r.Event.Summary != (trigger.Summary{
			Updated: 1, Failed: 1, Approval: 1, Offered: 2, Automatic: 1, Held: 1,
		}) || r.Event.Type != trigger.SummaryDue || len(r.Containers) != 0 || !r.Batch {
			t.Errorf("%+v %+v", r, r.Event.Summary)
		}
		if at := got.times()[1]; at.Hour() != 8 || at.Minute() != 0 {
			t.Errorf("sent at %v", at)
		}
		// The next one does not repeat what was done.
		b.list(b.listed()[0])
		settle(24 * time.Hour)
		if n := len(got.all()); n != 3 || got.all()[2].Body != "Offered:\n- offered: 1.0.0 → 1.1.0 (minor)\n" {
			t.Errorf("%d messages; the last: %s", n, got.all()[n-1].Body)
		}
		// With nothing to tell, nothing is sent.
		b.list(with(minor("young"), sdk.StateHeld))
		settle(48 * time.Hour)
		if n := len(got.all()); n != 3 {
			t.Errorf("an empty summary was sent: %s", got.all()[n-1].Body)
		}
	})
}

// TestSummaryTellsFailuresByCause: an outage is one line, whatever each error says.
func TestSummaryTellsFailuresByCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone, got := simple(t, "ntfy.phone", summed(t))
		b := open(t, phone)
		defer func() { b.stop() }()
		failing := func(name, cause, err string) *sdk.Container {
			return &sdk.Container{Name: name, Watcher: "local", Check: sdk.CheckState{State: sdk.CheckFailed},
				Error: &sdk.ContainerError{Message: err, Cause: cause}}
		}
		const hub = "Docker Hub does not answer"
		left := failing("left", hub, "no")
		left.TriggerExclude = "ntfy.phone"
		b.list(with(minor("offered"), sdk.StateOffered), failing("web", hub, "list tags of web: timeout"),
			failing("db", hub, "list tags of db: timeout"),
			failing("own", "", "label dogwatch.tag.include: wrong"), left)
		settle(9 * time.Hour)
		want := "Offered:\n- offered: 1.0.0 → 1.1.0 (minor)\n\nCould not be checked:\n- Docker Hub does not answer: " +
			"2 containers (db, web)\n- own: label dogwatch.tag.include: wrong\n"
		if r := got.all()[0]; r.Body != want || r.Title != "Dogwatch: 1 offered, 3 could not be checked" {
			t.Errorf("%s\n%s", r.Title, r.Body)
		}
	})
}

func TestSummaryIsSentOnceAfterDaysOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone, got := simple(t, "ntfy.phone", summed(t))
		b := open(t, phone)
		b.list(with(minor("web"), sdk.StateOffered))
		settle(9 * time.Hour)
		b.stop()
		settle(5 * 24 * time.Hour)
		b.start(nil)
		settle(time.Minute)
		b.stop()
		b.start(nil)
		settle(time.Minute)
		b.stop()
		if n := len(got.all()); n != 2 {
			t.Errorf("%d summaries, want one of the first day and one of the days off", n)
		}
		if since, at := got.all()[1].Event.Since, got.all()[1].Event.At; at.Sub(since.Time) != 5*24*time.Hour {
			t.Errorf("the second is about %v to %v", since, at)
		}
	})
}

func TestEmptySummaryIsSentOnRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone, got := simple(t, "ntfy.phone", summed(t), func(t *Trigger) { t.SummaryEmpty = true })
		b := open(t, phone)
		defer b.stop()
		settle(9 * time.Hour)
		if len(got.all()) != 1 || got.all()[0].Title != "Dogwatch: nothing to do" ||
			!strings.HasPrefix(got.all()[0].Body, "Nothing was done") {
			t.Errorf("%+v", got.all())
		}
	})
}

// failingStore fails every second plan of a summary, after or before it is stored.
type failingStore struct {
	Store
	calls *atomic.Int64
}

func (s failingStore) PlanSummary(
	ctx context.Context, id string, upTo delivery.Summary, ds ...delivery.Delivery,
) error {
	switch s.calls.Add(1) % 4 {
	case 1:
		return errors.New("disk full")
	case 3: // as if the process had been killed after the commit
		return errors.Join(s.Store.PlanSummary(ctx, id, upTo, ds...), errors.New("interrupted"))
	}
	return s.Store.PlanSummary(ctx, id, upTo, ds...)
}

func TestSummarySurvivesAFailingStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone, got := simple(t, "ntfy.phone", summed(t))
		var calls atomic.Int64
		b := open(t, phone)
		b.stop()
		b.list(with(minor("web"), sdk.StateOffered))
		b.start(func(s Store) Store { return failingStore{s, &calls} })
		defer func() { b.stop() }()
		settle(4*24*time.Hour + 9*time.Hour)
		if n := len(got.all()); n != 5 {
			t.Errorf("%d summaries in five days", n)
		}
	})
}
