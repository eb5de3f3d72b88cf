package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

func updateOf(c sdk.Container) event.Event {
	return event.Event{Type: event.UpdateFound, Subject: event.Subject(c), Payload: event.Payload{Container: &c}}
}

func checked(watcher string) event.Event {
	return event.Event{
		Type: event.CheckFinished, Subject: watcher, Run: "r1", Payload: event.Payload{Check: &event.Check{Watcher: watcher}},
	}
}

// received is one server-sent event, as a browser takes it apart.
type received struct{ id, event, data string }

// listener is an open stream.
type listener struct {
	t     *testing.T
	resp  *http.Response
	lines *bufio.Scanner
	leave context.CancelFunc
}

func (w *testServer) listen(t *testing.T, path string, headers ...string) *listener {
	t.Helper()
	ctx, leave := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(leave)
	r, err := http.NewRequestWithContext(ctx, "GET", w.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return &listener{t: t, resp: resp, lines: lines, leave: leave}
}

// next returns the next block of the stream; false at its end.
func (l *listener) next() (received, bool) {
	l.t.Helper()
	var m received
	for l.lines.Scan() {
		name, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch name {
		case "id":
			m.id = value
		case "event":
			m.event = value
		case "data":
			m.data += value
		case "":
			return m, true
		}
	}
	return m, false
}

func (l *listener) want(id, name string) received {
	l.t.Helper()
	m, ok := l.next()
	if !ok || m.id != id || m.event != name {
		l.t.Fatalf("got %+v (%v), want id %s and event %q", m, l.lines.Err(), id, name)
	}
	return m
}

func TestStreamSendsEvents(t *testing.T) {
	w := start(t, nil)
	w.commitEvents(checked("before"))
	l := w.listen(t, "/api/events")
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "X-Accel-Buffering": "no",
		"Cache-Control": "no-store, no-cache, must-revalidate, proxy-revalidate",
	} {
		same(t, name, l.resp.Header.Get(name), want)
	}
	l.want("1", "") // where it stands, and nothing of the past
	c := nginx()
	c.Error = &sdk.ContainerError{Message: "denied for " + hubPass}
	w.commitEvents(checked("local"), updateOf(c))
	l.want("2", "check.finished")
	m := l.want("3", "update.found")
	e := decodeAs[event.Event](response{t: t, body: []byte(m.data)})
	same(t, "the container", e.Container.Name, "nginx")
	same(t, "its error", e.Container.Error.Message, "denied for ***")
	same(t, "its id", e.ID, int64(3))
}

// TestStreamSendsRetry: the field retry, how long a browser waits before it connects
// again, is on a line of its own before the first event (WHATWG HTML, section
// 9.2.6).
func TestStreamSendsRetry(t *testing.T) {
	w := start(t, nil)
	for _, headers := range [][]string{nil, {"Last-Event-ID", "0"}, {"Last-Event-ID", "77"}} {
		l := w.listen(t, "/api/events", headers...)
		if !l.lines.Scan() || l.lines.Text() != "retry: 2000" {
			t.Errorf("with %v a stream begins with %q, want the field retry", headers, l.lines.Text())
		}
		if !l.lines.Scan() || !strings.HasPrefix(l.lines.Text(), "id: ") && !strings.HasPrefix(l.lines.Text(), "event: ") {
			t.Errorf("with %v the line after it is %q, want the first event", headers, l.lines.Text())
		}
	}
}

func TestStreamReplaysFromLastEventID(t *testing.T) {
	w := start(t, nil)
	for range 250 {
		w.commitEvents(checked("local"))
	}
	for _, l := range []*listener{
		w.listen(t, "/api/events", "Last-Event-ID", "5"), w.listen(t, "/API/Events/?lastEventId=5"),
		w.listen(t, "/api/events?lastEventId=200", "Last-Event-ID", "5"), // what the browser knows is newer than the address
	} {
		l.want("5", "")
		for id := 6; id <= 250; id++ {
			l.want(fmt.Sprint(id), "check.finished")
		}
	}
	l := w.listen(t, "/api/events", "Last-Event-ID", "250")
	l.want("250", "")
	w.commitEvents(checked("local"))
	l.want("251", "check.finished")
	w.listen(t, "/api/events", "Last-Event-ID", "nonsense").want("251", "")
}

func TestStreamResetsWhenReplayIsImpossible(t *testing.T) {
	w := start(t, nil)
	for range 12 {
		events := make([]event.Event, 100)
		for i := range events {
			events[i] = checked("local")
		}
		w.commitEvents(events...)
	}
	for _, seen := range []string{"199", "0", "1201", "99999999"} {
		l := w.listen(t, "/api/events", "Last-Event-ID", seen)
		l.want("1200", "reset")
	}
	w.listen(t, "/api/events", "Last-Event-ID", "200").want("200", "")
	// What was pruned cannot be replayed.
	if err := w.store.Prune(context.Background(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.listen(t, "/api/events", "Last-Event-ID", "1100").want("1200", "reset")
	w.listen(t, "/api/events", "Last-Event-ID", "1200").want("1200", "")
}

func TestStreamEndsAtShutdown(t *testing.T) {
	w := start(t, nil)
	l := w.listen(t, "/api/events")
	l.want("0", "")
	began := time.Now()
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if _, more := l.next(); more {
		t.Error("the stream did not end")
	}
	if took := time.Since(began); took >= drainTime {
		t.Errorf("stopping waited %v for a stream", took)
	}
}

// log is the part of a store that streams read.
type eventLog struct {
	EventLog
	mu     sync.Mutex
	events []event.Event
}

func (l *eventLog) LastEvent(context.Context) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.events)), nil
}

func (l *eventLog) Events(_ context.Context, after int64, limit int) ([]event.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := l.events[after:]
	return rest[:min(len(rest), limit)], nil
}

// reader takes what a stream writes, as long as it wants.
type reader struct {
	mu       sync.Mutex
	text     strings.Builder
	header   http.Header
	deadline time.Time
	stuck    bool
}

func (r *reader) Header() http.Header { return r.header }
func (r *reader) WriteHeader(int)     {}
func (r *reader) Flush()              {}
func (r *reader) SetWriteDeadline(t time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deadline = t
	return nil
}

func (r *reader) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stuck {
		if r.deadline.IsZero() {
			return 0, errors.New("would block for ever")
		}
		time.Sleep(time.Until(r.deadline))
		return 0, os.ErrDeadlineExceeded
	}
	return r.text.Write(p)
}

func (r *reader) got() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// streamer is a handler that can do nothing but stream.
func streamer(o Options) *handler {
	o.Redact, o.Log = strings.Clone, hclog.NewNullLogger()
	o.limits = o.limits.complete()
	h := &handler{Options: o}
	h.feed = newFeed(o.Events, o.Bus, asIs)
	return h
}

// streaming runs the handler of streams without a network.
func streaming(ctx context.Context, log *eventLog, bus *event.Bus, to *reader) (done chan struct{}) {
	h := streamer(Options{Events: log, Bus: bus})
	done = make(chan struct{})
	r := httptest.NewRequestWithContext(ctx, "GET", "/api/events", nil)
	go func() {
		defer close(done)
		h.recovery(http.HandlerFunc(h.stream)).ServeHTTP(to, r)
	}()
	return done
}

func TestStreamHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		to := &reader{header: http.Header{}}
		done := streaming(ctx, &eventLog{}, new(event.Bus), to)
		time.Sleep(3*heartbeat + time.Second)
		if n := strings.Count(to.got(), ": beat\n\n"); n != 3 {
			t.Errorf("%d beats in %v: %q", n, 3*heartbeat, to.got())
		}
		leave()
		<-done
	})
}

// oneToken is a store of a token that may be revoked.
type oneToken struct {
	auth.Store
	revoked atomic.Bool
}

func (o *oneToken) Token(_ context.Context, hash []byte) (store.Token, error) {
	if o.revoked.Load() {
		return store.Token{}, store.ErrNotFound
	}
	return store.Token{Hash: hash, Scope: "read"}, nil
}

func (o *oneToken) UseToken(context.Context, int64, time.Time) error { return nil }

// TestStreamEndsWhenTokenIsRevoked: at the next heartbeat.
func TestStreamEndsWhenTokenIsRevoked(t *testing.T) {
	conf, err := config.Load(config.Input{Environ: []string{"HOME=/h", "WUD_AUTH_BASIC_MAIN_USER=ana"}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		tokens := &oneToken{}
		logins := auth.New(auth.Options{Config: conf, Store: tokens, Log: hclog.NewNullLogger()})
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/api/events", nil)
		r.Header.Set("Authorization", "Bearer dw_"+strings.Repeat("A", 43))
		h := streamer(Options{Events: &eventLog{}, Bus: new(event.Bus), Auth: logins})
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.recovery(h.require(auth.Read)(http.HandlerFunc(h.stream))).ServeHTTP(&reader{header: http.Header{}}, r)
		}()
		time.Sleep(2*heartbeat + time.Second)
		select {
		case <-done:
			t.Fatal("the stream ended")
		default:
		}
		tokens.revoked.Store(true)
		time.Sleep(heartbeat)
		synctest.Wait()
		select {
		case <-done:
		default:
			t.Error("the stream did not end")
		}
	})
}

// TestStreamDropsStalledReader: and no other stream waits for it.
func TestStreamDropsStalledReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, bus := &eventLog{}, new(event.Bus)
		slow, quick := &reader{header: http.Header{}}, &reader{header: http.Header{}}
		slowDone, quickDone := streaming(t.Context(), log, bus, slow), streaming(t.Context(), log, bus, quick)
		synctest.Wait()
		slow.mu.Lock()
		slow.stuck = true
		slow.mu.Unlock()
		for i := range 500 {
			log.mu.Lock()
			e := checked("local")
			e.ID = int64(i + 1)
			log.events = append(log.events, e)
			log.mu.Unlock()
			bus.Wake()
		}
		synctest.Wait()
		if !strings.Contains(quick.got(), "id: 500\n") {
			t.Error("one client waits for another")
		}
		time.Sleep(limits{}.complete().piece + time.Second)
		synctest.Wait()
		select {
		case <-slowDone:
		default:
			t.Error("the stream of a stalled reader did not end")
		}
		select {
		case <-quickDone:
			t.Error("the stream of the other ended too")
		default:
		}
	})
}
