package docker

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/eventstream"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestWatchEvents(t *testing.T) {
	generations(t, func(t *testing.T, e *enginesim.Engine) {
		check(t, e.Populate(2, func(i int) string { return fmt.Sprintf("app:%d", i) }))
		d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
		id := list(t, d)["c0000"].ID
		f := subscribe(t, d)
		f.streams(1)

		check(t, e.Pause("c0000"))
		f.expect(watcher.ActionStatus, id, "paused")
		check(t, e.Unpause("c0000"))
		f.expect(watcher.ActionStatus, id, "running")
		check(t, e.Stop("c0000"))
		f.expect(watcher.ActionStatus, id, "exited") // once, for the actions "die" and "stop"
		check(t, e.Start("c0000"))
		f.expect(watcher.ActionStatus, id, "running")
		check(t, e.Rename("c0000", "renamed"))
		f.expect(watcher.ActionChanged, id, "")
		other := create(t, e, enginesim.Container{Name: "new", Image: "app:1", State: enginesim.Created})
		f.expect(watcher.ActionChanged, other, "")
		check(t, e.Start("new")) // not in any list so far
		f.expect(watcher.ActionChanged, other, "")
		gone := list(t, d)["c0001"].ID
		check(t, e.Remove("c0001"))
		f.expect(watcher.ActionChanged, gone, "")
	})
}

// Without it the host would find out at the next scheduled check only.
func TestWatchNotifiesOfLostEngine(t *testing.T) {
	e := populated(t, enginesim.Config{})
	s, err := e.Listen(socketDir(t))
	check(t, err)
	d := watch(t, Options{Connection: Connection{Socket: s.Address}})
	list(t, d)
	f := subscribe(t, d)
	f.streams(1)
	e.BreakStreams()
	check(t, s.Close())
	f.endPause()
	f.relist()
	f.endPause() // and once only
	f.endPause()
	if len(f.events) != 0 {
		t.Errorf("got %+v as well", f.next())
	}
}

// Podman has two words for what Docker calls exited, and sends one after the other.
func TestWatchMergesStoppedStatusOfPodman(t *testing.T) {
	e := populated(t, enginesim.Config{})
	d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}, WatchAll: true})
	create(t, e, enginesim.Container{Name: "ended", Image: "app:1", State: "stopped"})
	if c := list(t, d)["ended"]; c.Status != enginesim.Exited {
		t.Errorf("listed as %s", c.Status)
	}
}

func TestWatchAfterGapNeitherLosesNorRepeatsEvents(t *testing.T) {
	e := populated(t, enginesim.Config{})
	d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}, WatchAll: true})
	ids := list(t, d)
	f := subscribe(t, d)
	f.streams(1)
	check(t, e.Pause("c0000"))
	f.expect(watcher.ActionStatus, ids["c0000"].ID, "paused")

	e.BreakStreams()
	// The pause has begun or will; no stream is open until it ends.
	check(t, e.Rename("c0001", "moved"))
	f.endPause()
	f.relist()                                                 // because the list is another
	f.expect(watcher.ActionChanged, ids["c0001"].ID, "")       // the event of the gap
	check(t, e.Unpause("c0000"))                               // and not the pause again
	f.expect(watcher.ActionStatus, ids["c0000"].ID, "running") // but what is new
}

// Proxies cut idle streams: that is no reason to check everything, nor to warn.
func TestWatchReconnectsQuietly(t *testing.T) {
	e := populated(t, enginesim.Config{})
	d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
	id := list(t, d)["c0000"].ID
	f := subscribe(t, d)
	for n := range 5 {
		f.streams(n + 1)
		e.BreakStreams()
		if attempt := f.endPause(); attempt != n+1 {
			t.Errorf("attempt %d, want %d: streams that bring nothing are asked for ever less often", attempt, n+1)
		}
	}
	f.streams(6)
	check(t, e.Pause("c0000"))
	f.expect(watcher.ActionStatus, id, "paused")
	e.BreakStreams()
	if attempt := f.endPause(); attempt != 1 {
		t.Errorf("attempt %d after a stream that brought something", attempt)
	}
	if f.log.count("[WARN]") != 0 || f.log.count("event stream ended") != 6 {
		t.Errorf("log: %s", f.log.text.String())
	}
}

func TestWatchComparesListAfterEngineRestart(t *testing.T) {
	for _, all := range []bool{false, true} {
		t.Run(fmt.Sprint("watchall ", all), func(t *testing.T) {
			e := populated(t, enginesim.Config{})
			d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}, WatchAll: all})
			id := list(t, d)["c0000"].ID
			f := subscribe(t, d)
			f.streams(1)
			e.BreakStreams()
			check(t, e.Stop("c0000"))
			e.Restart()
			f.endPause()
			if all {
				f.expect(watcher.ActionStatus, id, "exited")
			} else {
				f.relist()
			}
		})
	}
}

func TestWatchBeforeEngineIsUp(t *testing.T) {
	e := populated(t, enginesim.Config{})
	dir := socketDir(t)
	d := watch(t, Options{Connection: Connection{Socket: dir + "/docker.sock"}})
	if _, err := d.List(t.Context()); !errors.Is(err, sdk.ErrUnavailable) {
		t.Fatal(err)
	}
	f := subscribe(t, d)
	for n := range 3 {
		if attempt := f.endPause(); attempt != n+1 {
			t.Errorf("attempt %d, want %d", attempt, n+1)
		}
	}
	s, err := e.Listen(dir)
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	f.streams(1)
	f.relist()
	if f.log.count("[WARN]") != 1 || f.log.count("no socket there") < 2 ||
		f.log.count("events from the engine again") != 1 {
		t.Errorf("log: %s", f.log.text.String())
	}
}

func TestWatchRetriesForbiddenEvents(t *testing.T) {
	e := populated(t, enginesim.Config{})
	e.Fail(enginesim.Events, enginesim.Fault{Status: http.StatusForbidden})
	d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
	list(t, d)
	f := subscribe(t, d)
	f.endPause()
	f.endPause()
	if f.log.count("[WARN]") != 1 || f.log.count("EVENTS=1") == 0 {
		t.Errorf("log: %s", f.log.text.String())
	}
	e.Fail(enginesim.Events, enginesim.Fault{})
	f.streams(1)
	check(t, e.Remove("c0000"))
	f.next()
}

func TestWatchIsUnsupportedWithoutEvents(t *testing.T) {
	for _, status := range []int{http.StatusNotFound, http.StatusNotImplemented} {
		e := populated(t, enginesim.Config{})
		e.Fail(enginesim.Events, enginesim.Fault{Status: status})
		address := serve(t, e)
		err := watch(t, Options{Connection: Connection{Socket: address}}).Watch(t.Context(), func(watcher.Event) {})
		explains(t, err, sdk.ErrUnsupported, address, "follow events")
	}
}

func TestWatchTimeoutOfHangingEngine(t *testing.T) {
	e := populated(t, enginesim.Config{})
	e.Fail(enginesim.Events, enginesim.Fault{Hang: true})
	d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
	list(t, d)
	d.engine.Timeout = 50 * time.Millisecond
	f := subscribe(t, d)
	f.endPause()
	f.endPause()
	if f.log.count("no answer within 50ms") == 0 {
		t.Errorf("log: %s", f.log.text.String())
	}
}

// What an engine never does: an event over several writes, several in one, garbage, an endless one.
func TestWatchSkipsMalformedEvents(t *testing.T) {
	document := func(id string, nano int) string {
		return fmt.Sprintf(`{"Type":"container","Action":"destroy","Actor":{"ID":%q,"Attributes":{"name":"x"}},"timeNano":%d}`, id, nano)
	}
	e := populated(t, enginesim.Config{})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/events") {
			e.ServeHTTP(w, r)
			return
		}
		write := func(text string) {
			_, _ = w.Write([]byte(text))
			_ = http.NewResponseController(w).Flush()
		}
		one := document("split", 1)
		write(one[:20])
		write(one[20:] + "\n")
		write(document("two", 2) + document("in-a-line", 3) + "\n" + document("in-a-write", 4) + "\n")
		write("garbage\n{\"Type\":\n[]\n7\nnull\n{\"Actor\":7}\n" + document("after-garbage", 5) + "\n")
		write(`{"Type":"image","Action":"destroy","Actor":{"ID":"image"}}` + "\n" +
			`{"Type":"container","Action":"exec_start: sh","Actor":{"ID":"exec"},"timeNano":6}` + "\n")
		write(`{"Type":"container","Action":"destroy","Actor":{"ID":"` + strings.Repeat("x", eventstream.MaxEvent) + `"}}` + "\n")
		write(document("after-endless", 7) + "\n")
		write(`{"Type":"container","Action":"destroy","Actor":{"ID":"without-nanoseconds"},"time":8}`)
	}))
	t.Cleanup(proxy.Close)
	f := subscribe(t, watch(t, Options{Connection: Connection{Host: proxy.URL}}))
	ids := []string{"split", "two", "in-a-line", "in-a-write", "after-garbage", "after-endless", "without-nanoseconds"}
	for _, id := range ids {
		f.expect(watcher.ActionChanged, id, "")
	}
	f.endPause()
	f.relist()                            // the host has no list yet
	for _, id := range ids[:len(ids)-1] { // the newest one is known
		f.expect(watcher.ActionChanged, id, "")
	}
	f.endPause()
	f.relist()
}

func TestWatchRequestsEventsSinceTheLast(t *testing.T) {
	e := populated(t, enginesim.Config{Now: func() time.Time { return time.Unix(1_700_000_000, 5) }})
	queries := make(chan string, 10)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			queries <- r.URL.Query().Get("since")
		}
		e.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	d := watch(t, Options{Connection: Connection{Host: proxy.URL}})
	list(t, d)
	f := subscribe(t, d)
	if since := <-queries; since != "" {
		t.Errorf("at first since=%s", since)
	}
	f.streams(1)
	check(t, e.Pause("c0000")) // the fifth event, each a nanosecond after the one before
	f.next()
	e.BreakStreams()
	f.endPause()
	if since := <-queries; since != "1700000000.000000009" {
		t.Errorf("after an event since=%s", since)
	}
}
