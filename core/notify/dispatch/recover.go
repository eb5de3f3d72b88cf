package dispatch

import (
	"context"
	"fmt"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
)

// recover settles the deliveries that a crash interrupted.
func (d *deliverer) recover(ctx context.Context) error {
	d.beginning.Lock()
	defer d.beginning.Unlock()
	interrupted := map[string]bool{}
	n, err := d.opt.Store.Recover(ctx, func(cut delivery.Delivery) delivery.Outcome {
		outcome := d.outcomeOfInterrupted(cut)
		interrupted[cut.Trigger] = interrupted[cut.Trigger] || outcome.State != delivery.Sending
		return outcome
	})
	if err != nil {
		return fmt.Errorf("recover deliveries: %w", err)
	}
	for id, called := range interrupted {
		if called {
			d.retries.pauseForExit(id)
		}
	}
	if n > 0 {
		d.log.Info("recovered deliveries that were under way at the last stop", "deliveries", n)
	}
	return nil
}

// outcomeOfInterrupted decides about a delivery during whose call this process
// was killed. A trigger that cannot be used now may have been one that acts, and
// its calls must not be repeated. An interrupted call counts as an attempt: one
// that kills the process each time is given up like any other.
func (d *deliverer) outcomeOfInterrupted(cut delivery.Delivery) delivery.Outcome {
	if d.runs.has(cut.ID) {
		return delivery.Outcome{State: delivery.Sending}
	}
	switch t, known := d.opt.Triggers.Get(cut.Trigger); {
	case known && d.opt.operates(t) && cut.Attempts < maxAttempts: // which finds what it began
		return delivery.Outcome{
			State: delivery.Pending, Error: cut.Error, NextAt: d.opt.Now().Add(retryAfterExit(cut.Attempts)),
		}
	case cut.Manual: // its user may no longer want it
		return delivery.Outcome{
			State: delivery.Failed, Error: "outcome unknown: dogwatch stopped during the run, which is not repeated by itself",
		}
	case !known:
		return delivery.Outcome{
			State: delivery.Failed,
			Error: "outcome unknown: dogwatch stopped during the call, and the trigger cannot be used now",
		}
	case t.AtMostOnce:
		return delivery.Outcome{
			State: delivery.Failed, Error: "outcome unknown: dogwatch stopped during the call, which may not be repeated",
		}
	case cut.Attempts >= maxAttempts:
		return delivery.Outcome{
			State: delivery.Failed,
			Error: fmt.Sprintf("outcome unknown: dogwatch stopped during the call, the last of %d attempts", cut.Attempts),
		}
	}
	return delivery.Outcome{
		State: delivery.Pending, Error: "dogwatch stopped during the call",
		NextAt: d.opt.Now().Add(retryAfterExit(cut.Attempts)),
	}
}
