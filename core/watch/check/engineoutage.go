package check

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
)

// outageAfter is how long an engine must have been away before there is an event about it:
// longer than a restart of most engines takes.
const outageAfter = 20 * time.Second

// Outage returns the outage of a watcher's engine, and false when the engine
// answered last time.
func (c *Checker) Outage(watcher string) (Outage, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.state(watcher).outage; o != nil {
		return *o, true
	}
	return Outage{}, false
}

// Probe lists the containers of a watcher and keeps nothing of the response but
// that there was one. The error says why there was none.
func (c *Checker) Probe(ctx context.Context, w Watcher) error {
	leave, err := c.enter(ctx, w.Name)
	if err != nil {
		return err
	}
	defer leave()
	_, err = w.Lister.List(ctx)
	c.reached(ctx, w.Name, err)
	return err
}

// reached notes whether the engine of a watcher answered, and stores an event when
// an outage has lasted or such a one has ended. The caller has entered the watcher.
func (c *Checker) reached(ctx context.Context, watcher string, err error) {
	if err != nil && ctx.Err() != nil {
		return // which says nothing about the engine
	}
	c.opt.Reached(watcher, err)
	now := c.opt.Now()
	c.mu.Lock()
	st := c.state(watcher)
	before := st.outage
	var after *Outage
	if err != nil {
		after = &Outage{Since: now, Error: err.Error()}
		if before != nil {
			after.Since, after.Reported = before.Since, before.Reported
		}
	}
	st.outage = after
	c.mu.Unlock()

	var e event.Event
	switch {
	case after == nil && before != nil && before.Reported:
		e = event.Event{Type: event.WatcherRecovered, Payload: event.Payload{Watcher: &event.Outage{Since: before.Since}}}
		c.log.Info("the engine can be reached again", "watcher", watcher, "since", before.Since.UTC().Format(time.RFC3339))
	case after != nil && !after.Reported && now.Sub(after.Since) >= outageAfter:
		e = event.Event{
			Type: event.WatcherFailed, Payload: event.Payload{Watcher: &event.Outage{Since: after.Since, Error: after.Error}},
		}
		c.log.Error("the engine cannot be reached", "watcher", watcher, "since", after.Since.UTC().Format(time.RFC3339),
			"error", after.Error)
	default:
		return
	}
	e.At, e.Subject = now, watcher
	stored := c.opt.Events.Commit(context.WithoutCancel(ctx), event.Change{Events: []event.Event{e}})
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case stored != nil: // the next response, or the next failure, tries again
		c.log.Error("record whether the engine can be reached", "watcher", watcher, "error", stored)
		if after == nil {
			st.outage = before
		}
	case after != nil:
		after.Reported = true
	}
}
