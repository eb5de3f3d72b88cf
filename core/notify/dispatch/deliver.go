package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/hashicorp/go-hclog"
)

// deliverer calls triggers for what is due: one worker at a time for each.
type deliverer struct {
	opt Options
	log hclog.Logger
	// life ends some time after the context of Run, so that calls under way can end.
	life    context.Context
	workers sync.WaitGroup
	// wake makes Run look for work.
	wake func()

	runs     runs
	filter   filter
	sender   sender
	updater  updater
	retries  retries
	recorder recorder

	// beginning is held while a manual run is recorded, so that a recovery takes
	// it for one under way.
	beginning sync.Mutex

	mu   sync.Mutex
	busy map[string]bool // triggers that have a worker
}

// due returns how long it is until something is due for a trigger without a
// worker. If it is due now, the trigger counts as busy from here on.
func (d *deliverer) due(ctx context.Context, id string) (in time.Duration, any bool, err error) {
	d.mu.Lock()
	busy := d.busy[id]
	d.mu.Unlock()
	if busy {
		return 0, false, nil // its worker looks for more by itself
	}
	next, any, err := d.opt.Store.NextDue(ctx, id)
	if err != nil || !any {
		return 0, false, err
	}
	if paused := d.retries.until(id); paused.After(next) {
		next = paused
	}
	if in = next.Sub(d.opt.Now()); in > 0 {
		return in, true, nil
	}
	d.mu.Lock()
	d.busy[id] = true
	d.mu.Unlock()
	return 0, true, nil
}

// work delivers what is due for one trigger, one at a time, until nothing is,
// the trigger is paused or ctx ends.
func (d *deliverer) work(ctx context.Context, t Trigger) {
	defer func() {
		d.mu.Lock()
		delete(d.busy, t.ID)
		d.mu.Unlock()
		d.wake()
	}()
	for ctx.Err() == nil && !d.retries.paused(t.ID) {
		// It may be configured otherwise by now, or not at all.
		t, known := d.opt.Triggers.Get(t.ID)
		if !known {
			return
		}
		due, any, err := d.opt.Store.Claim(d.life, t.ID, d.opt.Now())
		if err != nil {
			d.log.Error("claim a delivery", "trigger", t.ID, "error", err)
			d.retries.pause(t.ID, storePause)
			return
		}
		if !any {
			return
		}
		run := d.runs.begin(due)
		outcome, found := d.attempt(d.life, t, due, run)
		if found == nil {
			run.end()
			d.recorder.record(ctx, t, due, run.sent(), outcome)
			continue
		}
		d.workers.Go(func() { // what else is due for the trigger does not wait for updates
			outcome := d.updater.awaited(d.life, t, due, found)
			run.end()
			d.recorder.record(ctx, t, due, run.sent(), outcome)
			d.wake()
		})
	}
}

// attempt calls the trigger for a delivery, and returns what follows from how it went,
// or the updates on which that depends.
func (d *deliverer) attempt(
	ctx context.Context, t Trigger, due delivery.Delivery, run *run,
) (delivery.Outcome, *updates) {
	if about, err := eventOf(due); about != nil {
		return d.attemptEvent(ctx, t, due, run, about, err), nil
	}
	var planned []sdk.Container
	if err := json.Unmarshal(due.Payload, &planned); err != nil {
		return delivery.Outcome{State: delivery.Failed, Error: fmt.Sprintf("read what was to be sent: %v", err)}, nil
	}
	if d.opt.operates(t) {
		return d.updater.attempt(ctx, t, due, run, planned)
	}
	containers := d.filter.current(t, due, planned)
	if outcome, known := d.filter.unsendable(ctx, t, due, planned, containers); known {
		return outcome, nil
	}
	req := trigger.Request{Delivery: idempotencyKey(due), Containers: containers, Batch: due.Batch}
	return d.retries.outcome(ctx, t, due, d.sender.run(ctx, t, run, req)), nil
}

// attemptEvent is attempt for a message about an event; wrong is why its payload cannot be read.
func (d *deliverer) attemptEvent(
	ctx context.Context, t Trigger, due delivery.Delivery, run *run, about *trigger.Event, wrong error,
) delivery.Outcome {
	switch {
	case wrong != nil:
		return delivery.Outcome{State: delivery.Failed, Error: fmt.Sprintf("read what was to be sent: %v", wrong)}
	case ctx.Err() != nil:
		return delivery.Outcome{State: delivery.Pending, Error: "dogwatch stopped before the call"}
	}
	about.Error, about.Log = d.opt.Redact(about.Error), d.opt.Redact(about.Log)
	req := trigger.Request{Delivery: idempotencyKey(due), Event: about, Batch: true}
	req.Title, req.Body = eventMessage(*about)
	if about.Type == trigger.SummaryDue {
		var p summaryPayload
		if err := json.Unmarshal(due.Payload, &p); err != nil {
			return delivery.Outcome{State: delivery.Failed, Error: fmt.Sprintf("read what was to be sent: %v", err)}
		}
		req.Title, req.Body = d.opt.Redact(p.Title), d.opt.Redact(p.Body)
	}
	run.sends(req.Title)
	return d.retries.outcome(ctx, t, due, t.Runner.Run(ctx, req.WithReport(run.report)))
}
