// Package check runs one pass over a watcher's containers: list them, read
// their labels, have registryquery ask about their images, hand the answers
// over to decision, and report what was found.
package check

import (
	"context"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/sdk"
)

// Run checks every container of a watcher and returns how it went. An error
// means that the engine could not be reached, that the store could not be written
// or that ctx ended; what was stored until then holds, and the updates among it
// are reported by the next check. A registry that fails marks its containers only.
func (c *Checker) Run(ctx context.Context, w Watcher) (event.Check, error) {
	return c.join(ctx, w, 0, func(*run) bool { return true })
}

// Scheduled is Run for a check that nobody asked for: what registries have just said to the check of another engine
// need not be asked again.
func (c *Checker) Scheduled(ctx context.Context, w Watcher) (event.Check, error) {
	return c.join(ctx, w, registryquery.ShareTime, func(*run) bool { return true })
}

// Fresh is Scheduled for those who know of a change: a run that is listing the
// containers already may not see it, so another one follows.
func (c *Checker) Fresh(ctx context.Context, w Watcher) (event.Check, error) {
	return c.join(ctx, w, registryquery.ShareTime, func(r *run) bool { return !r.listing })
}

// join waits for the run under way if it will do, and else for one of its own.
func (c *Checker) join(
	ctx context.Context, w Watcher, tolerance time.Duration, will func(*run) bool,
) (event.Check, error) {
	for waited := false; ; waited = true {
		c.mu.Lock()
		st := c.state(w.Name)
		r := st.running
		do := r == nil || waited || will(r) // what began after the call will do
		if r == nil {
			r = &run{done: make(chan struct{}), tolerance: tolerance}
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
	r.report, r.err = c.run(ctx, w, nil, r.tolerance)
}

// One lists the watcher's containers, as Run does, but sends requests to registries about
// one container only. It returns ErrNotListed when the engine has it no more.
func (c *Checker) One(ctx context.Context, w Watcher, id string) error {
	return c.Some(ctx, w, []string{id})
}

// Some is One for several containers. It returns ErrNotListed when the engine has none of them any more.
func (c *Checker) Some(ctx context.Context, w Watcher, ids []string) error {
	report, err := c.run(ctx, w, ids, 0)
	if err == nil && report.Containers == 0 {
		return ErrNotListed
	}
	return err
}

// runID returns an id that no other run has.
func (c *Checker) runID(watcher string, began time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastRun = max(c.lastRun+1, began.UnixMilli())
	return fmt.Sprintf("%s-%d", watcher, c.lastRun)
}

// run makes one pass over a watcher's containers and records it.
func (c *Checker) run(
	ctx context.Context, w Watcher, only []string, tolerance time.Duration,
) (event.Check, error) {
	report := event.Check{Watcher: w.Name, Single: len(only) > 0}
	leave, err := c.enter(ctx, w.Name)
	if err != nil {
		return report, fmt.Errorf("check %s: %w", w.Name, err)
	}
	defer leave()
	p := pass{Checker: c, watcher: w, only: only, tolerance: tolerance, began: c.opt.Now(), report: &report}
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

func (p *pass) run(ctx context.Context) error {
	if err := p.opt.Events.Commit(ctx, event.Change{Events: []event.Event{p.runEvent(event.CheckStarted)}}); err != nil {
		return fmt.Errorf("record its start: %w", err)
	}
	p.startListing()
	listed, err := p.watcher.Lister.List(ctx)
	p.reached(ctx, p.watcher.Name, err)
	if err != nil {
		return err
	}
	p.rememberBroken(listed)
	if p.targets, err = p.reconcile(ctx, listed); err != nil {
		return err
	}
	if p.notified, err = p.opt.Decisions.Notified(ctx); err != nil {
		return err
	}
	return p.gather(ctx)
}
