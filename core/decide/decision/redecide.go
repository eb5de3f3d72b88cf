package decision

import (
	"context"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/internal/backoff"
)

// Redecide decides all known updates again, with the candidates of their last check and
// without any request, and stores the decisions that are others now. It is for when a
// choice or a rule has changed, or the time has come that a decision names.
func (d *Decisions) Redecide(ctx context.Context) error {
	d.commitLock.Lock()
	defer d.commitLock.Unlock()
	stored, known, err := d.read(ctx)
	if err != nil {
		return err
	}
	earlier, err := d.Notified(ctx)
	if err != nil {
		return err
	}
	now := d.opt.Now()
	var change event.Change
	for _, before := range stored {
		subject := event.Subject(before)
		if !before.UpdateAvailable || len(known[subject].Candidates) == 0 {
			continue // which the next check decides
		}
		after := before
		found, offeredBefore := d.judge(&before, &after, known[subject], now)
		if d.opt.WriteReleaseLinks != nil {
			_ = d.opt.WriteReleaseLinks(&after) // what is wrong with it is in the error of the container since its check
		}
		if !update.Changed(&before, &after, 0) {
			continue
		}
		if err := d.remember(&change, subject, found); err != nil {
			return err
		}
		change.Put = append(change.Put, after)
		record(&change, &before, &after, offeredBefore || earlier.covers(&after, nil))
	}
	if len(change.Put) == 0 {
		return nil
	}
	for i := range change.Events {
		change.Events[i].At = now
	}
	if err := d.commit(ctx, change); err != nil {
		return fmt.Errorf("store what was decided: %w", err)
	}
	for _, e := range change.Events {
		d.log.Info("an update was decided again", "container", e.Subject, "update", e.Container.Result.Tag, "state",
			e.Container.Decision.State)
		if e.Type == event.UpdateFound {
			d.addToBacklog(*e.Container)
		}
	}
	return nil
}

// catchUpPause is the wait after the store could not be read or written.
const catchUpPause = 10 * time.Second

// CatchUp redecides until that works out: rules, choices and windows may be others than when the program stopped. The
// error is that of ctx.
func (d *Decisions) CatchUp(ctx context.Context) error {
	for {
		err := d.Redecide(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			d.log.Error("decide again what becomes of updates", "error", err)
		}
		if err := backoff.Wait(ctx, catchUpPause); err != nil {
			return err
		}
	}
}

// RedecideSoon redecides as a choice or a rule has changed, which is stored: if that fails now, Run tries until it
// works out.
func (d *Decisions) RedecideSoon(ctx context.Context) {
	if err := d.Redecide(ctx); err != nil {
		d.log.Error("a choice is stored, and decided about later", "error", err)
		d.Wake()
	}
}
