package schedule

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/internal/detach"
	"github.com/dogwatch/dogwatch/internal/wake"
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

	// renew makes Run look for watchers again.
	renew wake.Signal

	mu        sync.Mutex
	schedules map[*component.Watcher]*running
}

// running is a schedule that is followed.
type running struct {
	*Schedule
	// end ends the schedule and the checks that it has begun.
	end  context.CancelFunc
	done chan struct{}
}

// NewScheduler returns the scheduler of all watchers; Run starts it.
func NewScheduler(components *component.Manager, checker *check.Checker, log hclog.Logger) *Scheduler {
	s := &Scheduler{
		components: components, checker: checker, log: log, renew: wake.New(),
		schedules: map[*component.Watcher]*running{},
	}
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
	if s.components.Await(ctx, kind.Watcher, kind.Registry) == nil {
		s.start(ctx, &wait)
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-s.renew:
			s.start(ctx, &wait)
		}
	}
	timer := time.AfterFunc(stopTime, s.end)
	defer timer.Stop()
	wait.Wait()
	s.checks.Stop()
	return nil
}

// Renew follows the schedules of watchers that are new or configured otherwise. Those of
// others that are gone have ended, and so have the checks that they began, when it
// returns or ctx ends.
func (s *Scheduler) Renew(ctx context.Context) {
	for _, one := range s.gone() {
		one.end()
		select {
		case <-one.done:
		case <-ctx.Done():
		}
	}
	s.renew.Set()
}

// gone takes the schedules of watchers that are not configured any more out of those there are.
func (s *Scheduler) gone() (all []*running) {
	watchers := s.components.Watchers()
	s.mu.Lock()
	defer s.mu.Unlock()
	for w, one := range s.schedules {
		if !slices.Contains(watchers, w) {
			all = append(all, one)
			delete(s.schedules, w)
		}
	}
	return all
}

// ready waits until every component is configured, since the images of a
// registry that is not would be looked up elsewhere; a plugin that hangs holds
// up the others for readyTime at most.
func (s *Scheduler) ready(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	if s.components.Await(ctx, kind.Watcher, kind.Registry) != nil && ctx.Err() == context.DeadlineExceeded {
		s.log.Warn("not every component is configured yet; checking without them", "missing",
			strings.Join(s.components.Waiting(), ", "))
	}
}

// start runs the schedules of the watchers that have none yet.
func (s *Scheduler) start(ctx context.Context, wait *sync.WaitGroup) {
	for _, w := range s.components.Watchers() {
		s.mu.Lock()
		_, scheduled := s.schedules[w]
		s.mu.Unlock()
		times, err := ParseCron(w.Settings.Cron)
		if scheduled || err != nil || !w.Usable() {
			continue // what is wrong was reported when the component was made
		}
		// Checks outlive ctx for a while, but not the watcher.
		ctx, end := context.WithCancel(ctx)
		life, stop := context.WithCancel(s.life)
		one := &running{Schedule: s.schedule(life, w, times), end: func() { end(); stop() }, done: make(chan struct{})}
		s.mu.Lock()
		s.schedules[w] = one
		s.mu.Unlock()
		wait.Go(func() {
			defer close(one.done)
			defer one.end()
			_ = one.Run(ctx)
		})
	}
}

// schedule returns the schedule of a watcher, whose checks end with life.
func (s *Scheduler) schedule(life context.Context, w *component.Watcher, times Times) *Schedule {
	opt := Options{
		Name: w.Name, Times: times, Jitter: w.Settings.Jitter, AtStart: w.Settings.WatchAtStart, Log: s.log,
		Check:   func(context.Context) { s.watch(life, w, s.checker.Scheduled) },
		Changed: func(context.Context) { s.watch(life, w, s.checker.Fresh) },
		Failing: func() bool { _, failing := s.checker.Outage(w.Name); return failing },
		Probe:   func(context.Context) error { return s.probe(life, w) },
		Status: func(ctx context.Context, id, status string) {
			if err := s.checker.SetStatus(ctx, w.Name, id, status); err != nil && ctx.Err() == nil {
				s.log.Error("record the status of a container", "watcher", w.Name, "container", id, "error", err)
			}
		},
	}
	if w.Settings.WatchEvents && slices.Contains(w.Capabilities, kind.CapWatch) {
		opt.Watch = w.Watch
	}
	return New(opt)
}

// watch checks one watcher now. What goes wrong is logged and recorded by the checker.
func (s *Scheduler) watch(
	life context.Context, w *component.Watcher, run func(context.Context, check.Watcher) (event.Check, error),
) {
	_ = s.checks.Do(func() error {
		_, err := run(life, CheckWatcher(w))
		return err
	})
}

// probe reports whether the engine of one watcher responds.
func (s *Scheduler) probe(life context.Context, w *component.Watcher) error {
	return s.checks.Do(func() error { return s.checker.Probe(life, CheckWatcher(w)) })
}

// CheckWatcher returns a watcher as the checker takes it.
func CheckWatcher(w *component.Watcher) check.Watcher {
	exclude, _ := policy.ParsePattern(w.Settings.Exclude) // what is wrong was reported when the component was made
	return check.Watcher{Name: w.Name, WatchByDefault: w.Settings.WatchByDefault, Exclude: exclude, Lister: w, Pulls: w}
}

// Next returns when the next check of a watcher is due; the zero time when none is.
func (s *Scheduler) Next(watcher string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w, one := range s.schedules {
		if w.Name == watcher {
			return one.Next()
		}
	}
	return time.Time{}
}

// Progress returns how far the checks of whole watchers are; see check.Checker.
func (s *Scheduler) Progress() []check.Progress { return s.checker.Progress() }

// Budgets returns what is known of the requests to hosts; see check.Checker.
func (s *Scheduler) Budgets() []budget.Forecast { return s.checker.Budgets() }

// Concurrency returns how many requests hosts get at a time now; see check.Checker.
func (s *Scheduler) Concurrency() map[string]int { return s.checker.Concurrency() }

// WatchAll checks every watcher now and returns when all are done, or when ctx
// ends; the checks go on then. A watcher that fails has its check recorded as
// failed and is not an error here.
func (s *Scheduler) WatchAll(ctx context.Context) error {
	return s.checks.Run(ctx, func() error {
		s.ready(s.life)
		var wait sync.WaitGroup
		for _, w := range s.components.Watchers() {
			if w.Usable() {
				wait.Go(func() { s.watch(s.life, w, s.checker.Run) })
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

// WatchSome is WatchOne for several containers of one watcher.
func (s *Scheduler) WatchSome(ctx context.Context, watcher string, ids []string) error {
	w, known := s.components.WatcherNamed(watcher)
	if !known {
		return fmt.Errorf("check what was pushed: there is no watcher %q any more", watcher)
	}
	return s.checks.Run(ctx, func() error { return s.checker.Some(s.life, CheckWatcher(w), ids) })
}

// Explain says why a container has the result it has.
func (s *Scheduler) Explain(ctx context.Context, container sdk.Container) check.Explanation {
	return s.checker.Explain(ctx, container)
}
