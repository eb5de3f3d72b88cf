package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/core/detach"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// RunNow runs a trigger for containers at the request of a user: no threshold,
// no include or exclude, no deduplication. It returns when the trigger has ended,
// or when ctx ends; the call goes on then, as half of it may be done. An unknown
// id is an sdk.ErrNotFound.
func (d *Dispatcher) RunNow(ctx context.Context, id string, containers []sdk.Container, test bool) error {
	t, known := d.opt.Triggers.Get(id)
	if !known {
		return fmt.Errorf("trigger %s: %w", id, sdk.ErrNotFound)
	}
	err := d.manual.Run(ctx, func() error {
		return d.runManually(t, trigger.Request{
			Delivery: fmt.Sprintf("manual-%d", d.opt.Now().UnixNano()), Containers: containers, Test: test,
		})
	})
	if errors.Is(err, detach.ErrStopping) {
		return sdk.WithKind(sdk.ErrUnavailable, err)
	}
	return err
}

// runManually runs a trigger and records that it ran.
func (d *Dispatcher) runManually(t Trigger, req trigger.Request) error {
	err := d.run(d.life, t, req)
	e := event.Event{At: d.opt.Now(), Type: event.TriggerSent, Subject: t.ID, Payload: event.Payload{Delivery: &event.Delivery{Trigger: t.ID, Attempts: 1}}}
	if err != nil {
		e.Type, e.Delivery.Error = event.TriggerFailed, err.Error()
	}
	if err := d.opt.Store.Commit(context.WithoutCancel(d.life), event.Change{Events: []event.Event{e}}); err != nil {
		d.log.Error("record a run of a trigger", "trigger", t.ID, "error", err)
	}
	return err
}
