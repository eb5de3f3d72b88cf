package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// updater has containers updated for triggers, and waits for that.
type updater struct {
	opt Options
	// waits ends when a shutdown begins, which does not wait for updates: deliveries
	// find theirs again at the next start.
	waits   context.Context
	filter  *filter
	sender  *sender
	retries *retries
}

// updates are the operations of one delivery.
type updates struct {
	started []operation.Operation
	errs    []error // why others were not begun
}

// errStopping is why the result of an update is not known yet. The operation goes on, or is
// recovered, and the delivery finds it at the next start.
var errStopping = sdk.WithKind(sdk.ErrUnavailable,
	errors.New("dogwatch stops while the update is under way; what becomes of it is recorded after the next start"))

// attempt calls a trigger that has containers updated. The outcome is that of the updates, for which the caller
// must await; they are nil when it is known.
func (u *updater) attempt(
	ctx context.Context, t Trigger, due delivery.Delivery, run *run, planned []sdk.Container,
) (delivery.Outcome, *updates) {
	found := &updates{}
	if due.Attempts > 1 {
		var err error
		if planned, err = u.resume(ctx, due, planned, found); err != nil {
			return u.retries.outcome(ctx, t, due, sdk.WithKind(sdk.ErrUnavailable, err)), nil
		}
	}
	containers := u.filter.current(t, due, planned)
	switch {
	case len(found.started) > 0 && (len(containers) == 0 || due.Manual):
		return delivery.Outcome{}, found
	case due.Manual && due.Attempts > 1: // its user may no longer want it
		return delivery.Outcome{
			State: delivery.Failed,
			Error: cmp.Or(due.Error, "dogwatch stopped before the update began; it is not begun by itself"),
		}, nil
	}
	if outcome, known := u.filter.unsendable(ctx, t, due, planned, containers); known {
		return outcome, nil
	}
	req := trigger.Request{Delivery: idempotencyKey(due), Containers: containers, Batch: due.Batch}
	if err := u.operate(ctx, t, due, "", run, req, found); err != nil {
		found.errs = append(found.errs, err)
	}
	return delivery.Outcome{}, found
}

// resume adds the operations that an earlier attempt began, and returns the containers
// for which there is none, or one that may be tried again.
func (u *updater) resume(
	ctx context.Context, due delivery.Delivery, planned []sdk.Container, found *updates,
) (rest []sdk.Container, err error) {
	for _, c := range planned {
		started, err := u.opt.Updates.Started(ctx, c, idempotencyKey(due))
		if err != nil {
			return nil, err
		}
		if len(started) == 0 || started[0].MayRetry() {
			rest = append(rest, c)
			continue
		}
		found.started = append(found.started, started[0])
	}
	return rest, nil
}

// operate runs a trigger and begins the updates that it requests, at the request of by
// or, when that is "", of no user.
func (u *updater) operate(
	ctx context.Context, t Trigger, due delivery.Delivery, by string, run *run, req trigger.Request, found *updates,
) error {
	var requested []trigger.OperationRequest
	err := u.sender.run(ctx, t, run, req.WithOperate(func(o trigger.OperationRequest) error {
		requested = append(requested, o)
		return nil
	}))
	if err != nil {
		return err
	}
	for _, o := range requested {
		for _, c := range req.Containers {
			if c.ID != o.ContainerID {
				continue
			}
			op, err := u.begin(ctx, t, due, Update{Container: c, Rules: o.Rules, Trigger: t.ID, Actor: by})
			if err != nil {
				found.errs = append(found.errs, err)
				continue
			}
			run.report(trigger.Progress{ContainerID: c.ID, Phase: "update", Message: "operation " + op.ID})
			found.started = append(found.started, op)
		}
	}
	return nil
}

// begin begins one update. Unless a user asks, one that did not work out is not tried again.
func (u *updater) begin(
	ctx context.Context, t Trigger, due delivery.Delivery, request Update,
) (operation.Operation, error) {
	if !due.Manual {
		switch tried, err := u.opt.Updates.Tried(ctx, request.Container); {
		case err != nil:
			return operation.Operation{}, sdk.WithKind(sdk.ErrUnavailable, err)
		case tried != "":
			return operation.Operation{}, sdk.WithKind(ErrByHand, errors.New(tried))
		}
	}
	request.Delivery = idempotencyKey(due)
	started, err := u.opt.Updates.Started(ctx, request.Container, request.Delivery)
	if err != nil {
		return operation.Operation{}, sdk.WithKind(sdk.ErrUnavailable, err)
	}
	if len(started) > 0 {
		request.Delivery = fmt.Sprintf("%s.%d", request.Delivery, len(started))
	}
	return u.opt.Updates.Begin(ctx, request)
}

// await waits for updates, until ctx ends or the dispatcher stops, and returns why they are
// not all updated.
func (u *updater) await(due delivery.Delivery, found *updates) error {
	errs := found.errs
	for _, op := range found.started {
		ended, err := u.opt.Updates.Wait(u.waits, op.ID)
		switch {
		case err != nil && u.waits.Err() != nil:
			return errStopping
		case err != nil:
			err = sdk.WithKind(sdk.ErrUnavailable, err)
		default:
			err = notUpdated(ended)
		}
		if err != nil && ended.MayRetry() && !due.Manual && due.Attempts < operation.MaxAttempts {
			err = sdk.WithKind(sdk.ErrUnavailable, err)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return joined(errs)
}

// awaited returns the outcome of a delivery that had containers updated.
func (u *updater) awaited(ctx context.Context, t Trigger, due delivery.Delivery, found *updates) delivery.Outcome {
	err := u.await(due, found)
	switch {
	case errors.Is(err, errStopping):
		return delivery.Outcome{State: delivery.Pending, Error: err.Error()}
	case errors.Is(err, ErrByHand) && len(found.started) == 0 && !sdk.Retryable(err):
		return delivery.Outcome{State: delivery.Skipped, Error: err.Error()}
	}
	return u.retries.outcome(ctx, t, due, err)
}

// notUpdated returns why an operation that has ended did not update its container.
func notUpdated(op operation.Operation) error {
	name, what := op.Watcher+"/"+op.Name, "was not updated"
	switch op.State {
	case operation.Succeeded:
		return nil
	case operation.RolledBack:
		what = "was not updated, and its old container is back"
	case operation.Cancelled:
		what = "was not updated, since a user cancelled that"
	}
	code := ""
	if op.Outcome != nil && op.Outcome.Reason.Code != "" {
		code = " (" + op.Outcome.Reason.Code + ")"
	}
	return fmt.Errorf("%s %s: %s%s; see operation %s", name, what, cmp.Or(op.Error, "no reason is known"), code, op.ID)
}

// joined returns errors as one, on one line.
func joined(errs []error) error {
	var all error
	for _, err := range errs {
		if all == nil {
			all = err
		} else {
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}

// stored returns the containers of a manual run as they are stored. One that is made up
// cannot be updated, as no engine has it.
func (u *updater) stored(id string, containers []sdk.Container) ([]sdk.Container, error) {
	known := make([]sdk.Container, len(containers))
	for i, c := range containers {
		var found bool
		if known[i], found = u.opt.Containers.ByID(c.ID); !found {
			return nil,
				sdk.Invalid("container", "%s updates containers, and %s with the id %q is none that is watched", id,
					cmp.Or(event.Subject(c), "a container"), c.ID)
		}
	}
	return known, nil
}
