package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/check"
	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/schedule"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// stopTime is how long running checks may go on when Dogwatch stops.
const stopTime = 10 * time.Second

// readyTime is how long a check waits for components at start.
const readyTime = 5 * time.Second

var errStopping = errors.New("dogwatch is stopping")

// checks runs the checks of every watcher: on their schedules, and when asked.
// A check goes on when the one who asked for it leaves.
type checks struct {
	components *component.Manager
	checker    *check.Checker
	log        hclog.Logger

	// life ends some time after the app is told to stop, so that running checks can end.
	life context.Context
	end  context.CancelFunc
	wait sync.WaitGroup

	mu        sync.Mutex
	stopping  bool // no check may begin any more
	schedules map[string]*schedule.Schedule
}

func newChecks(components *component.Manager, checker *check.Checker, log hclog.Logger) *checks {
	c := &checks{components: components, checker: checker, log: log, schedules: map[string]*schedule.Schedule{}}
	c.life, c.end = context.WithCancel(context.Background())
	return c
}

// run follows the schedules of all watchers until ctx ends, and then gives
// running checks their time.
func (c *checks) run(ctx context.Context) error {
	defer c.end()
	c.ready(ctx)
	var wait sync.WaitGroup
	c.start(ctx, &wait)
	// Those whose plugin took longer than that follow when they can.
	if c.components.Await(ctx) == nil {
		c.start(ctx, &wait)
	}
	<-ctx.Done()
	timer := time.AfterFunc(stopTime, c.end)
	defer timer.Stop()
	wait.Wait()
	c.mu.Lock()
	c.stopping = true
	c.mu.Unlock()
	c.wait.Wait()
	return nil
}

// ready waits until every component is configured, for images of a registry
// that is not would be asked elsewhere; but not for long, for a plugin that hangs must not stop the rest.
func (c *checks) ready(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	if c.components.Await(ctx) != nil && ctx.Err() == context.DeadlineExceeded {
		c.log.Warn("not every component is configured yet; checking without them")
	}
}

// begin counts a piece of work that run waits for; false means that it is too late for it.
func (c *checks) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping {
		return false
	}
	c.wait.Add(1)
	return true
}

// start runs the schedules of the watchers that have none yet.
func (c *checks) start(ctx context.Context, wait *sync.WaitGroup) {
	for _, w := range c.components.All(kind.Watcher) {
		c.mu.Lock()
		_, scheduled := c.schedules[w.Name]
		c.mu.Unlock()
		if scheduled {
			continue
		}
		if s := c.schedule(w); s != nil {
			wait.Go(func() { _ = s.Run(ctx) })
		}
	}
}

// schedule returns the schedule of a watcher, or nil for one that cannot be used.
func (c *checks) schedule(w *component.Component) *schedule.Schedule {
	times, err := schedule.ParseCron(w.Watcher.Cron)
	if err != nil || !w.Usable() {
		return nil // reported when the component was made
	}
	opt := schedule.Options{
		Name: w.Name, Times: times, Jitter: w.Watcher.Jitter, AtStart: w.Watcher.WatchAtStart, Log: c.log,
		Check:   func(context.Context) { c.watch(w, c.checker.Run) },
		Changed: func(context.Context) { c.watch(w, c.checker.Fresh) },
		Failing: func() bool { _, failing := c.checker.Outage(w.Name); return failing },
		Probe:   func(context.Context) error { return c.probe(w) },
		Status: func(ctx context.Context, id, status string) {
			if err := c.checker.SetStatus(ctx, w.Name, id, status); err != nil && ctx.Err() == nil {
				c.log.Error("record the status of a container", "watcher", w.Name, "container", id, "error", err)
			}
		},
	}
	if w.Watcher.WatchEvents && slices.Contains(w.Capabilities, kind.CapWatch) {
		opt.Watch = w.Watch
	}
	s := schedule.New(opt)
	c.mu.Lock()
	c.schedules[w.Name] = s
	c.mu.Unlock()
	return s
}

// watch checks one watcher now. What goes wrong is logged and recorded by the checker.
func (c *checks) watch(w *component.Component, run func(context.Context, check.Watcher) (event.Check, error)) {
	if c.begin() {
		defer c.wait.Done()
		_, _ = run(c.life, watcherOf(w))
	}
}

// probe asks the engine of one watcher whether it answers.
func (c *checks) probe(w *component.Component) error {
	if !c.begin() {
		return errStopping
	}
	defer c.wait.Done()
	return c.checker.Probe(c.life, watcherOf(w))
}

func watcherOf(w *component.Component) check.Watcher {
	return check.Watcher{Name: w.Name, WatchByDefault: w.Watcher.WatchByDefault, Lister: w}
}

// Next returns when the next check of a watcher is due; the zero time when none is.
func (c *checks) Next(watcher string) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.schedules[watcher]; s != nil {
		return s.Next()
	}
	return time.Time{}
}

// Progress returns how far the checks of whole watchers are; see check.Checker.
func (c *checks) Progress() []check.Progress { return c.checker.Progress() }

// WatchAll checks every watcher now and returns when all are done, or when ctx
// ends; the checks go on then. A watcher that fails has its check recorded as
// failed and is not an error here.
func (c *checks) WatchAll(ctx context.Context) error {
	return c.detached(ctx, func() error {
		c.ready(c.life)
		var wait sync.WaitGroup
		for _, w := range c.components.All(kind.Watcher) {
			if w.Usable() {
				wait.Go(func() { c.watch(w, c.checker.Run) })
			}
		}
		wait.Wait()
		return nil
	})
}

// WatchOne checks one stored container now. The error is check.ErrNotListed
// when the engine has it no more, or says why it could not be checked.
func (c *checks) WatchOne(ctx context.Context, container sdk.Container) error {
	w, known := c.components.Watcher(container.Watcher)
	if !known {
		return fmt.Errorf("no provider found for container %s and provider %s", container.ID, container.Watcher)
	}
	return c.detached(ctx, func() error { return c.checker.One(c.life, watcherOf(w), container.ID) })
}

// Explain says why a container has the result it has.
func (c *checks) Explain(ctx context.Context, container sdk.Container) check.Explanation {
	return c.checker.Explain(ctx, container)
}

// detached runs fn to its end, but waits for it only as long as ctx lives.
func (c *checks) detached(ctx context.Context, fn func() error) error {
	if !c.begin() {
		return errStopping
	}
	done := make(chan error, 1)
	go func() {
		defer c.wait.Done()
		done <- fn()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
