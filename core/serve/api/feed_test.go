package api

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/watch/check"
)

// countingLog counts the queries of a log, which may fail.
type countingLog struct {
	eventLog
	mu      sync.Mutex
	queries int
	fail    error
}

func (a *countingLog) Events(ctx context.Context, after int64, limit int) ([]event.Event, error) {
	a.mu.Lock()
	a.queries++
	fail := a.fail
	a.mu.Unlock()
	if fail != nil {
		return nil, fail
	}
	return a.eventLog.Events(ctx, after, limit)
}

// happen appends events to a log and wakes its readers once.
func (l *eventLog) commitEvents(bus *event.Bus, events ...event.Event) {
	l.mu.Lock()
	for _, e := range events {
		e.ID = int64(len(l.events) + 1)
		l.events = append(l.events, e)
	}
	l.mu.Unlock()
	bus.Wake()
}

func asIs(e event.Event) event.Event { return e }

func joined(t *testing.T, f *feed) *stream {
	t.Helper()
	s := &stream{}
	last, err := f.join(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.last = last
	return s
}

// take returns the ids that a stream finds next, and has it have them.
func take(t *testing.T, f *feed, s *stream) (ids []int64) {
	t.Helper()
	found, err := f.after(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range found {
		ids, s.last = append(ids, m.id), m.id
	}
	return ids
}

func TestFeedQueriesLogOncePerEvent(t *testing.T) {
	log, bus := &countingLog{}, new(event.Bus)
	log.commitEvents(bus, checked("before"))
	f := newFeed(log, bus, asIs)
	var streams []*stream
	for range 50 {
		streams = append(streams, joined(t, f))
	}
	for n := range int64(5) {
		before := log.queries
		log.commitEvents(bus, checked("local"))
		for _, s := range streams {
			same(t, "found", take(t, f, s), []int64{n + 2})
			same(t, "found again", len(take(t, f, s)), 0)
		}
		same(t, "queries", log.queries-before, 1)
	}
	// What all streams have is not kept, nor anything without streams.
	same(t, "kept", []int{len(f.tail), f.size}, []int{0, 0})
	log.commitEvents(bus, checked("local"))
	take(t, f, streams[0])
	same(t, "kept for the others", len(f.tail), 1)
	for _, s := range streams {
		f.leave(s)
	}
	same(t, "kept without streams", len(f.tail), 0)
	// A stream that joins later begins with what is new then.
	log.commitEvents(bus, checked("local"), checked("local"))
	late := joined(t, f)
	same(t, "where it stands", late.last, int64(9))
	same(t, "found late", len(take(t, f, late)), 0)
}

// TestFeedBoundsMemory: a stream that is too slow reads the store, and the others do not wait for it.
func TestFeedBoundsMemory(t *testing.T) {
	log, bus := &countingLog{}, new(event.Bus)
	f := newFeed(log, bus, asIs)
	slow, quick := joined(t, f), joined(t, f)
	large := checked(strings.Repeat("x", 20<<10))
	var got []int64
	for range 100 {
		log.commitEvents(bus, large)
		got = append(got, take(t, f, quick)...)
	}
	if f.size > tailMax || f.size == 0 {
		t.Errorf("%d bytes are kept, at most %d are allowed", f.size, tailMax)
	}
	var all []int64
	for id := range int64(100) {
		all = append(all, id+1)
	}
	same(t, "the quick one", got, all)
	var late []int64
	for ids := take(t, f, slow); len(ids) > 0; ids = take(t, f, slow) {
		late = append(late, ids...)
	}
	same(t, "the slow one", late, all)
}

func TestFeedRecoversFromStoreError(t *testing.T) {
	log, bus := &countingLog{}, new(event.Bus)
	f := newFeed(log, bus, asIs)
	s := joined(t, f)
	log.commitEvents(bus, checked("local"))
	log.fail = errors.New("disk gone")
	if _, err := f.after(t.Context(), s); !errors.Is(err, log.fail) {
		t.Errorf("got %v", err)
	}
	log.fail = nil
	same(t, "afterwards", take(t, f, s), []int64{1})
}

// TestFeedDeliversEveryEventOnce has streams of all speeds come and go while events
// happen: each finds every event since it came, in order, once.
func TestFeedDeliversEveryEventOnce(t *testing.T) {
	log, bus := &eventLog{}, new(event.Bus)
	f := newFeed(log, bus, asIs)
	const events = 2000
	var streams, writers sync.WaitGroup
	for n := range 8 {
		streams.Go(func() {
			for round := 0; ; round++ {
				random := rand.New(rand.NewPCG(uint64(n), uint64(round)))
				sub := bus.Subscribe()
				s := &stream{}
				last, err := f.join(t.Context(), s)
				if err != nil {
					t.Error(err)
					return
				}
				s.last = max(0, last-random.Int64N(300)) // as after Last-Event-ID
				for stay := random.IntN(400); stay > 0 && s.last < events; {
					found, err := f.after(t.Context(), s)
					if err != nil {
						t.Error(err)
						return
					}
					for _, m := range found {
						if m.id != s.last+1 || !strings.HasPrefix(string(m.text), fmt.Sprintf("id: %d\n", m.id)) {
							t.Errorf("after %d comes %d: %.40q", s.last, m.id, m.text)
							return
						}
						s.last = m.id
						if random.IntN(10) == 0 {
							break // slow: it requests the rest later
						}
					}
					stay -= len(found)
					if len(found) == 0 && s.last < events {
						_ = sub.Wait(t.Context())
					}
				}
				done := s.last >= events
				f.leave(s)
				sub.Close()
				if done {
					return
				}
			}
		})
	}
	for range 4 {
		writers.Go(func() {
			for range events / 4 {
				log.commitEvents(bus, checked("local"))
			}
		})
	}
	writers.Wait()
	streams.Wait()
	same(t, "kept", []int{len(f.streams), len(f.tail), f.size}, []int{0, 0, 0})
}

// TestStreamSendsStateChanges: changes of state that is not in the log reach every stream, once, without an id.
func TestStreamSendsStateChanges(t *testing.T) {
	w := start(t, nil)
	w.bus.Touch(event.DeliveryChanged) // before there is a stream
	l := w.listen(t, "/api/events")
	l.want("0", "")
	w.bus.Touch(event.ComponentChanged)
	same(t, "its data", l.want("", "component.changed").data, "{}")
	w.commitEvents(checked("local"))
	l.want("1", "check.finished")
	w.bus.Touch(event.WorkChanged)
	l.want("", "work.changed")
}

// TestStreamSendsCheckProgress: of the state that is not in the log, streams send only the progress of checks itself.
func TestStreamSendsCheckProgress(t *testing.T) {
	w := start(t, nil)
	l := w.listen(t, "/api/events")
	l.want("0", "")
	for _, c := range []struct {
		progress []check.Progress
		want     string
	}{
		{[]check.Progress{{Watcher: "local", Checked: 5, Total: 6}},
			`{"checks":[{"watcher":"local","checked":5,"total":6}]}`},
		{[]check.Progress{}, `{"checks":[]}`},
	} {
		w.checks.progress.Store(&c.progress)
		w.bus.Touch(event.CheckProgressed)
		same(t, "its data", l.want("", "check.progress").data, c.want)
	}
}

// TestStreamSendsDeliveryProgress: the steps of triggers reach the clients as they are reported.
func TestStreamSendsDeliveryProgress(t *testing.T) {
	w := start(t, nil)
	l := w.listen(t, "/api/events")
	l.want("0", "")
	for want, progress := range map[string][]dispatch.Progress{
		`{"deliveries":[{"delivery":7,"trigger":"docker.local","subject":"local/nginx","phase":"pull","current":3,"total":10}]}`: {
			{Delivery: 7, Trigger: "docker.local", Subject: "local/nginx", Phase: "pull", Current: 3, Total: 10}},
		`{"deliveries":[]}`: {},
	} {
		w.triggers.progress.Store(&progress)
		w.bus.Touch(event.DeliveryProgressed)
		same(t, "its data", l.want("", "delivery.progress").data, want)
	}
}

// TestLoginEventsAreHiddenFromTokens: only users see events about logins and changed settings.
func TestLoginEventsAreHiddenFromTokens(t *testing.T) {
	login := event.Event{
		Type: event.LoginFailed, Subject: "ana", Payload: event.Payload{Login: &event.Login{Address: "192.0.2.1"}},
	}
	setting := event.Event{
		Type: event.SettingChanged, Subject: "log.level",
		Payload: event.Payload{Setting: &event.Setting{User: "ana", Address: "192.0.2.1"}},
	}
	w := startWithLogin(t, nil)
	read, write, session := w.token(auth.Read, time.Time{}), w.token(auth.Write, time.Time{}), w.session()
	w.commitEvents(checked("one"), login, setting, checked("two"))
	last, err := w.store.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := fmt.Sprint(last)
	callers := map[string]struct {
		headers []string
		person  bool
	}{
		"read token":     {[]string{"Authorization", "Bearer " + read}, false},
		"write token":    {[]string{"Authorization", "Bearer " + write}, false},
		"token as login": {[]string{"Authorization", basic("x", read)}, false},
		"basic":          {[]string{"Authorization", basic("ana", ownPassword)}, true},
		"session":        {[]string{"Cookie", session}, true},
	}
	w.get("/api/summary", callers["basic"].headers...).want(200) // its login is an event, too
	live := map[string]*listener{}
	for name, caller := range callers {
		body := string(w.get("/api/events", caller.headers...).want(200).body)
		same(t, name+": sees checks", strings.Count(body, `"check.finished"`), 2)
		for _, private := range []string{`"auth.failed"`, `"auth.login"`, `"setting.changed"`, "192.0.2.1"} {
			same(t, name+" sees "+private, strings.Contains(body, private), caller.person)
		}
		same(t, name+": a full page of what it may see",
			len(w.get("/api/events?limit=2", caller.headers...).want(200).list()), 2)
		live[name] = w.listen(t, "/api/events", append(caller.headers, "Last-Event-ID", seen)...)
		live[name].want(seen, "")
	}
	w.commitEvents(login, setting, checked("three"))
	for name, caller := range callers {
		again := w.listen(t, "/api/events", append(caller.headers, "Last-Event-ID", seen)...) // replayed
		again.want(seen, "")
		for _, l := range []*listener{live[name], again} {
			var got []string
			for len(got) == 0 || got[len(got)-1] != "check.finished" {
				m, more := l.next()
				if !more {
					t.Fatalf("%s: the stream ended after %v", name, got)
				}
				if m.event != "auth.login" { // of the other callers
					got = append(got, m.event)
				}
			}
			want := []string{"check.finished"}
			if caller.person {
				want = []string{"auth.failed", "setting.changed", "check.finished"}
			}
			same(t, name+": its stream", got, want)
		}
	}

	open := start(t, nil)
	open.commitEvents(login)
	same(t, "the anonymous user sees", len(open.get("/api/events").want(200).list()), 1)
}
