package dispatch

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/hashicorp/go-hclog"
)

// storePause is the wait after the store refused something.
const storePause = 10 * time.Second

// recorder stores how deliveries ended.
type recorder struct {
	opt Options
	log hclog.Logger
	// life is the context of calls; records outlive it.
	life context.Context
}

// record stores the outcome of an attempt to send the message of a title, even when the call was cancelled.
// While the store cannot be written it tries again, because the outcome is known
// here only; what is not stored when ctx ends is decided at the next start.
func (r *recorder) record(
	ctx context.Context, t Trigger, ended delivery.Delivery, title string, outcome delivery.Outcome,
) {
	retryStore(ctx, r.writer(t, ended, title, outcome))
}

// writer logs an outcome and returns what stores it, and reports whether it could.
func (r *recorder) writer(t Trigger, ended delivery.Delivery, title string, outcome delivery.Outcome) func() bool {
	outcome.Error = r.opt.Redact(outcome.Error) // a service may repeat the message, and the links in it
	outcome.Title = title
	events := r.logOutcome(t, ended, title, outcome)
	return func() bool {
		err := r.opt.Store.Finish(context.WithoutCancel(r.life), ended.ID, outcome, events...)
		if err != nil {
			r.log.Error("record the outcome of a delivery", "trigger", t.ID, "delivery", ended.ID, "state",
				outcome.State, "error", err)
		}
		return err == nil
	}
}

// retryStore calls write until it reports success or ctx ends.
func retryStore(ctx context.Context, write func() bool) {
	for !write() {
		if backoff.Wait(ctx, storePause) != nil {
			return
		}
	}
}

// logOutcome logs an outcome and returns the events of it.
func (r *recorder) logOutcome(
	t Trigger, ended delivery.Delivery, title string, outcome delivery.Outcome,
) []event.Event {
	log := r.log.With("trigger", t.ID, "delivery", ended.ID, "subject", ended.Subject)
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
	return []event.Event{{At: r.opt.Now(), Type: kind, Subject: t.ID, Run: ended.Run, Payload: event.Payload{
		Delivery: &event.Delivery{
			ID: ended.ID, Trigger: t.ID, Manual: ended.Manual, Title: title, Attempts: ended.Attempts, Error: outcome.Error,
		}}}}
}
