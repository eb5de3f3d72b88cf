package schedule

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// every is a cron expression that comes true at multiples of a duration.
type every time.Duration

func (e every) Next(t time.Time) time.Time {
	return t.Truncate(time.Duration(e)).Add(time.Duration(e))
}

type never struct{}

func (never) Next(time.Time) time.Time { return time.Time{} }

// bench runs a schedule and notes when what happened, in time since the start.
type bench struct {
	Options
	start   time.Time
	mu      sync.Mutex
	checks  []time.Duration
	changes []time.Duration // checks because of a change
	status  []string
	took    time.Duration // how long a check takes
	s       *Schedule
	stop    func()
}

// run starts a schedule in the bubble of the test. What change sets holds from the start.
func run(t *testing.T, change func(*bench)) *bench {
	b := &bench{start: time.Now()}
	b.Options = Options{
		Name: "local", Times: every(time.Hour), Log: hclog.NewNullLogger(),
		Check: func(ctx context.Context) {
			b.note(&b.checks)
			select {
			case <-time.After(b.took):
			case <-ctx.Done():
			}
		},
		Changed: func(context.Context) { b.note(&b.changes) },
		Status: func(_ context.Context, id, status string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.status = append(b.status, id+" "+status)
		},
	}
	change(b)
	b.s = New(b.Options)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.s.Run(ctx) }()
	b.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v", err)
		}
	}
	return b
}

func (b *bench) note(list *[]time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*list = append(*list, time.Since(b.start))
}

// after lets time pass and returns when checks began.
func (b *bench) after(d time.Duration) (checks, changes []time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.checks), slices.Clone(b.changes)
}

func want(t *testing.T, about string, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s at %v, want %v", about, got, want)
	}
}

// steps emits changed events at given moments, then waits for the end.
func steps(at ...time.Duration) func(context.Context, func(watcher.Event)) error {
	return func(ctx context.Context, emit func(watcher.Event)) error {
		began := time.Now()
		for _, d := range at {
			time.Sleep(time.Until(began.Add(d)))
			emit(watcher.Event{Action: watcher.ActionChanged, ContainerID: "c"})
		}
		<-ctx.Done()
		return ctx.Err()
	}
}

func TestScheduleChecksAtStartAndOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, func(b *bench) { b.AtStart = true })
		checks, _ := b.after(0)
		want(t, "checked", checks, 0)
		if got := b.s.Next(); !got.Equal(b.start.Add(time.Hour)) {
			t.Errorf("Next is %s, want one hour after %s", got, b.start)
		}
		checks, changes := b.after(2*time.Hour + time.Minute)
		want(t, "checked", checks, 0, time.Hour, 2*time.Hour)
		want(t, "changed", changes)
		b.stop()
	})
}

func TestScheduleWithoutCheckAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, func(*bench) {})
		checks, _ := b.after(time.Hour - time.Second)
		want(t, "checked", checks)
		checks, _ = b.after(time.Second)
		want(t, "checked", checks, time.Hour)
		b.stop()
	})
}

func TestScheduleJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const jitter = 10 * time.Minute
		b := run(t, func(b *bench) { b.Jitter = jitter })
		checks, _ := b.after(50*time.Hour + jitter)
		if len(checks) != 50 {
			t.Fatalf("%d checks in 50 hours", len(checks))
		}
		distinct := map[time.Duration]bool{}
		for i, at := range checks {
			delay := at - time.Duration(i+1)*time.Hour
			if delay < 0 || delay >= jitter {
				t.Errorf("check %d is %s after its time, want below %s", i, delay, jitter)
			}
			distinct[delay] = true
		}
		if len(distinct) < 25 {
			t.Errorf("only %d different delays in 50: not random", len(distinct))
		}
		b.stop()
	})
}

func TestScheduleChecksDoNotOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, func(b *bench) { b.took = 90 * time.Minute })
		checks, _ := b.after(6 * time.Hour)
		want(t, "checked", checks, time.Hour, 3*time.Hour, 5*time.Hour)
		b.stop()
	})
}

func TestDebounceChecksWhenQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := time.Second
		b := run(t, func(b *bench) { b.Watch = steps(10*s, 12*s, 16*s, 60*s) })
		checks, changes := b.after(2 * time.Minute)
		want(t, "changed", changes, 21*s, 65*s)
		want(t, "checked", checks)
		b.stop()
	})
}

func TestDebounceBoundsSteadyStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		for n := range 40 {
			at = append(at, time.Duration(n)*2*time.Second+time.Second)
		}
		b := run(t, func(b *bench) { b.Watch = steps(at...) })
		_, changes := b.after(2 * time.Minute)
		// 30 s after the first of a burst, though it never was quiet; at last 5 s after the end.
		if len(changes) != 3 || changes[0] != 31*time.Second || changes[1] > 65*time.Second || changes[2] > 85*time.Second {
			t.Errorf("changed at %v", changes)
		}
		b.stop()
	})
}

// TestDebounceEndsWithScheduledCheck: what changed before a check began needs no other one.
func TestDebounceEndsWithScheduledCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, func(b *bench) { b.Watch = steps(time.Hour - 2*time.Second) })
		checks, changes := b.after(90 * time.Minute)
		want(t, "checked", checks, time.Hour)
		want(t, "changed", changes)
		b.stop()
	})
}

// TestDebounceKeepsChangeDuringCheck: the check may have listed the containers before.
func TestDebounceKeepsChangeDuringCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, func(b *bench) {
			b.took = time.Minute
			b.Watch = steps(time.Hour + 30*time.Second)
		})
		checks, changes := b.after(90 * time.Minute)
		want(t, "checked", checks, time.Hour)
		want(t, "changed", changes, time.Hour+time.Minute+debounceQuiet)
		b.stop()
	})
}

func TestScheduleChangedDefaultsToCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, func(b *bench) {
			b.Changed = nil
			b.Watch = steps(0)
		})
		checks, _ := b.after(time.Minute)
		want(t, "checked", checks, debounceQuiet)
		b.stop()
	})
}

func TestScheduleStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, func(b *bench) {
			b.AtStart, b.took = true, time.Hour
			b.Watch = func(ctx context.Context, emit func(watcher.Event)) error {
				for ctx.Err() == nil { // more than fits into the queue
					emit(watcher.Event{Action: watcher.ActionStatus})
				}
				return ctx.Err()
			}
		})
		b.after(time.Second)
		began := time.Now()
		b.stop() // the bubble fails if a goroutine is left
		if took := time.Since(began); took > 0 {
			t.Errorf("stopping took %s", took)
		}
	})
}

// TestScheduleThatEndsAtOnceChecksNothing: Dogwatch is stopped before its registries are configured.
func TestScheduleThatEndsAtOnceChecksNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := New(Options{
		Name: "local", Times: every(time.Hour), AtStart: true, Log: hclog.NewNullLogger(),
		Check: func(context.Context) { t.Error("it checked") },
	})
	if err := s.Run(ctx); err != nil {
		t.Errorf("Run returned %v", err)
	}
}

func TestScheduleWithoutNextTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, func(b *bench) { b.Times = never{} })
		checks, _ := b.after(48 * time.Hour)
		want(t, "checked", checks)
		if !b.s.Next().IsZero() {
			t.Errorf("Next is %s", b.s.Next())
		}
		b.stop()
	})
}

// clock is a cron expression on a clock that is wrong by skew.
type clock struct {
	every
	skew *atomic.Int64
}

func (c clock) Next(t time.Time) time.Time {
	return c.every.Next(t.Add(time.Duration(c.skew.Load())))
}

// TestScheduleAfterClockChange: a plan made while the clock was years ahead does not
// keep checks from being made once it is right.
func TestScheduleAfterClockChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var skew atomic.Int64
		skew.Store(int64(4 * 365 * 24 * time.Hour))
		b := run(t, func(b *bench) { b.Times = clock{every(time.Hour), &skew} })
		b.after(time.Second)
		skew.Store(0)
		checks, _ := b.after(time.Hour)
		want(t, "checked", checks, time.Hour)
		b.stop()
	})
}
