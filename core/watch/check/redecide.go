package check

import (
	"context"
	"fmt"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
)

// Redecide decides all known updates again, with the candidates of their last check and
// without any request, and stores the decisions that are others now. It is for when a
// choice or a rule has changed, or the time has come that a decision names.
func (c *Checker) Redecide(ctx context.Context) error {
	c.commitLock.Lock()
	defer c.commitLock.Unlock()
	return c.redecide(ctx)
}

// redecide is Redecide with commitLock held.
func (c *Checker) redecide(ctx context.Context) error {
	stored, err := c.opt.Store.Containers(ctx)
	if err != nil {
		return fmt.Errorf("read the stored containers: %w", err)
	}
	known, err := c.known(ctx)
	if err != nil {
		return err
	}
	earlier, err := c.alreadyNotified(ctx)
	if err != nil {
		return err
	}
	now := c.opt.Now()
	var change event.Change
	for _, before := range stored {
		found := known[event.Subject(before)]
		if !before.UpdateAvailable || len(found.Candidates) == 0 {
			continue // which the next check decides
		}
		after, found, again := withDecision(before, before, found, c.decide(&before, found, now), now)
		_ = link(&after, c.labelsOf(after, true)) // what is wrong with it is in the error of the container since its check
		if !update.Changed(&before, &after, 0) {
			continue
		}
		if err := c.remember(&change, event.Subject(after), found); err != nil {
			return err
		}
		change.Put = append(change.Put, after)
		if t, changed := transition(before, after); changed {
			if t == event.UpdateFound && (again || earlier.covers(after, nil)) {
				t = event.ContainerChanged
			}
			e := became(t, before, after)
			e.At = now
			change.Events = append(change.Events, e)
		}
	}
	if len(change.Put) == 0 {
		return nil
	}
	if err := c.commit(ctx, change); err != nil {
		return fmt.Errorf("store what was decided: %w", err)
	}
	for _, e := range change.Events {
		c.log.Info("an update was decided again", "container", e.Subject, "update", e.Container.Result.Tag, "state",
			e.Container.Decision.State)
		if e.Type == event.UpdateFound {
			c.addToBacklog(*e.Container)
		}
	}
	return nil
}
