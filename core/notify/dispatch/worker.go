package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// work delivers what is due for one trigger, one at a time, until nothing is,
// the trigger is paused or ctx ends.
func (d *Dispatcher) work(ctx context.Context, t Trigger) {
	defer func() {
		d.mu.Lock()
		delete(d.busy, t.ID)
		d.mu.Unlock()
		d.Wake()
	}()
	for ctx.Err() == nil && !d.paused(t.ID) {
		// It may be configured otherwise by now, or not at all.
		t, known := d.opt.Triggers.Get(t.ID)
		if !known {
			return
		}
		due, any, err := d.opt.Store.Claim(d.life, t.ID, d.opt.Now())
		if err != nil {
			d.log.Error("claim a delivery", "trigger", t.ID, "error", err)
			d.pause(t.ID, storePause)
			return
		}
		if !any {
			return
		}
		run := d.runs.begin(due)
		outcome, found := d.attempt(d.life, t, due, run)
		if found == nil {
			run.end()
			d.record(ctx, t, due, outcome)
			continue
		}
		d.workers.Go(func() { // what else is due for the trigger does not wait for updates
			outcome := d.awaited(d.life, t, due, found)
			run.end()
			d.record(ctx, t, due, outcome)
			d.Wake()
		})
	}
}

// pause keeps a trigger from being called for a while.
func (d *Dispatcher) pause(id string, pause time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pausedUntil[id] = d.opt.Now().Add(pause)
}

func (d *Dispatcher) paused(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opt.Now().Before(d.pausedUntil[id])
}

// record stores the outcome of an attempt, even when the call was cancelled.
// While the store cannot be written it tries again, because the outcome is known
// here only; what is not stored when ctx ends is decided at the next start.
func (d *Dispatcher) record(ctx context.Context, t Trigger, ended delivery.Delivery, outcome delivery.Outcome) {
	retryStore(ctx, d.recorder(t, ended, outcome))
}

// recorder logs an outcome and returns what stores it, and reports whether it could.
func (d *Dispatcher) recorder(t Trigger, ended delivery.Delivery, outcome delivery.Outcome) func() bool {
	outcome.Error = d.opt.Redact(outcome.Error) // a service may repeat the message, and the links in it
	events := d.logOutcome(t, ended, outcome)
	return func() bool {
		err := d.opt.Store.Finish(context.WithoutCancel(d.life), ended.ID, outcome, events...)
		if err != nil {
			d.log.Error("record the outcome of a delivery", "trigger", t.ID, "delivery", ended.ID, "state",
				outcome.State, "error", err)
		}
		return err == nil
	}
}

// retryStore calls write until it reports success or ctx ends.
func retryStore(ctx context.Context, write func() bool) {
	for !write() {
		timer := time.NewTimer(storePause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// attempt calls the trigger for a delivery, and returns what follows from how it went,
// or the updates on which that depends.
func (d *Dispatcher) attempt(
	ctx context.Context, t Trigger, due delivery.Delivery, run *run,
) (delivery.Outcome, *updates) {
	if about, err := eventOf(due); about != nil {
		return d.attemptEvent(ctx, t, due, run, about, err), nil
	}
	var planned []sdk.Container
	if err := json.Unmarshal(due.Payload, &planned); err != nil {
		return delivery.Outcome{State: delivery.Failed, Error: fmt.Sprintf("read what was to be sent: %v", err)}, nil
	}
	if d.operates(t) {
		return d.attemptUpdates(ctx, t, due, run, planned)
	}
	containers := d.current(t, due, planned)
	if outcome, known := d.unsendable(ctx, t, due, containers); known {
		return outcome, nil
	}
	return d.outcome(ctx, t, due,
		d.run(ctx, t, run, trigger.Request{Delivery: idempotencyKey(due), Containers: containers, Batch: due.Batch})), nil
}

// unsendable returns the outcome of a delivery for which the trigger is not called now.
func (d *Dispatcher) unsendable(
	ctx context.Context, t Trigger, due delivery.Delivery, containers []sdk.Container,
) (outcome delivery.Outcome, known bool) {
	switch {
	case len(containers) == 0:
		return delivery.Outcome{State: delivery.Skipped, Error: "the update is no longer available"}, true
	case d.superseded(t, due):
		return delivery.Outcome{State: delivery.Skipped, Error: "a later check tells the same again"}, true
	case ctx.Err() != nil:
		return delivery.Outcome{State: delivery.Pending, Error: "dogwatch stopped before the call"}, true
	}
	return delivery.Outcome{}, false
}

// operates reports whether a trigger has containers updated. Running it again is safe,
// as an update is begun once for each delivery.
func (d *Dispatcher) operates(t Trigger) bool { return t.Operates && d.opt.Updates != nil }

// outcome returns what follows from an error of a trigger, or from nil.
func (d *Dispatcher) outcome(ctx context.Context, t Trigger, ended delivery.Delivery, err error) delivery.Outcome {
	var limited *sdk.RateLimitedError
	if errors.As(err, &limited) {
		d.pause(t.ID, retryAfter(1, err)) // the rate limit is for what else is due for it, too
	}
	if d.opt.Exited(err) {
		d.pauseForExit(t.ID)
	}
	stopped := ctx.Err() != nil
	switch {
	case err == nil:
		return delivery.Outcome{State: delivery.Sent}
	case t.AtMostOnce && !d.operates(t) && !d.opt.NotStarted(err):
		if stopped || unknown(err) {
			err = fmt.Errorf("outcome unknown, not repeated: %w", err)
		}
		return delivery.Outcome{State: delivery.Failed, Error: err.Error()}
	case stopped: // which says nothing about the trigger: due at the next start
		return delivery.Outcome{State: delivery.Pending, Error: err.Error()}
	case (sdk.Retryable(err) || unknown(err)) && ended.Attempts < maxAttempts:
		return delivery.Outcome{
			State: delivery.Pending, Error: err.Error(), NextAt: d.opt.Now().Add(d.pauseAfter(ended.Attempts, err)),
		}
	}
	return delivery.Outcome{State: delivery.Failed, Error: err.Error()}
}

// unknown reports whether an error leaves open if the call had an effect.
func unknown(err error) bool {
	return errors.Is(err, sdk.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled)
}

// current drops the containers whose update is another one since the delivery was
// planned, or held. A container stays itself when it is renamed or recreated.
func (d *Dispatcher) current(t Trigger, due delivery.Delivery, planned []sdk.Container) []sdk.Container {
	var still []sdk.Container
	for _, c := range planned {
		now, known := d.opt.Containers.ByID(c.ID)
		if !known {
			now, known = d.opt.Containers.ByName(c.Watcher, c.Name)
		}
		if !known {
			continue
		}
		if !due.Manual { // users run triggers whatever is decided, and whatever the thresholds
			if now, known = offeredTo(t, now); !known {
				continue
			}
		}
		if update.Equal(&now, &c) {
			still = append(still, now)
		}
	}
	return still
}

// superseded reports whether a later reminder was planned while this one waited.
func (d *Dispatcher) superseded(t Trigger, due delivery.Delivery) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !t.Once && !due.Manual && d.reminded[reminder{t.ID, due.Subject}] > due.Event
}

// run attaches the grants of a trigger to a request, and the links of its readers, and sends it.
func (d *Dispatcher) run(ctx context.Context, t Trigger, run *run, req trigger.Request) error {
	if d.opt.Grants != nil {
		d.opt.Grants.Attach(ctx, t.ID, &req)
	}
	if !t.Operates { // which has no reader
		attachLinks(t.ID, &req, d.opt.Links)
	}
	t.Messages.notes = d.notes(ctx, t.Messages, req.Containers)
	return send(ctx, t, req.WithReport(run.report), d.log)
}

// attachLinks completes a request with what its readers can decide. Links are made for
// each attempt anew, since they are stored nowhere.
func attachLinks(id string, req *trigger.Request, links Links) {
	if links == nil {
		return
	}
	for i := range req.Containers {
		if req.Test {
			req.Actions = append(req.Actions, links.Sample(&req.Containers[i])...)
		} else {
			req.Actions = append(req.Actions, links.For(id, &req.Containers[i])...)
		}
	}
}

// send renders the messages and calls the trigger.
func send(ctx context.Context, t Trigger, req trigger.Request, log hclog.Logger) error {
	var err error
	req.Title, req.Body, err = t.Messages.render(req.Containers, req.Batch, req.Actions...)
	if err != nil {
		// A message with a gap is better than none.
		log.Warn("render a template", "trigger", t.ID, "error", err)
	}
	return t.Runner.Run(ctx, req)
}

// logOutcome logs an outcome and returns the events of it.
func (d *Dispatcher) logOutcome(t Trigger, ended delivery.Delivery, outcome delivery.Outcome) []event.Event {
	log := d.log.With("trigger", t.ID, "delivery", ended.ID, "subject", ended.Subject)
	kind := event.TriggerSent
	switch outcome.State {
	case delivery.Sent:
		log.Info("delivered")
	case delivery.Pending:
		log.Warn("delivery will be tried again", "attempts", ended.Attempts, "at", sdk.TimeOf(outcome.NextAt), "error",
			outcome.Error)
		return nil
	case delivery.Failed:
		kind = event.TriggerFailed
		log.Error("delivery given up", "attempts", ended.Attempts, "error", outcome.Error)
	case delivery.Skipped:
		kind = event.TriggerSkipped
		log.Info("delivery skipped", "reason", outcome.Error)
	}
	return []event.Event{{At: d.opt.Now(), Type: kind, Subject: t.ID, Run: ended.Run, Payload: event.Payload{
		Delivery: &event.Delivery{
			ID: ended.ID, Trigger: t.ID, Manual: ended.Manual, Attempts: ended.Attempts, Error: outcome.Error,
		}}}}
}
