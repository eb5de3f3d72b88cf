package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestEventsAndReportOfACheck(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.hub.tags["library/redis"] = []string{"7.0"}
	w.engine.has(container("web", "nginx:1.25.0"), container("cache", "redis:7.0"), container("gone", "nothere:1.0"))
	report := w.run()
	if report.Watcher != "local" || report.Containers != 3 || report.Failed != 1 || report.Single ||
		!slices.Equal(report.Updates, []string{"id-web"}) || !slices.Equal(report.Found, []string{"id-web"}) ||
		report.Took == "" {
		t.Errorf("report %+v", report)
	}
	events, err := w.store.Events(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, e := range events {
		types = append(types, string(e.Type))
		if e.Run != events[0].Run || !strings.HasPrefix(e.Run, "local-") || e.At.IsZero() {
			t.Errorf("event %+v", e)
		}
	}
	equal(t, "events", types,
		[]string{"check.started", "container.added", "container.added", "container.added", "update.found",
			"container.changed", "check.finished"})
	if found := events[4].Container; found == nil || found.Result.Tag != "1.26.0" || !found.UpdateAvailable {
		t.Errorf("found %+v", found)
	}
	if started, finished := events[0].Check, events[6].Check; started.Containers != 0 || finished.Containers != 3 ||
		finished.Took != report.Took {
		t.Errorf("started %+v, finished %+v", started, finished)
	}
	again := w.run()
	if len(again.Found) != 0 || !slices.Equal(again.Updates, []string{"id-web"}) {
		t.Errorf("the second report %+v", again)
	}
}

// TestFailedChecksAreNoUpdates: what could not be confirmed is not reported as available.
func TestFailedChecksAreNoUpdates(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.engine.has(container("web", "nginx:1.25.0"))
	w.run()
	w.hub.errs["tags library/nginx "] = sdk.WithKind(sdk.ErrUnavailable, errors.New("down"))
	if report := w.run(); len(report.Updates) != 0 || report.Failed != 1 {
		t.Errorf("report %+v", report)
	}
	if c := w.get("id-web"); !c.UpdateAvailable || c.Result.Tag != "1.26.0" || c.Check.State != sdk.CheckFailed {
		t.Errorf("stored %+v", c)
	}
	delete(w.hub.errs, "tags library/nginx ")
	if report := w.run(); len(report.Found) != 0 || len(report.Updates) != 1 {
		t.Errorf("after the failure: %+v", report)
	}
	events, _ := w.events(0)
	if n := strings.Count(strings.Join(events, " "), "update.found"); n != 1 {
		t.Errorf("the update was found %d times: %q", n, events)
	}
}

func TestFailingWatcherRemovesNothing(t *testing.T) {
	w := open(t)
	quiet(w)
	w.engine.has(container("web", "nginx:1.25.0"))
	w.run()
	before := w.get("id-web")
	w.engine.list, w.engine.err = nil, sdk.WithKind(sdk.ErrUnavailable, errors.New("docker.local: the engine is down"))
	report, err := w.Run(t.Context(), w.local())
	if !errors.Is(err, sdk.ErrUnavailable) ||
		!strings.Contains(err.Error(), "check local: docker.local: the engine is down") || report.Error == "" {
		t.Errorf("%+v, %v", report, err)
	}
	if after := w.get("id-web"); after.Check != before.Check {
		t.Errorf("state %+v", after.Check)
	}
	events, _ := w.store.EventsBefore(t.Context(), 0, 1)
	if e := events[0]; e.Type != event.CheckFailed || e.Check.Error == "" {
		t.Errorf("last event %+v", e)
	}
}

func TestOverlappingRunsShareOneCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		defer w.store.Close()
		quiet(w)
		w.engine.has(container("web", "nginx:1.25.0"))
		w.hub.before = func(context.Context, string) error { time.Sleep(time.Minute); return nil }
		reports := make(chan event.Check, 3)
		for range 3 {
			go func() { reports <- w.run() }()
			time.Sleep(time.Second)
		}
		if got := w.Progress(); !slices.Equal(got, []Progress{{"local", 0, 1}}) {
			t.Errorf("progress %v", got)
		}
		first := <-reports
		for range 2 {
			if r := <-reports; r.Took != first.Took {
				t.Errorf("another run: %+v", r)
			}
		}
		if w.engine.lists != 1 || len(w.Progress()) > 0 {
			t.Errorf("%d listings, progress %v", w.engine.lists, w.Progress())
		}
		// Who is absorbed waits no longer than its own context.
		go w.run()
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.Run(ctx, w.local()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		time.Sleep(time.Hour)
	})
}

// TestFreshRepeatsAfterRunningCheck: a caller who knows of a change does not share a run that has listed.
func TestFreshRepeatsAfterRunningCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		defer w.store.Close()
		quiet(w)
		w.engine.has(container("web", "nginx:1.25.0"))
		w.hub.before = func(context.Context, string) error { time.Sleep(time.Minute); return nil }
		go w.run()
		time.Sleep(time.Second)
		w.engine.has(container("web", "nginx:1.25.0"), container("new", "nginx:1.25.0"))
		reports := make(chan event.Check, 2)
		for range 2 { // these two share one run
			go func() {
				r, err := w.Fresh(t.Context(), w.local())
				if err != nil {
					t.Error(err)
				}
				reports <- r
			}()
		}
		for range 2 {
			if r := <-reports; r.Containers != 2 {
				t.Errorf("report %+v", r)
			}
		}
		if w.engine.lists != 2 {
			t.Errorf("%d listings", w.engine.lists)
		}
	})
}

func TestOneChecksASingleContainer(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.hub.tags["library/redis"] = []string{"7.0", "7.1"}
	w.engine.has(container("web", "nginx:1.25.0"), container("cache", "redis:7.0"))
	if err := w.One(t.Context(), w.local(), "id-web"); err != nil {
		t.Fatal(err)
	}
	equal(t, "requests", w.hub.requests(), []string{"tags library/nginx"})
	if c := w.get("id-cache"); c.Check.State != sdk.CheckNever {
		t.Errorf("the other one: %+v", c.Check)
	}
	events, _ := w.store.EventsBefore(t.Context(), 0, 1)
	if c := events[0].Check; !c.Single || c.Containers != 1 || len(c.Found) != 1 {
		t.Errorf("report %+v", c)
	}
	if err := w.One(t.Context(), w.local(), "id-unknown"); !errors.Is(err, ErrNotListed) {
		t.Errorf("error %v", err)
	}
	w.engine.err = errors.New("down")
	if err := w.One(t.Context(), w.local(), "id-web"); err == nil || errors.Is(err, ErrNotListed) {
		t.Errorf("error %v", err)
	}
	w.engine.err = nil
	// A whole check reports what single ones found before it, once.
	for _, want := range [][]string{{"id-web", "id-cache"}, nil} {
		found := w.run().Found
		slices.Sort(found)
		slices.Sort(want)
		equal(t, "found", found, want)
	}
}

// TestBacklogDropsVanishedUpdates are not reported by the next whole check.
func TestBacklogDropsVanishedUpdates(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.engine.has(container("web", "nginx:1.25.0"))
	for range 3 {
		if err := w.One(t.Context(), w.local(), "id-web"); err != nil {
			t.Fatal(err)
		}
	}
	w.hub.tags["library/nginx"] = []string{"1.25.0"}
	if r := w.run(); len(r.Found) != 0 {
		t.Errorf("report %+v", r)
	}
}

func TestSetStatus(t *testing.T) {
	w := open(t)
	quiet(w)
	w.engine.has(container("web", "nginx:1.25.0"))
	w.run()
	_, last := w.events(0)
	before := w.get("id-web")
	for _, c := range []struct{ watcher, id, status string }{
		{"local", "id-web", "paused"}, {"local", "id-web", "paused"}, {"local", "id-web", ""},
		{"other", "id-web", "exited"}, {"local", "id-unknown", "exited"},
	} {
		if err := w.SetStatus(t.Context(), c.watcher, c.id, c.status); err != nil {
			t.Error(err)
		}
	}
	after := w.get("id-web")
	if after.Status != "paused" || after.Check != before.Check || after.Result.Tag != before.Result.Tag {
		t.Errorf("stored %+v", after)
	}
	events, _ := w.events(last)
	equal(t, "events", events, []string{"container.changed local/web"})
}

// TestSetStatusDuringACheck is recorded after it, for the check knows the older status.
func TestSetStatusDuringACheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		defer w.store.Close()
		quiet(w)
		w.engine.has(container("web", "nginx:1.25.0"))
		w.hub.before = func(context.Context, string) error { time.Sleep(time.Minute); return nil }
		go w.run()
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.SetStatus(ctx, "local", "id-web", "exited"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if err := w.SetStatus(t.Context(), "local", "id-web", "exited"); err != nil {
			t.Error(err)
		}
		if c := w.get("id-web"); c.Status != "exited" || c.Check.State != sdk.CheckOK {
			t.Errorf("stored %+v", c)
		}
	})
}

// TestUnknownHostIsServedByRegistryOfAllHosts: a host without a component of its own is served by whatever serves all
// hosts.
func TestUnknownHostIsServedByRegistryOfAllHosts(t *testing.T) {
	w := open(t, func(w *fixture, opt *options) { opt.Queries.Registries = anyHost{w.hub} })
	w.hub.tags["team/app"] = []string{"1.0", "1.1"}
	w.engine.has(container("web", "registry.unheard.example:5000/team/app:1.0"))
	if r := w.run(); len(r.Updates) != 1 {
		t.Errorf("report %+v", r)
	}
	if c := w.get("id-web"); c.Image.Registry != (sdk.Registry{
		Name: "public.any", URL: "https://registry.unheard.example:5000/v2", Host: "registry.unheard.example:5000",
	}) {
		t.Errorf("registry %+v", c.Image.Registry)
	}
}

type anyHost struct{ r registryquery.Registry }

func (a anyHost) For(host string) (registryquery.Match, bool) {
	return registryquery.Match{ID: "public.any", URL: "https://" + host + "/v2", Registry: a.r}, true
}

// TestRegistryIsResolvedAtEveryCheck: renaming a component leaves no container behind.
func TestRegistryIsResolvedAtEveryCheck(t *testing.T) {
	w := open(t)
	quiet(w)
	w.engine.has(container("web", "nginx:1.25.0"))
	w.run()
	w.opt.Queries.Registries = anyHost{w.hub}
	w.restart()
	w.run()
	if c := w.get("id-web"); c.Image.Registry.Name != "public.any" || c.Check.State != sdk.CheckOK {
		t.Errorf("stored %+v", c.Image.Registry)
	}
}

// refusing is a store that cannot be written from the nth commit on.
type refusing struct {
	decision.Store
	left int
}

func (r *refusing) Commit(ctx context.Context, ch event.Change) error {
	if r.left--; r.left < 0 {
		return errors.New("disk full: free space")
	}
	return r.Store.Commit(ctx, ch)
}

// TestStoreCannotBeWritten: the check fails and says so, whichever write it is.
func TestStoreCannotBeWritten(t *testing.T) {
	for n := range 3 {
		w := open(t, func(w *fixture, opt *options) { opt.Store = &refusing{opt.Store, n} })
		quiet(w)
		w.engine.has(container("web", "nginx:1.25.0"))
		report, err := w.Run(t.Context(), w.local())
		if err == nil || !strings.Contains(err.Error(), "disk full") || report.Error == "" || report.Containers != 0 {
			t.Errorf("commit %d refused: %+v, %v", n, report, err)
		}
		contains(t, "log", w.log.String(), "check failed", "record the end of a check")
		// With room again, the next check makes up for it.
		w.opt.Store = w.store
		w.restart()
		if r := w.run(); r.Containers != 1 || r.Failed != 0 {
			t.Errorf("afterwards: %+v", r)
		}
	}
}

// TestRunsHaveDistinctIDs, even when the clock stands still.
func TestRunsHaveDistinctIDs(t *testing.T) {
	at := time.Now()
	w := open(t, func(_ *fixture, opt *options) { opt.Now = func() time.Time { return at } })
	for range 5 {
		w.run()
	}
	runs := map[string]bool{}
	events, _ := w.store.Events(t.Context(), 0, 100)
	for _, e := range events {
		runs[e.Run] = true
	}
	if len(runs) != 5 {
		t.Errorf("runs %v", runs)
	}
}

// TestSlowPatternFailsItsContainerAlone: rules that take too long fail their own container, and name the label.
func TestSlowPatternFailsItsContainerAlone(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", strings.Repeat("a", 60) + "!"}
	w.engine.has(container("slow", "nginx:1.25.0", `wud.tag.include=^(?=a)(a+)+$`), container("web", "nginx:1.25.0"))
	if r := w.run(); r.Failed != 1 {
		t.Errorf("report %+v", r)
	}
	contains(t, "error", decision.Problem(w.get("id-slow")), "label wud.tag.include: ", "takes too long")
}

// TestRulesWithoutEffectAreLoggedOnce.
func TestRulesWithoutEffectAreLoggedOnce(t *testing.T) {
	w := open(t)
	quiet(w)
	w.engine.has(container("web", "nginx:1.25.0", `dogwatch.tag.include=^nothing$`, "dogwatch.tag.inlcude=x"))
	for range 3 {
		w.run()
	}
	for _, text := range []string{"no tag is left after the include and exclude rules",
		"unknown label dogwatch.tag.inlcude, ignored: did you mean dogwatch.tag.include?"} {
		if n := strings.Count(w.log.String(), text); n != 1 {
			t.Errorf("%q is logged %d times", text, n)
		}
	}
}

// TestWarnOnceIsBounded: what is remembered of warnings does not grow for ever.
func TestWarnOnceIsBounded(t *testing.T) {
	w := open(t)
	for i := range 25_000 {
		w.warnOnce(fmt.Sprint(i), "x")
	}
	if len(w.warned) > 10_001 {
		t.Errorf("%d warnings remembered", len(w.warned))
	}
}
