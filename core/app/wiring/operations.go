package wiring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Operations fits the updater to dispatch.Updates.
type Operations struct {
	Runner *updater.Runner
	Store  updater.Store
}

// Begin implements dispatch.Updates.
func (o Operations) Begin(ctx context.Context, u dispatch.Update) (operation.Operation, error) {
	op, err := o.Runner.Start(ctx, updater.Request{
		Container: u.Container, Kind: operation.Update, Rules: u.Rules, Configured: component.Updating(u.Trigger),
		Actor: u.Actor, Trigger: u.Trigger, IdempotencyKey: u.Delivery,
	})
	return op, beginError(u.Container, err)
}

// beginError gives an error of updater.Runner.Start the kind by which deliveries are
// tried again or left to users, and the name of the container.
func beginError(c sdk.Container, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, updater.ErrConflict), errors.Is(err, updater.ErrStopping):
		err = sdk.WithKind(sdk.ErrUnavailable, err)
	case leftToUsers(err):
		err = sdk.WithKind(dispatch.ErrByHand, err)
	}
	if name := c.Watcher + "/" + c.Name; !strings.Contains(err.Error(), name) {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// leftToUsers reports whether all that blocks an update is that the trigger is not
// for this container: a label lets only users update it, or it has no compose file.
func leftToUsers(err error) bool {
	var blocked *updater.BlockedError
	return errors.As(err, &blocked) && !slices.ContainsFunc(blocked.Plan.Blocks, func(r watcher.Reason) bool {
		return r.Code != updater.BlockManual && r.Code != watcher.BlockComposeAbsent
	})
}

// Started implements dispatch.Updates.
func (o Operations) Started(ctx context.Context, c sdk.Container, key string) ([]operation.Operation, error) {
	all, err := o.Store.Operations(ctx, operation.Filter{Watcher: c.Watcher, Name: c.Name})
	return slices.DeleteFunc(all, func(op operation.Operation) bool {
		return op.IdempotencyKey != key && !strings.HasPrefix(op.IdempotencyKey, key+".")
	}), err
}

// Wait implements dispatch.Updates.
func (o Operations) Wait(ctx context.Context, id string) (operation.Operation, error) {
	return o.Runner.Wait(ctx, id)
}

// Tried implements dispatch.Updates.
func (o Operations) Tried(ctx context.Context, c sdk.Container) (string, error) {
	trial, tried, err := o.Runner.Tried(ctx, update.KeyOf(&c))
	if err != nil || !tried {
		return "", err
	}
	how := "did not work before"
	if back := trial.Undone; back != nil {
		how = "was rolled back by " + cmp.Or(back.By, "a user") + " on " + back.At.UTC().Format("2006-01-02 15:04 UTC")
	}
	return fmt.Sprintf("%s/%s is not updated to %s by itself: that %s; update it by hand to try again", c.Watcher,
		c.Name, c.UpdateKind.RemoteValue, how), nil
}
