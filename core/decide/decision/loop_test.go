package decision

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
)

// running is a loop with a clock that a test can set.
type running struct {
	*loop
	mu      sync.Mutex // guards what follows
	bus     event.Bus
	next    time.Time // what decisions name, until they are made
	later   time.Time // what they name then
	err     error
	decided []time.Duration // since the start
	skew    time.Duration
	start   time.Time
	stop    context.CancelFunc
}

// begin starts a loop in a bubble.
func begin(t *testing.T, next, later time.Duration) *running {
	r := &running{start: time.Now()}
	if next > 0 {
		r.next = r.start.Add(next)
	}
	if later > 0 {
		r.later = r.start.Add(later)
	}
	r.loop = &loop{
		redecide: func(context.Context) error {
			now := r.now()
			r.mu.Lock()
			defer r.mu.Unlock()
			r.decided = append(r.decided, time.Since(r.start))
			if r.err == nil && !r.next.IsZero() && !r.next.After(now) {
				r.next, r.later = r.later, time.Time{}
			}
			return r.err
		},
		next: r.first, bus: &r.bus, wake: make(chan struct{}, 1), log: hclog.NewNullLogger(), now: r.now,
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.run(ctx) }()
	r.stop = func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	synctest.Wait()
	return r
}

func (r *running) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Add(r.skew)
}

func (r *running) first() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// set changes what a Loop finds.
func (r *running) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

func (r *running) expect(t *testing.T, title string, at ...time.Duration) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.decided) != len(at) {
		t.Fatalf("%s: decided at %v, want %v", title, r.decided, at)
	}
	for i := range at {
		if r.decided[i] != at[i] {
			t.Errorf("%s: decided at %v, want %v", title, r.decided, at)
		}
	}
}

func TestLoopDecidesAtStartAndWhenDecisionsSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := begin(t, 90*time.Minute, 30*time.Hour)
		defer r.stop()
		r.expect(t, "at the start", 0)
		time.Sleep(89 * time.Minute)
		r.expect(t, "before it is time", 0)
		time.Sleep(48 * time.Hour)
		r.expect(t, "at each time, and never in between", 0, 90*time.Minute, 30*time.Hour)
	})
}

func TestLoopNoticesWhatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := begin(t, 0, 0)
		defer r.stop()
		time.Sleep(10 * time.Hour)
		r.expect(t, "nothing to wait for", 0)
		r.set(func() { r.next = r.start.Add(11 * time.Hour) })
		r.bus.Wake() // by the commit of a check
		synctest.Wait()
		r.expect(t, "a commit alone decides nothing", 0)
		time.Sleep(2 * time.Hour)
		r.expect(t, "an earlier time", 0, 11*time.Hour)
		r.wake.Set()
		r.expect(t, "a choice", 0, 11*time.Hour, 12*time.Hour)
	})
}

func TestLoopRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := begin(t, time.Hour, 0)
		defer r.stop()
		r.set(func() { r.err = errors.New("disk full") })
		time.Sleep(time.Hour + 150*time.Second)
		r.set(func() { r.err = nil })
		time.Sleep(10 * time.Hour)
		r.expect(t, "once a minute", 0, time.Hour, time.Hour+time.Minute, time.Hour+2*time.Minute, time.Hour+3*time.Minute)
	})
}

// TestLoopRetriesAfterAWakeUp: of a choice that could not be decided about no decision names a time.
func TestLoopRetriesAfterAWakeUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := begin(t, 0, 0)
		defer r.stop()
		time.Sleep(time.Hour)
		r.set(func() { r.err = errors.New("disk full") })
		r.wake.Set()
		r.bus.Wake()
		time.Sleep(90 * time.Second)
		r.set(func() { r.err, r.next = nil, r.start.Add(20*time.Hour) })
		r.bus.Wake()
		time.Sleep(10 * time.Hour)
		r.expect(t, "once a minute until it works", 0, time.Hour, time.Hour+time.Minute, time.Hour+2*time.Minute)
	})
}

func TestLoopFollowsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := begin(t, 10*time.Hour, 0)
		defer r.stop()
		time.Sleep(90 * time.Minute)
		r.set(func() { r.skew = 9 * time.Hour }) // the host slept
		time.Sleep(30 * time.Minute)
		r.expect(t, "set forward", 0, 2*time.Hour)
		later := r.now().Add(20 * time.Hour)
		r.set(func() { r.next = later })
		r.bus.Wake()
		synctest.Wait()
		r.set(func() { r.skew = 4 * time.Hour }) // and was set right
		time.Sleep(24 * time.Hour)
		r.expect(t, "set back", 0, 2*time.Hour)
		time.Sleep(time.Hour)
		r.expect(t, "at the time of the clock", 0, 2*time.Hour, 27*time.Hour)
		if t.Failed() {
			t.Log(r.next.Sub(r.start))
		}
	})
}
