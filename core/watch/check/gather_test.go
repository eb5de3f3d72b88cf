package check

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// soon is the time within which a response is to be seen in the store.
const soon = time.Second

// hanging makes a fixture of two containers of a registry that responds and one of
// a registry that does not until release is called, and begins a check.
func hanging(t *testing.T, change ...func(*fixture, *options)) (w *fixture, release func(), ended chan event.Check) {
	w = open(t, change...)
	released := make(chan struct{})
	hung := w.host("hangs.example")
	hung.tags["team/app"] = []string{"1.0.0", "2.0.0"}
	hung.before = func(ctx context.Context, _ string) error {
		select {
		case <-released:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.hub.tags["library/redis"] = []string{"7.0.0", "7.2.0"}
	w.engine.has(container("web", "nginx:1.25.0"), container("app", "hangs.example/team/app:1.0.0"),
		container("cache", "redis:7.0.0"))
	ended = make(chan event.Check, 1)
	go func() {
		report, _ := w.Run(t.Context(), w.local())
		ended <- report
	}()
	return w, func() { close(released) }, ended
}

// TestOutageIsLoggedOnce: what several containers fail by is one line of the log, and none while it lasts.
func TestOutageIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		defer w.store.Close()
		w.hub.before = func(context.Context, string) error {
			return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("timeout %d", time.Now().UnixNano()))
		}
		ghcr := w.host("ghcr.io")
		ghcr.before = func(context.Context, string) error {
			return sdk.WithKind(sdk.ErrUnauthorized, errors.New("401"))
		}
		w.engine.has(container("web", "nginx:1.25.0"), container("cache", "redis:7.0.0"),
			container("db", "postgres:16.1.0"), container("app", "ghcr.io/team/app:1.0.0"))
		for range 2 {
			w.run()
			time.Sleep(time.Hour)
		}
		log := w.log.String()
		for text, want := range map[string]int{
			"containers could not be checked: watcher":                                   0,
			`containers could not be checked: count=3 cause="Docker Hub is unavailable"`: 1,
			`containers="local/cache, local/db, local/web"`:                              1,
			"container could not be checked: container=local/app error=401":              1, "[WARN]": 2,
			"containers=4 updates=0 failed=4 postponed=0": 2,
		} {
			if n := strings.Count(log, text); n != want {
				t.Errorf("%d times %q, want %d:\n%s", n, text, want, log)
			}
		}
		for id, cause := range map[string]string{"id-web": "Docker Hub is unavailable",
			"id-app": "ghcr.io refuses access"} {
			if c := w.get(id); c.Error == nil || c.Error.Cause != cause {
				t.Errorf("%s fails by %+v", id, c.Error)
			}
		}
	})
}

// TestResultsAreStoredAsTheyCome, although a registry hangs; the batch of
// a check waits for its end.
func TestResultsAreStoredAsTheyCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, release, ended := hanging(t)
		defer w.store.Close()
		time.Sleep(soon)
		synctest.Wait()
		for id, tag := range map[string]string{"id-web": "1.26.0", "id-cache": "7.2.0"} {
			if c := w.get(id); c.Check.State != sdk.CheckOK || !c.UpdateAvailable || c.Result.Tag != tag {
				t.Errorf("%s while another registry hangs: %+v", id, c.Check)
			}
		}
		if c := w.get("id-app"); c.Check.State != sdk.CheckNever {
			t.Errorf("the container of the registry that hangs: %+v", c.Check)
		}
		events, _ := w.events(0)
		equal(t, "events", events, []string{
			"container.added local/web", "container.added local/app", "container.added local/cache",
			"update.found local/web", "update.found local/cache",
		})
		release()
		report := <-ended
		equal(t, "found", report.Found, []string{"id-web", "id-app", "id-cache"})
		equal(t, "updates", report.Updates, []string{"id-web", "id-app", "id-cache"})
		if report.Containers != 3 || report.Failed != 0 {
			t.Errorf("report %+v", report)
		}
		if again := w.run(); len(again.Found) != 0 || len(again.Updates) != 3 {
			t.Errorf("the next report %+v", again)
		}
	})
}

// TestShortCheckIsStoredAtOnce: a check that nothing holds up costs as many transactions as ever.
func TestShortCheckIsStoredAtOnce(t *testing.T) {
	commits := 0
	w := open(t, func(_ *fixture, o *options) { o.Store = counting{o.Store, &commits} })
	var list []sdk.Container
	for i := range 50 {
		host := fmt.Sprintf("r%d.example", i%5)
		if w.others[host] == nil {
			w.host(host)
		}
		w.others[host].tags[fmt.Sprint("a", i)] = []string{"1.0", "1.1"}
		list = append(list, container(fmt.Sprint("c", i), fmt.Sprintf("%s/a%d:1.0", host, i)))
	}
	w.engine.has(list...)
	if report := w.run(); len(report.Found) != 50 {
		t.Errorf("report %+v", report)
	}
	if commits != 3 { // its start, the containers, their results with its end
		t.Errorf("%d transactions", commits)
	}
}

type counting struct {
	decision.Store
	commits *int
}

func (c counting) Commit(ctx context.Context, change event.Change) error {
	*c.commits++
	return c.Store.Commit(ctx, change)
}

// TestStoppedCheckKeepsItsBacklog for the batch of the next check.
func TestStoppedCheckKeepsItsBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, release, ended := hanging(t)
		defer w.store.Close()
		release()
		<-ended
		w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0", "1.27.0"}
		w.others["hangs.example"].before = func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if report, err := w.Run(ctx, w.local()); !errors.Is(err, context.DeadlineExceeded) || len(report.Found) != 0 {
			t.Errorf("%+v, %v", report, err)
		}
		if c := w.get("id-web"); c.Result.Tag != "1.27.0" {
			t.Errorf("the container that was answered for has %+v", c.Result)
		}
		if c := w.get("id-app"); c.Check.State != sdk.CheckOK {
			t.Errorf("a check that was stopped left %+v", c.Check)
		}
		w.others["hangs.example"].before = nil
		for _, want := range [][]string{{"id-web"}, nil} {
			equal(t, "found", w.run().Found, want)
		}
	})
}

// TestCancelledRequestIsNoFailedCheck, even if another registry keeps the check
// from ending at once when its context does.
func TestCancelledRequestIsNoFailedCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, release, _ := hanging(t, func(w *fixture, _ *options) {
			w.host("slow.example").before = func(context.Context, string) error {
				time.Sleep(time.Minute)
				return nil
			}
		})
		defer w.store.Close()
		defer release()
		ctx, stop := context.WithTimeout(t.Context(), storePause/2)
		defer stop()
		second := &engine{
			list: []sdk.Container{container("one", "nginx:1.25.0"), container("two", "hangs.example/team/app:1.0.0"),
				container("three", "slow.example/app:1.0")},
		}
		if report, err := w.Run(ctx, Watcher{Name: "second", WatchByDefault: true, Lister: second}); !errors.Is(err,
			context.DeadlineExceeded) {
			t.Errorf("%+v, %v", report, err)
		}
		if c := w.get("id-two"); c.Check.State != sdk.CheckNever {
			t.Errorf("the container that there was no time to ask about: %+v", c.Check)
		}
	})
}

// TestConcurrentChangesSurviveACheck holds: what a person deletes stays away, and what
// another watcher takes over stays its own.
func TestConcurrentChangesSurviveACheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, release, ended := hanging(t, func(w *fixture, _ *options) { w.order = []string{"first", "local"} })
		defer w.store.Close()
		time.Sleep(soon)
		synctest.Wait()
		if err := w.store.Commit(t.Context(), event.Change{Remove: []string{"id-web"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Run(t.Context(), Watcher{
			Name: "first", WatchByDefault: true, Lister: &engine{list: []sdk.Container{container("cache", "redis:7.0.0")}},
		}); err != nil {
			t.Fatal(err)
		}
		release()
		report := <-ended
		equal(t, "found", report.Found, []string{"id-app"})
		if report.Containers != 1 {
			t.Errorf("report %+v", report)
		}
		if c := w.get("id-cache"); c.Watcher != "first" {
			t.Errorf("the container that was taken over is of %s", c.Watcher)
		}
		if _, stored := w.store.Snapshot().Get("id-web"); stored {
			t.Error("the deleted container is back")
		}
	})
}

// TestStoreFailureDuringACheck ends it, and what it could not store is found by the next one.
func TestStoreFailureDuringACheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		w, release, ended := hanging(t, func(_ *fixture, o *options) { o.Store = failing{o.Store, &full} })
		defer w.store.Close()
		synctest.Wait()
		full.Store(true)
		report := <-ended // although a registry hangs
		contains(t, "error", report.Error, "disk full")
		full.Store(false)
		release()
		equal(t, "found", w.run().Found, []string{"id-web", "id-app", "id-cache"})
	})
}

type failing struct {
	decision.Store
	full *atomic.Bool
}

func (f failing) Commit(ctx context.Context, change event.Change) error {
	if f.full.Load() {
		return errors.New("disk full")
	}
	return f.Store.Commit(ctx, change)
}

// TestProgressCountsResults counts what has its result, and says when that is more.
func TestProgressCountsResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []string
		w, release, ended := hanging(t, func(at *fixture, o *options) {
			o.Progressed = func() { events = append(events, fmt.Sprint(at.Progress())) }
		})
		defer w.store.Close()
		if err := w.One(t.Context(), Watcher{
			Name: "other", WatchByDefault: true, Lister: &engine{list: []sdk.Container{container("one", "redis:7.0.0")}},
		}, "id-one"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(soon)
		synctest.Wait()
		if got := w.Progress(); !slices.Equal(got, []Progress{{Watcher: "local", Checked: 2, Total: 3}}) {
			t.Errorf("progress %+v", got)
		}
		release()
		<-ended
		if got := w.Progress(); len(got) != 0 {
			t.Errorf("progress after the check: %+v", got)
		}
		equal(t, "progress", events, []string{"[{local 0 3}]", "[{local 2 3}]"})
	})
}

// TestKillDuringLongCheckLosesNothing: a check of three registries that answer one
// after the other is killed after each of its commits. Whatever was stored by
// then, each update is one event, and in the report of one whole check.
func TestKillDuringLongCheckLosesNothing(t *testing.T) {
	for after := range 6 {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "store.db")
				life := func(kill int) {
					s, err := store.Open(context.Background(), path, store.Options{Log: hclog.NewNullLogger()})
					if err != nil {
						t.Fatal(err)
					}
					defer s.Close()
					w := open(t, func(w *fixture, o *options) {
						_ = w.store.Close()
						w.store = s
						o.Store, o.Queries.Cache = &killedStore{Store: s, left: kill}, cached{s}
					})
					var list []sdk.Container
					for i := range 3 {
						host := w.host(fmt.Sprintf("r%d.example", i))
						host.tags["a"] = []string{"1.0", "1.1"}
						host.before = func(context.Context, string) error {
							time.Sleep(time.Duration(i) * 2 * soon)
							return nil
						}
						list = append(list, container(fmt.Sprint("c", i), fmt.Sprintf("r%d.example/a:1.0", i)))
					}
					w.engine.has(list...)
					if err := w.Recover(t.Context(), s, []string{"local"}); err != nil {
						t.Error(err)
					}
					_, _ = w.Run(t.Context(), w.local())
				}
				life(after)
				life(1000)
				life(1000)
				s, err := store.Open(context.Background(), path, store.Options{Log: hclog.NewNullLogger()})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				events, err := s.Events(context.Background(), 0, 1000)
				if err != nil {
					t.Fatal(err)
				}
				var simple, batch []string
				for _, e := range events {
					if e.Type == event.UpdateFound {
						simple = append(simple, e.Container.ID)
					}
					if e.Type == event.CheckFinished {
						batch = append(batch, e.Check.Found...)
					}
				}
				slices.Sort(simple)
				slices.Sort(batch)
				want := []string{"id-c0", "id-c1", "id-c2"}
				equal(t, "events as found", simple, want)
				equal(t, "events in batches", batch, want)
			})
		})
	}
}

// killedStore is a store of a process that is killed after some commits.
type killedStore struct {
	decision.Store
	left int
}

func (m *killedStore) Commit(ctx context.Context, change event.Change) error {
	if m.left--; m.left < 0 {
		return errors.New("killed")
	}
	return m.Store.Commit(ctx, change)
}
