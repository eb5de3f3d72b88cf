package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/internal/detach"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// ManualRun is how a user runs a trigger.
type ManualRun struct {
	// Test marks the run as a test, as with a container that is made up.
	Test bool
	// Actor is the user or token, or the trigger for which a user acts.
	Actor string
}

// RunNow runs a trigger for containers at the request of a user: no threshold,
// no include or exclude, no deduplication. The run is a delivery that is recorded
// before it begins, so that a crash leaves a trace of it. RunNow returns when the
// trigger has ended, or when ctx ends; the call goes on then, as half of it may be
// done. An unknown id is an sdk.ErrNotFound.
//
// A trigger that has containers updated takes only those that are stored, and RunNow
// returns when their updates have ended.
func (d *Dispatcher) RunNow(ctx context.Context, id string, containers []sdk.Container, how ManualRun) error {
	t, known := d.opt.Triggers.Get(id)
	if !known {
		return fmt.Errorf("trigger %s: %w", id, sdk.ErrNotFound)
	}
	if d.opt.operates(t) {
		var err error
		if containers, err = d.deliverer.updater.stored(t.ID, containers); err != nil {
			return err
		}
		how.Test = false
	}
	err := d.manual.Run(ctx, func() error { return d.runManually(t, containers, how) })
	if errors.Is(err, detach.ErrStopping) {
		return sdk.WithKind(sdk.ErrUnavailable, err)
	}
	return err
}

// runManually records a run, runs it and records its outcome.
func (d *Dispatcher) runManually(t Trigger, containers []sdk.Container, how ManualRun) error {
	recorded, run, err := d.beginManually(t, containers)
	if err != nil {
		return fmt.Errorf("trigger %s was not run: %w", t.ID, err)
	}
	req := trigger.Request{Delivery: idempotencyKey(recorded), Containers: containers, Test: how.Test}
	if d.opt.operates(t) {
		var found updates
		if err = d.deliverer.updater.operate(d.deliverer.life, t, recorded, how.Actor, run, req, &found); err == nil {
			err = d.deliverer.updater.await(recorded, &found)
		}
	} else {
		err = d.deliverer.sender.run(d.deliverer.life, t, run, req)
	}
	outcome := delivery.Outcome{State: delivery.Sent}
	switch {
	case errors.Is(err, errStopping):
		outcome = delivery.Outcome{State: delivery.Pending, Error: err.Error()}
	case err != nil:
		outcome = delivery.Outcome{State: delivery.Failed, Error: err.Error()}
	}
	if record := d.deliverer.recorder.writer(t, recorded, run.sent(), outcome); record() {
		run.end()
	} else {
		d.deliverer.workers.Go(func() { // the caller need not wait for that
			defer run.end()
			retryStore(d.deliverer.life, record)
		})
	}
	return err
}

// beginManually records a run, as one under way in this process.
func (d *Dispatcher) beginManually(t Trigger, containers []sdk.Container) (delivery.Delivery, *run, error) {
	d.deliverer.beginning.Lock()
	defer d.deliverer.beginning.Unlock()
	recorded := newDelivery(t, event.Event{}, subjectOf(containers), delivery.NewManualFingerprint(), containers...)
	recorded.Batch = false
	recorded, err := d.opt.Store.Begin(context.WithoutCancel(d.deliverer.life), recorded)
	if err != nil {
		return recorded, nil, err
	}
	return recorded, d.deliverer.runs.begin(recorded), nil
}

// subjectOf returns the subject of a manual run.
func subjectOf(containers []sdk.Container) string {
	if len(containers) != 1 {
		return "manual"
	}
	return event.Subject(containers[0])
}
