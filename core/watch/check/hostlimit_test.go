package check

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestQueueLimitsConcurrency counts the requests in flight, of two runs at once.
func TestQueueLimitsConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var underWay, most int
		w := open(t, func(_ *fixture, opt *options) { opt.Queries.Limits = registryquery.Limits{PerHost: 3, Total: 7} })
		defer w.store.Close()
		slow := func(context.Context, string) error {
			mu.Lock()
			underWay++
			most = max(most, underWay)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			underWay--
			mu.Unlock()
			return nil
		}
		var list, others []sdk.Container
		for h := range 4 {
			name := fmt.Sprintf("r%d.example", h)
			host := w.host(name)
			host.before = slow
			for i := range 10 {
				host.tags[fmt.Sprint("a", i)] = []string{"1.0"}
				list = append(list, container(fmt.Sprintf("c%d-%d", h, i), fmt.Sprintf("%s/a%d:1.0", name, i)))
				other := container(fmt.Sprintf("d%d-%d", h, i), fmt.Sprintf("%s/a%d:1.0", name, i))
				others = append(others, other)
			}
		}
		w.engine.has(list...)
		second := &engine{list: others}
		var wait sync.WaitGroup
		wait.Go(func() {
			if _, err := w.Run(t.Context(), Watcher{Name: "second", WatchByDefault: true, Lister: second}); err != nil {
				t.Error(err)
			}
		})
		w.run()
		wait.Wait()
		if most != 7 {
			t.Errorf("%d requests in flight, want the limit of 7 used and kept", most)
		}
		for name, host := range w.others {
			if host.most > 3 {
				t.Errorf("%s got %d requests at once", name, host.most)
			}
		}
	})
}

func limited(after time.Duration) error {
	return sdk.RateLimited(after, errors.New("too many requests"))
}

// TestQueueRetriesAfterShortPause: all requests to the host wait, and then go on.
func TestQueueRetriesAfterShortPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, func(_ *fixture, opt *options) { opt.Queries.Limits.PerHost = 1 })
		defer w.store.Close()
		n := 0
		w.hub.before = func(context.Context, string) error {
			if n++; n == 2 {
				return limited(3 * time.Second)
			}
			return nil
		}
		var list []sdk.Container
		for i := range 4 {
			w.hub.tags[fmt.Sprint("team/a", i)] = []string{"1.0", "1.1"}
			list = append(list, container(fmt.Sprint("c", i), fmt.Sprintf("team/a%d:1.0", i)))
		}
		w.engine.has(list...)
		began := time.Now()
		if report := w.run(); report.Failed != 0 || len(report.Updates) != 4 {
			t.Errorf("report %+v", report)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("took %s", took)
		}
		if n != 5 {
			t.Errorf("%d requests, want 4 and one again", n)
		}
	})
}

// TestQueueFailsDuringLongPause: the rest of the host fails at once, other hosts go on, and
// later runs do not request before the time.
func TestQueueFailsDuringLongPause(t *testing.T) {
	for _, c := range []struct {
		about string
		err   error
		pause time.Duration
	}{
		{"long", limited(20 * time.Minute), 20 * time.Minute},
		{"without a time", limited(0), defaultPause},
		{"short, but again and again", limited(2 * time.Second), 2*time.Second + defaultPause},
		{"absurd", limited(10 * 365 * 24 * time.Hour), maxPause},
	} {
		t.Run(c.about, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t, func(_ *fixture, opt *options) { opt.Queries.Limits.PerHost = 1 })
				defer w.store.Close()
				requests := 0
				w.hub.before = func(context.Context, string) error {
					requests++
					return c.err
				}
				ghcr := w.host("ghcr.io")
				var list []sdk.Container
				for i := range 5 {
					w.hub.tags[fmt.Sprint("team/a", i)] = []string{"1.0", "1.1"}
					ghcr.tags[fmt.Sprint("team/a", i)] = []string{"1.0", "1.1"}
					list = append(list, container(fmt.Sprint("c", i), fmt.Sprintf("team/a%d:1.0", i)),
						container(fmt.Sprint("g", i), fmt.Sprintf("ghcr.io/team/a%d:1.0", i)))
				}
				w.engine.has(list...)
				began := time.Now()
				report := w.run()
				if report.Failed != 0 || report.Postponed != 5 || len(report.Updates) != 5 {
					t.Errorf("report %+v", report)
				}
				if n := len(ghcr.requests()); n != 5 {
					t.Errorf("the other host got %d requests", n)
				}
				first := requests
				if first > 2 {
					t.Errorf("%d requests to the limited host", first)
				}
				until := began.Add(c.pause)
				if c := w.get("id-c3"); c.Error != nil || c.Check.PostponedReason != "docker.io limits requests" ||
					!c.Check.PostponedUntil.Equal(until) {
					t.Errorf("a postponed container has %+v, error %q; want until %s", c.Check, decision.Problem(c), until)
				}
				contains(t, "explanation", w.Explain(t.Context(), w.get("id-c3")).Error,
					"docker.io limits requests: not asked again before "+until.UTC().Format("2006-01-02 15:04:05 UTC"))

				time.Sleep(time.Until(until) - shortPause - time.Second)
				w.run()
				if requests != first {
					t.Error("requested again before the time")
				}
				time.Sleep(time.Until(until))
				c.err, w.hub.before = nil, nil
				if report := w.run(); report.Failed != 0 || len(report.Updates) != 10 {
					t.Errorf("after the pause: %+v", report)
				}
			})
		})
	}
}

// TestRateLimitWithoutRetryAfterIsNotRetried: a registry that limits requests
// without saying for how long is left alone after the one request it refused.
func TestRateLimitWithoutRetryAfterIsNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		defer w.store.Close()
		w.hub.before = func(context.Context, string) error { return limited(0) }
		w.engine.has(container("web", "nginx:1.25.0"))
		if r := w.run(); len(r.Updates) != 0 {
			t.Errorf("report %+v", r)
		}
		equal(t, "requests", w.hub.requests(), []string{"tags library/nginx"})
	})
}

// TestQueuedRequestSeesPause: a request that waits is not made once the host wants to be left alone.
func TestQueuedRequestSeesPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, func(_ *fixture, opt *options) { opt.Queries.Limits = registryquery.Limits{PerHost: 4, Total: 1} })
		defer w.store.Close()
		w.hub.before = func(context.Context, string) error {
			time.Sleep(time.Second)
			return limited(time.Hour)
		}
		w.engine.has(container("a", "a:1.0"), container("b", "b:1.0"), container("c", "c:1.0"))
		if r := w.run(); r.Postponed != 3 || r.Failed != 0 {
			t.Errorf("report %+v", r)
		}
		if n := len(w.hub.requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// TestFailureBudgetOfHungRegistry: it costs a run a bounded time, and other hosts nothing.
func TestFailureBudgetOfHungRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		defer w.store.Close()
		w.hub.before = func(ctx context.Context, _ string) error {
			ctx, cancel := context.WithTimeout(ctx, 30*time.Second) // the deadline of a call to a plugin
			defer cancel()
			<-ctx.Done()
			return sdk.WithKind(sdk.ErrUnavailable, errors.New("no answer within 30s"))
		}
		ghcr := w.host("ghcr.io")
		var list []sdk.Container
		for i := range 250 {
			list = append(list, container(fmt.Sprint("c", i), fmt.Sprintf("team/a%d:1.0", i)))
		}
		ghcr.tags["a/b"] = []string{"1.0", "1.1"}
		w.engine.has(append(list, container("web", "ghcr.io/a/b:1.0"))...)
		began := time.Now()
		if report := w.run(); report.Failed != 250 || len(report.Updates) != 1 {
			t.Errorf("report %+v", report)
		}
		if took := time.Since(began); took > time.Minute { // a second round may begin before the first has ended
			t.Errorf("the run took %s", took)
		}
		contains(t, "error", decision.Problem(w.get("id-c249")), "docker.io does not answer: not asked again before ")
		time.Sleep(time.Hour)
		w.hub.before = nil
		w.run()
		contains(t, "error an hour later", decision.Problem(w.get("id-c249")), "docker.io has no repository")
	})
}

// TestFastFailuresCostNoBudget: errors that come at once cost nothing, so every container gets its own.
func TestFastFailuresCostNoBudget(t *testing.T) {
	w := open(t)
	w.hub.before = func(context.Context, string) error {
		return sdk.WithKind(sdk.ErrUnavailable, errors.New("connection refused"))
	}
	var list []sdk.Container
	for i := range 50 {
		list = append(list, container(fmt.Sprint("c", i), fmt.Sprintf("team/a%d:1.0", i)))
	}
	w.engine.has(list...)
	w.run()
	if n := len(w.hub.requests()); n != 50 {
		t.Errorf("%d requests", n)
	}
}

// TestRunEndsWithItsContext, even while a registry hangs; nothing is concluded then.
func TestRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		defer w.store.Close()
		w.hub.before = func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}
		w.engine.has(container("web", "nginx:1.25.0"), container("db", "postgres:16"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		report, err := w.Run(ctx, w.local())
		if !errors.Is(err, context.DeadlineExceeded) || report.Error == "" {
			t.Errorf("%+v, %v", report, err)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("took %s", took)
		}
		if c := w.get("id-web"); c.Check.State != sdk.CheckNever {
			t.Errorf("state %+v", c.Check)
		}
		events, _ := w.store.Events(context.Background(), 0, 100)
		if last := events[len(events)-1]; last.Type != "check.failed" || last.Check.Error == "" {
			t.Errorf("last event %+v", last)
		}
	})
}
