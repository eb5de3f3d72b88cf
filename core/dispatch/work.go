package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// work delivers what is due for one trigger, one at a time, until nothing is,
// the trigger asks for patience or ctx ends.
func (d *Dispatcher) work(ctx context.Context, t Trigger) {
	defer func() {
		d.mu.Lock()
		delete(d.busy, t.ID)
		d.mu.Unlock()
		d.Wake()
	}()
	for ctx.Err() == nil && !d.holds(t.ID) {
		owed, any, err := d.opt.Store.Claim(d.life, t.ID, d.opt.Now())
		if err != nil {
			d.log.Error("claim a delivery", "trigger", t.ID, "error", err)
			d.hold(t.ID, storePause)
			return
		}
		if !any {
			return
		}
		d.record(ctx, t, owed, d.attempt(d.life, t, owed))
	}
}

// hold leaves a trigger alone for a while.
func (d *Dispatcher) hold(id string, pause time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held[id] = d.opt.Now().Add(pause)
}

func (d *Dispatcher) holds(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opt.Now().Before(d.held[id])
}

// record stores the outcome of an attempt, even when the call was cancelled.
// While the store cannot be written it tries again, because nobody else knows
// the outcome; what is not stored when ctx ends is decided at the next start.
func (d *Dispatcher) record(ctx context.Context, t Trigger, owed delivery.Delivery, outcome delivery.Outcome) {
	told := d.note(t, owed, outcome)
	for {
		err := d.opt.Store.Finish(context.WithoutCancel(ctx), owed.ID, outcome, told...)
		if err == nil {
			return
		}
		d.log.Error("record the outcome of a delivery", "trigger", t.ID, "delivery", owed.ID, "state", outcome.State, "error", err)
		timer := time.NewTimer(storePause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// attempt delivers once and says what follows from how it went.
func (d *Dispatcher) attempt(ctx context.Context, t Trigger, owed delivery.Delivery) delivery.Outcome {
	if about, err := eventOf(owed); about != nil {
		return d.attemptEvent(ctx, t, owed, about, err)
	}
	var planned []sdk.Container
	if err := json.Unmarshal(owed.Payload, &planned); err != nil {
		return delivery.Outcome{State: delivery.Failed, Error: fmt.Sprintf("read what was to be sent: %v", err)}
	}
	containers := d.current(planned)
	switch {
	case len(containers) == 0:
		return delivery.Outcome{State: delivery.Skipped, Error: "the update is no longer available"}
	case d.outdated(t, owed):
		return delivery.Outcome{State: delivery.Skipped, Error: "a later check tells the same again"}
	case ctx.Err() != nil:
		return delivery.Outcome{State: delivery.Pending, Error: "dogwatch stopped before the call"}
	}
	return d.judge(ctx, t, owed, d.run(ctx, t, trigger.Request{Delivery: idempotencyKey(owed), Containers: containers, Batch: owed.Batch}))
}

// attemptEvent is attempt for what tells of an event; wrong is why it cannot be read.
func (d *Dispatcher) attemptEvent(ctx context.Context, t Trigger, owed delivery.Delivery, about *trigger.Event, wrong error) delivery.Outcome {
	switch {
	case wrong != nil:
		return delivery.Outcome{State: delivery.Failed, Error: fmt.Sprintf("read what was to be sent: %v", wrong)}
	case ctx.Err() != nil:
		return delivery.Outcome{State: delivery.Pending, Error: "dogwatch stopped before the call"}
	}
	about.Error = d.opt.Redact(about.Error)
	req := trigger.Request{Delivery: idempotencyKey(owed), Event: about, Batch: true}
	req.Title, req.Body = eventMessage(*about)
	return d.judge(ctx, t, owed, t.Runner.Run(ctx, req))
}

// idempotencyKey is what receivers tell deliveries apart by. It is the same for
// each attempt, in whatever process, and for no other delivery: not of this
// store, nor of one that counts from 1 again, nor of another installation that
// notifies the same receiver. A delivery that is planned anew gets a new one.
func idempotencyKey(d delivery.Delivery) string {
	return hash(d.Trigger, d.Subject, d.Fingerprint, fmt.Sprint(d.ID), fmt.Sprint(d.Event), fmt.Sprint(d.CreatedAt.UnixMilli()))
}

// judge says what follows from an error of a trigger, or from nil.
func (d *Dispatcher) judge(ctx context.Context, t Trigger, owed delivery.Delivery, err error) delivery.Outcome {
	var limited *sdk.RateLimitedError
	if errors.As(err, &limited) {
		d.hold(t.ID, retryAfter(1, err)) // what else is due for it would be refused as well
	}
	stopped := ctx.Err() != nil
	switch {
	case err == nil:
		return delivery.Outcome{State: delivery.Sent}
	case t.AtMostOnce && !d.opt.NotStarted(err):
		if stopped || unknown(err) {
			err = fmt.Errorf("outcome unknown, not repeated: %w", err)
		}
		return delivery.Outcome{State: delivery.Failed, Error: err.Error()}
	case stopped: // which says nothing about the trigger: due at the next start
		return delivery.Outcome{State: delivery.Pending, Error: err.Error()}
	case (sdk.Retryable(err) || unknown(err)) && owed.Attempts < maxAttempts:
		return delivery.Outcome{State: delivery.Pending, Error: err.Error(), NextAt: d.opt.Now().Add(d.pause(owed.Attempts, err))}
	}
	return delivery.Outcome{State: delivery.Failed, Error: err.Error()}
}

// unknown reports whether an error leaves open if the call had an effect.
func unknown(err error) bool {
	return errors.Is(err, sdk.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// current drops the containers that have moved on since the delivery was
// planned. A container stays itself when it is renamed or recreated.
func (d *Dispatcher) current(planned []sdk.Container) []sdk.Container {
	var still []sdk.Container
	for _, c := range planned {
		now, known := d.opt.Containers.ByID(c.ID)
		if !known {
			now, known = d.opt.Containers.ByName(c.Watcher, c.Name)
		}
		if known && update.Equal(&now, &c) {
			still = append(still, now)
		}
	}
	return still
}

// outdated reports whether a reminder was held up until a later one was owed.
func (d *Dispatcher) outdated(t Trigger, owed delivery.Delivery) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !t.Once && d.reminded[reminder{t.ID, owed.Subject}] > owed.Event
}

// run renders the messages and calls the trigger.
func (d *Dispatcher) run(ctx context.Context, t Trigger, req trigger.Request) error {
	var err error
	req.Title, req.Body, err = t.Messages.render(req.Containers, req.Batch)
	if err != nil {
		// A message with a gap is better than none.
		d.log.Warn("render a template", "trigger", t.ID, "error", err)
	}
	d.opt.Lend(ctx, t.ID, &req)
	return t.Runner.Run(ctx, req)
}

// note returns the event of an outcome and logs it.
func (d *Dispatcher) note(t Trigger, owed delivery.Delivery, outcome delivery.Outcome) []event.Event {
	log := d.log.With("trigger", t.ID, "delivery", owed.ID, "subject", owed.Subject)
	kind := event.TriggerSent
	switch outcome.State {
	case delivery.Sent:
		log.Info("delivered")
	case delivery.Pending:
		log.Warn("delivery will be tried again", "attempts", owed.Attempts, "at", sdk.TimeOf(outcome.NextAt), "error", outcome.Error)
		return nil
	case delivery.Failed:
		kind = event.TriggerFailed
		log.Error("delivery given up", "attempts", owed.Attempts, "error", outcome.Error)
	case delivery.Skipped:
		kind = event.TriggerSkipped
		log.Info("delivery skipped", "reason", outcome.Error)
	}
	return []event.Event{{At: d.opt.Now(), Type: kind, Subject: t.ID, Run: owed.Run, Payload: event.Payload{
		Delivery: &event.Delivery{ID: owed.ID, Trigger: t.ID, Attempts: owed.Attempts, Error: outcome.Error}}}}
}
