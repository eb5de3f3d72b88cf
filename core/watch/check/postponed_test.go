package check

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestRateLimitPostponesCheck: containers of a registry that asks for a pause keep what
// is known of them, and say until when they are postponed.
func TestRateLimitPostponesCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		defer w.store.Close()
		w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
		w.hub.tags["library/redis"] = []string{"7.0.0"}
		update, current, failed := container("web", "nginx:1.25.0"), container("cache", "redis:7.0.0"),
			container("private", "team/private:1.0.0")
		w.engine.has(update, current, failed)
		w.run()
		before := map[string]sdk.Container{}
		for _, id := range []string{"id-web", "id-cache", "id-private"} {
			before[id] = w.get(id)
		}
		_, last := w.events(0)

		time.Sleep(time.Hour)
		w.hub.before = func(context.Context, string) error { return limited(20 * time.Minute) }
		until := sdk.TimeOf(time.Now().Add(20 * time.Minute))
		w.engine.has(update, current, failed, container("new", "nginx:1.26.0"))
		for range 2 { // the second has nothing new
			if report := w.run(); report.Postponed != 4 || report.Failed != 0 || len(report.Updates) != 0 ||
				len(report.Found) != 0 {
				t.Errorf("report %+v", report)
			}
		}
		for id, was := range before {
			was.Check.PostponedUntil, was.Check.PostponedReason = until, "docker.io limits requests"
			now := w.get(id)
			if now.Check != was.Check || decision.Problem(now) != decision.Problem(was) ||
				now.UpdateAvailable != was.UpdateAvailable || now.UpdateKind != was.UpdateKind {
				t.Errorf("%s is now\n%+v, was\n%+v", id, now, was)
			}
			if !reflect.DeepEqual(now.Result, was.Result) {
				t.Errorf("%s has now %+v, had %+v", id, now.Result, was.Result)
			}
		}
		if c := w.get("id-new"); c.Check.State != sdk.CheckNever || c.Check.PostponedUntil != until || c.Error != nil {
			t.Errorf("a new container has %+v, %q", c.Check, decision.Problem(c))
		}
		events, last := w.events(last)
		equal(t, "events", events, []string{
			"container.added local/new", "container.changed local/web", "container.changed local/cache",
			"container.changed local/private", "container.changed local/new",
		})
		if aspects := w.aspects(t); aspects != 4 {
			t.Errorf("%d events say that a check is postponed", aspects)
		}

		time.Sleep(21 * time.Minute)
		w.hub.before = nil
		if report := w.run(); report.Postponed != 0 || report.Failed != 1 {
			t.Errorf("after the pause: %+v", report)
		}
		for id, was := range before {
			if now := w.get(id); now.Check.Postponed() || now.Check.PostponedReason != "" || now.Check.State != was.Check.State {
				t.Errorf("%s after the pause: %+v", id, now.Check)
			}
		}
		events, _ = w.events(last)
		equal(t, "events after the pause", events, []string{
			"container.changed local/web", "container.changed local/cache", "container.changed local/private",
			"container.changed local/new",
		})
		if aspects := w.aspects(t); aspects != 7 { // of the new one more has changed
			t.Errorf("%d events say that a check is, or was, postponed", aspects)
		}
	})
}

// aspects counts the events about a pause alone.
func (w *fixture) aspects(t *testing.T) (n int) {
	t.Helper()
	events, err := w.store.Events(context.Background(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Aspect == event.Postponed {
			n++
		}
	}
	return n
}

// TestUnansweredRequestsFailTheCheck: a registry that does not answer has failed, and what is not requested of it any
// more has, too.
func TestUnansweredRequestsFailTheCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, func(_ *fixture, o *options) { o.Queries.Limits.PerHost = 1 })
		defer w.store.Close()
		w.hub.before = func(context.Context, string) error {
			time.Sleep(failureBudget)
			return sdk.WithKind(sdk.ErrUnavailable, errors.New("no answer"))
		}
		w.engine.has(container("a", "a:1.0"), container("b", "b:1.0"))
		if report := w.run(); report.Failed != 2 || report.Postponed != 0 {
			t.Errorf("report %+v", report)
		}
		contains(t, "error", decision.Problem(w.get("id-b")), "docker.io does not answer: not asked again before ")
	})
}
