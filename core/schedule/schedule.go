// Package schedule decides when a watcher is checked: at start, at the times
// of its cron expression plus a random delay, and soon after its engine
// reported a change. Checks of one watcher never overlap.
package schedule

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// Engine events come in bursts: a check starts when they have been quiet
	// for a while, or at the latest after a bounded wait under a steady stream.
	quiet   = 5 * time.Second
	maxWait = 30 * time.Second
	// watchPause is the wait before events are asked for again after they ended,
	// doubled up to longestPause while they end at once.
	watchPause   = 5 * time.Second
	longestPause = 5 * time.Minute
	// longestNap bounds a sleep, so that a clock that was set, or a machine that
	// was suspended, delays no check for long.
	longestNap = time.Minute
	// firstProbe is the wait before an engine that did not answer is asked again,
	// doubled up to longestProbe.
	firstProbe   = 30 * time.Second
	longestProbe = 5 * time.Minute
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
	// Failing reports whether the engine did not answer last time; Probe asks it
	// and nothing else. While it fails it is probed again and again, and checked
	// once it answers. Both or none are set.
	Failing func() bool
	Probe   func(ctx context.Context) error
	// Status records a container's new status.
	Status func(ctx context.Context, id, status string)
	// Watch follows engine events until ctx ends; nil when there are none.
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
		wait.Go(func() { s.follow(ctx, events) })
	}
	if s.opt.AtStart {
		s.opt.Check(ctx)
	}
	s.plan()
	nap := time.NewTimer(s.nap())
	defer nap.Stop()
	var settle debounce
	var again probe
	defer again.stop()
	for {
		again.set(s.opt.Failing != nil && s.opt.Failing())
		select {
		case <-ctx.Done():
			return nil
		case <-nap.C:
			if s.due() {
				settle = debounce{} // the check sees what changed before it
				s.opt.Check(ctx)
				s.plan()
			}
			nap.Reset(s.nap())
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

// nap returns how long to sleep before it may be due.
func (s *Schedule) nap() time.Duration {
	next := s.Next()
	if next.IsZero() {
		return longestNap
	}
	return max(min(time.Until(next), longestNap), 0)
}

// follow asks for engine events, again and again. While a check runs, events wait
// in a bounded queue, and past that in the plugin.
func (s *Schedule) follow(ctx context.Context, events chan<- watcher.Event) {
	emit := func(e watcher.Event) {
		select {
		case events <- e:
		case <-ctx.Done():
		}
	}
	pause := watchPause
	for again := false; ctx.Err() == nil; again = true {
		began := time.Now()
		err := s.watch(ctx, emit, again)
		lived := time.Since(began) >= watchPause
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, sdk.ErrUnsupported):
			s.log.Info("this engine reports no events; containers are found at scheduled checks", "watcher", s.opt.Name)
			return
		case lived || !again:
			pause = watchPause
			s.log.Warn("engine events ended; asking again", "watcher", s.opt.Name, "error", err)
		default:
			pause = min(2*pause, longestPause)
			s.log.Debug("still no engine events", "watcher", s.opt.Name, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// watch follows events until they end. Once they flow again, a check finds what
// happened while they did not.
func (s *Schedule) watch(ctx context.Context, emit func(watcher.Event), again bool) error {
	ended := make(chan struct{})
	var wait sync.WaitGroup
	defer wait.Wait()
	defer close(ended)
	if again {
		wait.Go(func() {
			select {
			case <-time.After(watchPause):
				emit(watcher.Event{Action: watcher.ActionChanged})
			case <-ended:
			}
		})
	}
	return s.opt.Watch(ctx, emit)
}

// debounce waits for quiet after a burst, but not for ever.
type debounce struct {
	timer *time.Timer
	first time.Time
}

func (d *debounce) note() {
	now := time.Now()
	if d.timer == nil {
		d.first = now
		d.timer = time.NewTimer(quiet)
		return
	}
	d.timer.Reset(min(quiet, max(d.first.Add(maxWait).Sub(now), 0)))
}

// C is the channel that fires when it is time; nil while nothing is waited for.
func (d *debounce) C() <-chan time.Time {
	if d.timer == nil {
		return nil
	}
	return d.timer.C
}

// probe is when an engine that does not answer is asked again.
type probe struct {
	timer *time.Timer // nil while the engine answers
	pause time.Duration
	spent bool // the timer has fired
}

// set starts the wait for the next probe, unless one is waited for or none is wanted.
func (p *probe) set(failing bool) {
	switch {
	case !failing:
		p.stop()
	case p.timer == nil:
		p.pause = firstProbe
		p.timer = time.NewTimer(p.pause)
	case p.spent:
		p.pause = min(2*p.pause, longestProbe)
		p.timer.Reset(p.pause)
		p.spent = false
	}
}

func (p *probe) fired() { p.spent = true }

func (p *probe) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
	*p = probe{}
}

// C is the channel that fires when it is time; nil while nothing is waited for.
func (p *probe) C() <-chan time.Time {
	if p.timer == nil {
		return nil
	}
	return p.timer.C
}
