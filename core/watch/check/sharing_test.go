package check

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// engines makes a fixture of ten engines that run the same two images.
func engines(t *testing.T) (w *fixture, watchers []Watcher) {
	w = open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.hub.digests["library/redis:latest"] = digest("1")
	w.order = nil
	for i := range 10 {
		name := fmt.Sprintf("engine%d", i)
		w.order = append(w.order, name)
		web, cache := container("web"+name, "nginx:1.25.0"), container("cache"+name, "redis:latest", "dogwatch.watch.digest=true")
		watchers = append(watchers, Watcher{
			Name: name, WatchByDefault: true, Lister: &engine{list: []sdk.Container{web, cache}},
		})
	}
	return w, watchers
}

// TestChecksOfSeveralEnginesShareRequests: what a registry said to the scheduled check of one engine need not be asked
// again for others, while whoever asks for a check gets what the registry says now.
func TestChecksOfSeveralEnginesShareRequests(t *testing.T) {
	scheduled := func(w *fixture, of Watcher) { _, _ = w.Scheduled(context.Background(), of) }
	asked := func(w *fixture, of Watcher) { _, _ = w.Run(context.Background(), of) }
	for _, c := range []struct {
		name  string
		check func(*fixture, Watcher)
		apart time.Duration // between two checks
		want  int           // requests for the tags of nginx, and as many for the digest of redis
	}{
		{"scheduled together", scheduled, 0, 1},
		{"scheduled within their jitter", scheduled, 10 * time.Second, 1},
		{"scheduled some minutes apart", scheduled, 3 * time.Minute, 10},
		{"asked for", asked, 10 * time.Second, 10},
		{"asked for together", asked, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, watchers := engines(t)
				defer w.store.Close()
				for range 2 { // the second round shares nothing with the first one, which the same engines made
					for _, of := range watchers {
						go c.check(w, of)
						time.Sleep(c.apart)
					}
					synctest.Wait()
					tags, digests := 0, 0
					for _, request := range w.hub.requests() {
						switch {
						case strings.HasPrefix(request, "tags library/nginx"):
							tags++
						case request == "resolve library/redis:latest":
							digests++
						}
					}
					if tags != c.want || digests != c.want {
						t.Errorf("%d requests for tags and %d for a digest, want %d of each", tags, digests, c.want)
					}
					for _, name := range w.order {
						if got := w.get("id-web" + name).Result.Tag; got != "1.26.0" {
							t.Errorf("%s is offered %q", name, got)
						}
						if state := w.get("id-cache" + name).Check.State; state == sdk.CheckFailed {
							t.Errorf("the check of cache on %s failed", name)
						}
					}
					time.Sleep(time.Second)
				}
			})
		})
	}
}

// TestStoppedCheckSharesNothing has another engine's check make the request itself that a stopped one began, and
// shares a failure with those alone that waited for it.
func TestStoppedCheckSharesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, watchers := engines(t)
		defer w.store.Close()
		var requests atomic.Int32 // for tags
		w.hub.before = func(ctx context.Context, request string) error {
			if !strings.HasPrefix(request, "tags") {
				return nil
			}
			switch requests.Add(1) {
			case 1:
				<-ctx.Done()
				return ctx.Err()
			case 2:
				return sdk.WithKind(sdk.ErrUnavailable, errors.New("503"))
			}
			return nil
		}
		first, stop := context.WithCancel(t.Context())
		stopped, ended := make(chan error, 1), make(chan event.Check, 1)
		go func() { _, err := w.Scheduled(first, watchers[0]); stopped <- err }()
		synctest.Wait()
		go func() { report, _ := w.Scheduled(t.Context(), watchers[1]); ended <- report }()
		synctest.Wait()
		stop()
		if err := <-stopped; !errors.Is(err, context.Canceled) {
			t.Errorf("the check that was stopped: %v", err)
		}
		if report := <-ended; report.Failed != 1 {
			t.Errorf("the check that waited failed for %d containers, want 1, by its own request", report.Failed)
		}
		if report, err := w.Scheduled(t.Context(), watchers[2]); err != nil || report.Failed != 0 {
			t.Errorf("the failure of another engine's check counts: %+v, %v", report, err)
		}
	})
}
