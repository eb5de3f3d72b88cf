package event

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

var errDisk = errors.New("disk full")

// fakeLog is an event log in memory, whose calls fail as a test says.
type fakeLog struct {
	bus Bus

	mu      sync.Mutex
	events  []Event
	queries int
	fail    func() error
}

func (l *fakeLog) commit(types ...Type) {
	l.mu.Lock()
	for _, t := range types {
		l.events = append(l.events, Event{ID: int64(len(l.events) + 1), Type: t})
	}
	l.mu.Unlock()
	l.bus.Wake()
}

func (l *fakeLog) call() error {
	l.queries++
	if l.fail == nil {
		return nil
	}
	return l.fail()
}

func (l *fakeLog) LastEvent(context.Context) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.events)), l.call()
}

func (l *fakeLog) Events(_ context.Context, after int64, limit int) ([]Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	page := l.events[min(int(after), len(l.events)):]
	return slices.Clone(page[:min(limit, len(page))]), l.call()
}

func (l *fakeLog) failing(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail = func() error { return err }
}

// handled collects what a Tailer hands over.
type handled struct {
	mu    sync.Mutex
	ids   []int64
	pages []int
}

func (h *handled) handle(_ context.Context, page []Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range page {
		h.ids = append(h.ids, e.ID)
	}
	h.pages = append(h.pages, len(page))
	return nil
}

func upTo(from, to int64) (ids []int64) {
	for id := from; id <= to; id++ {
		ids = append(ids, id)
	}
	return ids
}

func wantIDs(t *testing.T, got *handled, from, to int64) {
	t.Helper()
	got.mu.Lock()
	defer got.mu.Unlock()
	if want := upTo(from, to); !slices.Equal(got.ids, want) {
		t.Errorf("handed over %d events %v, want %d..%d", len(got.ids), got.ids, from, to)
	}
}

func tailOptions(l *fakeLog, handle func(context.Context, []Event) error) TailOptions {
	return TailOptions{Log: l, Bus: &l.bus, Handle: handle, Logger: hclog.NewNullLogger()}
}

func repeat(t Type, n int) []Type { return slices.Repeat([]Type{t}, n) }

// TestTailerCatchUp reads from where it begins to the end, and nothing while the bus is silent.
func TestTailerCatchUp(t *testing.T) {
	for name, c := range map[string]struct {
		before  int
		cursor  func(context.Context) (int64, error)
		commits []int
		keep    func(Event) bool
		first   int64
		queries int
		pages   []int
	}{
		"an empty log":              {queries: 1},
		"only what comes later":     {before: 5, commits: []int{2}, first: 6, queries: 2, pages: []int{2}},
		"from a stored cursor":      {before: 5, cursor: at(3), first: 4, queries: 1, pages: []int{2}},
		"pages":                     {before: 450, cursor: at(0), first: 1, queries: 3, pages: []int{200, 200, 50}},
		"a page that is full":       {before: 200, cursor: at(0), first: 1, queries: 2, pages: []int{200}},
		"one query for each commit": {commits: []int{1, 3, 1}, first: 1, queries: 4, pages: []int{1, 3, 1}},
		"events that stay together": {before: 450, cursor: at(0), first: 1, queries: 3, pages: []int{400, 50},
			keep: func(e Event) bool { return e.ID == 200 }},
	} {
		t.Run(name, func(t *testing.T) {
			var l fakeLog
			var got handled
			l.commit(repeat(CheckStarted, c.before)...)
			opt := tailOptions(&l, got.handle)
			opt.Cursor, opt.KeepWithNext = c.cursor, c.keep
			tailer := NewTailer(opt)
			catchUp := func() {
				t.Helper()
				for range 2 { // the second time without a query
					if err := tailer.CatchUp(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			catchUp()
			for _, n := range c.commits {
				l.commit(repeat(CheckStarted, n)...)
				catchUp()
			}
			if end := int64(len(l.events)); c.first > 0 {
				wantIDs(t, &got, c.first, end)
				if tailer.Cursor() != end {
					t.Errorf("the cursor is %d, want %d", tailer.Cursor(), end)
				}
			}
			if l.queries != c.queries || !slices.Equal(got.pages, c.pages) {
				t.Errorf("%d queries and pages %v, want %d and %v", l.queries, got.pages, c.queries, c.pages)
			}
		})
	}
}

// at is the cursor of a reader that has handled the events up to an id.
func at(id int64) func(context.Context) (int64, error) {
	return func(context.Context) (int64, error) { return id, nil }
}

func TestTailerReset(t *testing.T) {
	var l fakeLog
	var got handled
	tailer := NewTailer(tailOptions(&l, got.handle))
	for range 2 {
		if err := tailer.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.commit(repeat(PluginUp, 3)...)
		tailer.Reset() // what was committed before is skipped
	}
	if err := tailer.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(got.ids) > 0 || tailer.Cursor() != 6 {
		t.Errorf("handed over %v, cursor %d", got.ids, tailer.Cursor())
	}
}

// TestTailerRunBackoff logs an error once, waits longer after each attempt and says when it is over.
func TestTailerRunBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l fakeLog
		var got handled
		var log strings.Builder
		var woken []time.Duration
		began := time.Now()
		opt := tailOptions(&l, got.handle)
		opt.Logger = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Info})
		opt.Woken = func() { woken = append(woken, time.Since(began)) }
		ended := make(chan struct{})
		ctx, stop := context.WithCancel(t.Context())
		go func() { NewTailer(opt).Run(ctx); close(ended) }()
		synctest.Wait()
		l.failing(errDisk)
		l.commit(PluginUp)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		want := []time.Duration{0, 0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second, 25 * time.Second}
		if !slices.Equal(woken, want) {
			t.Errorf("attempts at %v, want %v", woken, want)
		}
		l.failing(nil)
		time.Sleep(maxBackoff)
		synctest.Wait()
		wantIDs(t, &got, 1, 1)
		if text := log.String(); strings.Count(text, "[ERROR]") != 1 || !strings.Contains(text, "disk full") ||
			!strings.Contains(text, "followed again: failed=6") {
			t.Errorf("the log is %s", text)
		}
		stop()
		<-ended
	})
}

// TestTailerRunEndsWithItsContext, also while it waits after an error.
func TestTailerRunEndsWithItsContext(t *testing.T) {
	for _, failure := range []error{nil, errDisk} {
		synctest.Test(t, func(t *testing.T) {
			var l fakeLog
			l.failing(failure)
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			began := time.Now()
			NewTailer(tailOptions(&l, new(handled).handle)).Run(ctx)
			if took := time.Since(began); took != time.Minute {
				t.Errorf("with error %v it ran for %s", failure, took)
			}
			if n := len(l.bus.subs); n > 0 {
				t.Errorf("with error %v %d subscriptions are left", failure, n)
			}
		})
	}
}

// cursorStore keeps a cursor together with what was handled, as the store of the dispatcher does.
type cursorStore struct {
	handled
	cursor int64
	chance *rand.Rand
}

func (s *cursorStore) read(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cursor, flaky(s.chance)
}

// store commits all or nothing. Either may end in an error: a caller does not learn which.
func (s *cursorStore) store(ctx context.Context, page []Event) error {
	if s.chance.IntN(4) == 0 {
		return errDisk
	}
	_ = s.handle(ctx, page) // never fails
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cursor = page[len(page)-1].ID
	return flaky(s.chance)
}

func flaky(chance *rand.Rand) error {
	if chance.IntN(4) == 0 {
		return errDisk
	}
	return nil
}

// TestTailerHandsOverEachEventOnce is a property: whatever the order of commits,
// errors, wake-ups without a commit and restarts, each event is handled exactly
// once and in order, from the beginning with a stored cursor, and since the start
// without one. A Tailer that is left behind would fail the bubble.
func TestTailerHandsOverEachEventOnce(t *testing.T) {
	for seed := range uint64(300) {
		for _, durable := range []bool{true, false} {
			t.Run(fmt.Sprint(seed, durable), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { tailRandomly(t, rand.New(rand.NewPCG(seed, 1)), durable) })
			})
		}
	}
}

func tailRandomly(t *testing.T, chance *rand.Rand, durable bool) {
	var l fakeLog
	l.commit(repeat(CheckFinished, chance.IntN(300))...)
	s := &cursorStore{chance: rand.New(rand.NewPCG(chance.Uint64(), 2))}
	faults := rand.New(rand.NewPCG(chance.Uint64(), 3))
	opt := tailOptions(&l, s.handle)
	first := int64(len(l.events) + 1)
	if durable {
		opt.Handle, opt.Cursor, first = s.store, s.read, 1
	}
	opt.KeepWithNext = func(e Event) bool { return e.ID%3 == 0 }
	run := func() func() {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		tailer := NewTailer(opt)
		go func() { tailer.Run(ctx); close(ended) }()
		synctest.Wait()
		return func() { stop(); <-ended }
	}
	stop := run()
	for range 30 {
		switch chance.IntN(6) {
		case 0:
			l.bus.Wake()
		case 1:
			l.mu.Lock()
			l.fail = func() error { return flaky(faults) }
			l.mu.Unlock()
		case 2:
			l.failing(nil)
		case 3:
			time.Sleep(time.Duration(chance.IntN(5000)) * time.Millisecond)
		case 4:
			if durable { // as the program is stopped and started again
				stop()
				stop = run()
			}
		default:
			l.commit(repeat(CheckFinished, chance.IntN(500))...)
		}
	}
	l.failing(nil)
	time.Sleep(time.Hour) // errors of the cursor go on; they only cost time
	synctest.Wait()
	stop()
	wantIDs(t, &s.handled, first, int64(len(l.events)))
}
