// Package schedule decides when watchers are checked and runs the checks. A
// Schedule is that of one watcher: at start, at the times of its cron expression
// plus a random delay, and soon after its engine reported a change (debounce).
// Checks of one watcher never overlap. The Scheduler runs the schedules of all
// watchers, and the checks that clients ask for.
package schedule

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// maxWait bounds a wait, so that a clock that was set, or a machine that
	// was suspended, delays no check for long.
	maxWait = time.Minute
	// queued bounds the status changes that wait to be recorded.
	queued = 256
)

// Options configure the schedule of one watcher.
type Options struct {
	Name    string
	Times   Times
	Jitter  time.Duration
	AtStart bool
	// Check checks the watcher; its outcome is recorded elsewhere.
	Check func(ctx context.Context)
	// Changed, if set, is called instead of Check after an engine event: a check
	// that is under way already may not have seen what changed.
	Changed func(ctx context.Context)
	// Failing reports whether the engine did not respond last time; Probe reports
	// whether it does now. A failing engine is probed again and again, and checked
	// once it responds. Both or none are set.
	Failing func() bool
	Probe   func(ctx context.Context) error
	// Status records a container's new status.
	Status func(ctx context.Context, id, status string)
	// Watch emits engine events until ctx ends; nil when there are none.
	Watch func(ctx context.Context, emit func(watcher.Event)) error
	Log   hclog.Logger
}

// Schedule is the actor of one watcher.
type Schedule struct {
	opt  Options
	log  hclog.Logger
	mu   sync.Mutex
	next time.Time
}

// New returns the schedule of a watcher; Run starts it.
func New(opt Options) *Schedule {
	if opt.Changed == nil {
		opt.Changed = opt.Check
	}
	return &Schedule{opt: opt, log: opt.Log.Named("schedule")}
}

// Next returns when the next scheduled check is due; the zero time when none is known.
func (s *Schedule) Next() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// Run checks and waits until ctx ends.
func (s *Schedule) Run(ctx context.Context) error {
	var wait sync.WaitGroup
	defer wait.Wait()
	events := make(chan watcher.Event, queued)
	if s.opt.Watch != nil {
		wait.Go(func() { s.subscribe(ctx, events) })
	}
	// While Dogwatch stops, the components that a check needs may never have been configured.
	if s.opt.AtStart && ctx.Err() == nil {
		s.opt.Check(ctx)
	}
	s.plan()
	timer := time.NewTimer(s.wait())
	defer timer.Stop()
	var settle debounce
	var again probe
	defer again.stop()
	for {
		again.set(s.opt.Failing != nil && s.opt.Failing())
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			if s.due() {
				settle = debounce{} // the check sees what changed before it
				s.opt.Check(ctx)
				s.plan()
			}
			timer.Reset(s.wait())
		case e := <-events:
			switch e.Action {
			case watcher.ActionChanged:
				settle.note()
			case watcher.ActionStatus:
				s.opt.Status(ctx, e.ContainerID, e.Status)
			}
		case <-settle.C():
			settle = debounce{}
			s.opt.Changed(ctx)
		case <-again.C():
			again.fired()
			if s.opt.Probe(ctx) == nil {
				s.opt.Check(ctx)
			}
		}
	}
}

// plan sets when the next check is due: some random time after its cron
// expression comes true next, or never.
func (s *Schedule) plan() {
	next := s.opt.Times.Next(time.Now())
	if !next.IsZero() && s.opt.Jitter > 0 {
		next = next.Add(rand.N(s.opt.Jitter))
	}
	s.mu.Lock()
	s.next = next
	s.mu.Unlock()
}

// due reports whether the next check is due. If the clock was set back far
// enough for the plan to make no sense any more, there is a new one.
func (s *Schedule) due() bool {
	now, next := time.Now(), s.Next()
	if next.IsZero() {
		s.plan()
		return false
	}
	if first := s.opt.Times.Next(now); first.Add(s.opt.Jitter).Before(next) {
		s.plan()
		return false
	}
	return !now.Before(next)
}

// wait returns how long to wait before it may be due.
func (s *Schedule) wait() time.Duration {
	next := s.Next()
	if next.IsZero() {
		return maxWait
	}
	return max(min(time.Until(next), maxWait), 0)
}
