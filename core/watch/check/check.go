// Package check runs one pass over a watcher's containers: list them, read
// their labels, have registryquery ask about their images, hand the answers
// over to decision, and report what was found.
package check

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
)

// Lister finds the containers of a watcher.
type Lister interface {
	List(ctx context.Context) ([]sdk.Container, error)
}

// Watcher is what a check needs to know of a watcher.
type Watcher struct {
	Name           string
	WatchByDefault bool
	// Exclude matches the names of containers that are left out; nil for none.
	Exclude policy.Pattern
	Lister  Lister
}

// Events keep what happened. Commit stores events together or not at all.
type Events interface {
	Commit(ctx context.Context, change event.Change) error
}

// Options configure a Checker.
type Options struct {
	// Queries asks registries.
	Queries *registryquery.Client
	// Decisions keep the containers, and what becomes of their updates.
	Decisions *decision.Decisions
	Events    Events
	// SaveRequests, if set, keeps what the budget of Queries has counted, at most twice a second.
	SaveRequests func(ctx context.Context, all []budget.Saved) error
	// Labels are which labels of containers count.
	Labels label.Options
	// Triggers returns the ids of those that are configured, which labels may name; nil where that is not known.
	Triggers func() []string
	// WatchFloating makes the digests behind floating versions count where no label says otherwise.
	WatchFloating bool
	// Progressed, if set, is called when Progress has something new about a check
	// that goes on. It must not block.
	Progressed func()
	// Reached, if set, is called with whether the engine of a watcher answered,
	// after each request to it. It must not block.
	Reached func(watcher string, err error)
	// Order returns the names of the watchers, in configuration order.
	Order func() []string
	Log   hclog.Logger
	Now   func() time.Time
}

// ErrNotListed means that the engine no longer has the container.
var ErrNotListed = errors.New("the engine no longer lists the container")

// Checker runs checks. Its methods may be called concurrently; checks of one
// watcher never overlap: a request during a run gets that run's outcome.
type Checker struct {
	opt Options
	log hclog.Logger
	// selectors remembers the compiled tag rules of all containers.
	selectors tag.Compiler

	mu       sync.Mutex
	watchers map[string]*state
	lastRun  int64
	warned   map[string]bool
}

// state is what is remembered of a watcher between its runs.
type state struct {
	semaphore chan struct{} // of one slot, held while working on the watcher's containers
	running   *run          // nil when no check of the whole watcher is under way
	// broken says of containers what their engine could not say, by id.
	broken map[string]string
	// requests are how many the last check of all made at most, by host.
	requests map[string]int
	// outage is nil while the engine answers.
	outage *Outage
}

// run is a check of a whole watcher that is under way.
type run struct {
	done    chan struct{}
	listing bool // what happens from now on may be left to the next run
	// checked is how many of the total of containers have their result.
	checked, total int
	report         event.Check
	err            error
}

// New returns a Checker.
func New(opt Options) *Checker {
	if opt.Reached == nil {
		opt.Reached = func(string, error) {}
	}
	return &Checker{opt: opt, log: opt.Log.Named("check"), watchers: map[string]*state{}, warned: map[string]bool{}}
}

// Run checks every container of a watcher and returns how it went. An error
// means that the engine could not be reached, that the store could not be written
// or that ctx ended; what was stored until then holds, and the updates among it
// are reported by the next check. A registry that fails marks its containers only.
func (c *Checker) Run(ctx context.Context, w Watcher) (event.Check, error) {
	return c.join(ctx, w, func(*run) bool { return true })
}

// Fresh is Run for those who know of a change: a run that is listing the
// containers already may not see it, so another one follows.
func (c *Checker) Fresh(ctx context.Context, w Watcher) (event.Check, error) {
	return c.join(ctx, w, func(r *run) bool { return !r.listing })
}

// join waits for the run under way if it will do, and else for one of its own.
func (c *Checker) join(ctx context.Context, w Watcher, will func(*run) bool) (event.Check, error) {
	for waited := false; ; waited = true {
		c.mu.Lock()
		st := c.state(w.Name)
		r := st.running
		do := r == nil || waited || will(r) // what began after the call will do
		if r == nil {
			r = &run{done: make(chan struct{})}
			st.running = r
			c.mu.Unlock()
			c.lead(ctx, w, st, r)
			return r.report, r.err
		}
		c.mu.Unlock()
		select {
		case <-r.done:
			if do {
				return r.report, r.err
			}
		case <-ctx.Done():
			return event.Check{}, ctx.Err()
		}
	}
}

// lead makes the run that others may wait for.
func (c *Checker) lead(ctx context.Context, w Watcher, st *state, r *run) {
	defer func() {
		c.mu.Lock()
		st.running = nil
		c.mu.Unlock()
		close(r.done)
	}()
	r.report, r.err = c.run(ctx, w, nil)
}

// One lists the watcher's containers, as Run does, but sends requests to registries about
// one container only. It returns ErrNotListed when the engine has it no more.
func (c *Checker) One(ctx context.Context, w Watcher, id string) error {
	return c.Some(ctx, w, []string{id})
}

// Some is One for several containers. It returns ErrNotListed when the engine has none of them any more.
func (c *Checker) Some(ctx context.Context, w Watcher, ids []string) error {
	report, err := c.run(ctx, w, ids)
	if err == nil && report.Containers == 0 {
		return ErrNotListed
	}
	return err
}

// state returns what is remembered of a watcher. The caller holds mu.
func (c *Checker) state(watcher string) *state {
	st := c.watchers[watcher]
	if st == nil {
		st = &state{semaphore: make(chan struct{}, 1)}
		c.watchers[watcher] = st
	}
	return st
}

// enter waits until no one else works on the watcher's containers. The caller
// must call leave unless there is an error, which is that of ctx.
func (c *Checker) enter(ctx context.Context, watcher string) (leave func(), err error) {
	c.mu.Lock()
	semaphore := c.state(watcher).semaphore
	c.mu.Unlock()
	select {
	case semaphore <- struct{}{}:
		return func() { <-semaphore }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// runID returns an id that no other run has.
func (c *Checker) runID(watcher string, began time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastRun = max(c.lastRun+1, began.UnixMilli())
	return fmt.Sprintf("%s-%d", watcher, c.lastRun)
}

// run makes one pass over a watcher's containers and records it.
func (c *Checker) run(ctx context.Context, w Watcher, only []string) (event.Check, error) {
	report := event.Check{Watcher: w.Name, Single: len(only) > 0}
	leave, err := c.enter(ctx, w.Name)
	if err != nil {
		return report, fmt.Errorf("check %s: %w", w.Name, err)
	}
	defer leave()
	p := pass{Checker: c, watcher: w, only: only, began: c.opt.Now(), report: &report}
	p.id = c.runID(w.Name, p.began)
	log := c.log.With("watcher", w.Name, "run", p.id)
	log.Debug("check started")
	if err = p.run(ctx); err != nil {
		// the next one reports what was found
		report = event.Check{Watcher: w.Name, Single: len(only) > 0, Error: err.Error()}
		log.Error("check failed", "error", err)
		// The run failed, perhaps because ctx ended: its end is recorded all the same.
		if err := c.opt.Events.Commit(context.WithoutCancel(ctx), event.Change{
			Events: []event.Event{p.runEvent(event.CheckFailed)},
		}); err != nil {
			log.Error("record the end of a check", "error", err)
		}
		return report, fmt.Errorf("check %s: %w", w.Name, err)
	}
	p.logOutages()
	n := p.counts
	log.Info("check finished", "containers", n.All, "updates", n.Updates, "failed", n.Failed, "postponed", n.Postponed,
		"unchecked", n.Unchecked, "unknown", n.Unknown, "current", n.Current, "stale", n.Stale, "took", report.Took)
	return report, nil
}

// SetStatus records a container's new status, as an engine event has it. A
// container that is not stored is left to the next check.
func (c *Checker) SetStatus(ctx context.Context, watcher, id, status string) error {
	leave, err := c.enter(ctx, watcher)
	if err != nil {
		return err
	}
	defer leave()
	return c.opt.Decisions.Commit(ctx, func(stored []sdk.Container) (change event.Change) {
		for _, have := range stored {
			if have.ID == id && have.Watcher == watcher && have.Status != status && status != "" {
				have.Status = status
				change.Put = append(change.Put, have)
				change.Events = append(change.Events, event.Event{
					Type: event.ContainerChanged, At: c.opt.Now(), Subject: event.Subject(have),
					Payload: event.Payload{Container: &have},
				})
			}
		}
		return change
	})
}
