package schedule

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/budget"
	"github.com/dogwatch/dogwatch/core/check"
	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/detach"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// stopTime is how long running checks may go on when Dogwatch stops.
const stopTime = 10 * time.Second

// readyTime is how long a check waits for components at start.
const readyTime = 5 * time.Second

// Scheduler runs the checks of all watchers: on their schedules, and when a
// client asks for one. A check goes on when the client leaves. Its methods may
// be called concurrently.
type Scheduler struct {
	components *component.Manager
	checker    *check.Checker
	log        hclog.Logger

	// life ends some time after the context of Run, so that running checks can end.
	life   context.Context
	end    context.CancelFunc
	checks detach.Group

	mu        sync.Mutex
	schedules map[string]*Schedule
}

// NewScheduler returns the scheduler of all watchers; Run starts it.
func NewScheduler(components *component.Manager, checker *check.Checker, log hclog.Logger) *Scheduler {
	s := &Scheduler{components: components, checker: checker, log: log, schedules: map[string]*Schedule{}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Run follows the schedules of all watchers until ctx ends. Running checks have
// stopTime to end then.
func (s *Scheduler) Run(ctx context.Context) error {
	defer s.end()
	s.ready(ctx)
	var wait sync.WaitGroup
	s.start(ctx, &wait)
	// Those whose plugin took longer than that follow when they can.
	if s.components.Await(ctx) == nil {
		s.start(ctx, &wait)
	}
	<-ctx.Done()
	timer := time.AfterFunc(stopTime, s.end)
	defer timer.Stop()
	wait.Wait()
	s.checks.Stop()
	return nil
}

// ready waits until every component is configured, since the images of a
// registry that is not would be looked up elsewhere; a plugin that hangs holds
// up the others for readyTime at most.
func (s *Scheduler) ready(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	if s.components.Await(ctx) != nil && ctx.Err() == context.DeadlineExceeded {
		s.log.Warn("not every component is configured yet; checking without them")
	}
}

// start runs the schedules of the watchers that have none yet.
func (s *Scheduler) start(ctx context.Context, wait *sync.WaitGroup) {
	for _, w := range s.components.Watchers() {
		s.mu.Lock()
		_, scheduled := s.schedules[w.Name]
		s.mu.Unlock()
		if scheduled {
			continue
		}
		if one := s.schedule(w); one != nil {
			wait.Go(func() { _ = one.Run(ctx) })
		}
	}
}

// schedule returns the schedule of a watcher, or nil for one that cannot be used.
func (s *Scheduler) schedule(w *component.Watcher) *Schedule {
	times, err := ParseCron(w.Settings.Cron)
	if err != nil || !w.Usable() {
		return nil // reported when the component was made
	}
	opt := Options{
		Name: w.Name, Times: times, Jitter: w.Settings.Jitter, AtStart: w.Settings.WatchAtStart, Log: s.log,
		Check:   func(context.Context) { s.watch(w, s.checker.Run) },
		Changed: func(context.Context) { s.watch(w, s.checker.Fresh) },
		Failing: func() bool { _, failing := s.checker.Outage(w.Name); return failing },
		Probe:   func(context.Context) error { return s.probe(w) },
		Status: func(ctx context.Context, id, status string) {
			if err := s.checker.SetStatus(ctx, w.Name, id, status); err != nil && ctx.Err() == nil {
				s.log.Error("record the status of a container", "watcher", w.Name, "container", id, "error", err)
			}
		},
	}
	if w.Settings.WatchEvents && slices.Contains(w.Capabilities, kind.CapWatch) {
		opt.Watch = w.Watch
	}
	one := New(opt)
	s.mu.Lock()
	s.schedules[w.Name] = one
	s.mu.Unlock()
	return one
}

// watch checks one watcher now. What goes wrong is logged and recorded by the checker.
func (s *Scheduler) watch(w *component.Watcher, run func(context.Context, check.Watcher) (event.Check, error)) {
	_ = s.checks.Do(func() error {
		_, err := run(s.life, CheckWatcher(w))
		return err
	})
}

// probe reports whether the engine of one watcher responds.
func (s *Scheduler) probe(w *component.Watcher) error {
	return s.checks.Do(func() error { return s.checker.Probe(s.life, CheckWatcher(w)) })
}

// CheckWatcher returns a watcher as the checker takes it.
func CheckWatcher(w *component.Watcher) check.Watcher {
	return check.Watcher{Name: w.Name, WatchByDefault: w.Settings.WatchByDefault, Lister: w}
}

// Next returns when the next check of a watcher is due; the zero time when none is.
func (s *Scheduler) Next(watcher string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.schedules[watcher]; one != nil {
		return one.Next()
	}
	return time.Time{}
}

// Progress returns how far the checks of whole watchers are; see check.Checker.
func (s *Scheduler) Progress() []check.Progress { return s.checker.Progress() }

// Budgets returns what is known of the requests to hosts; see check.Checker.
func (s *Scheduler) Budgets() []budget.Forecast { return s.checker.Budgets() }

// WatchAll checks every watcher now and returns when all are done, or when ctx
// ends; the checks go on then. A watcher that fails has its check recorded as
// failed and is not an error here.
func (s *Scheduler) WatchAll(ctx context.Context) error {
	return s.checks.Run(ctx, func() error {
		s.ready(s.life)
		var wait sync.WaitGroup
		for _, w := range s.components.Watchers() {
			if w.Usable() {
				wait.Go(func() { s.watch(w, s.checker.Run) })
			}
		}
		wait.Wait()
		return nil
	})
}

// WatchOne checks one stored container now. The error is check.ErrNotListed
// when the engine has it no more, or says why it could not be checked.
func (s *Scheduler) WatchOne(ctx context.Context, container sdk.Container) error {
	w, known := s.components.WatcherNamed(container.Watcher)
	if !known {
		return fmt.Errorf("no provider found for container %s and provider %s", container.ID, container.Watcher)
	}
	return s.checks.Run(ctx, func() error { return s.checker.One(s.life, CheckWatcher(w), container.ID) })
}

// Explain says why a container has the result it has.
func (s *Scheduler) Explain(ctx context.Context, container sdk.Container) check.Explanation {
	return s.checker.Explain(ctx, container)
}
