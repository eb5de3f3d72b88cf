package updater

import (
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/operation"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update"
)

// projectLabel is the label in which Compose says to which project a container belongs.
const projectLabel = "com.docker.compose.project"

// Start plans and stores an operation as queued; Run carries it out, after those
// queued before it that concern the same container or project. The errors are those
// of Plan, and ErrBlocked, ErrConflict, ErrChanged and ErrStopping.
func (r *Runner) Start(ctx context.Context, req Request) (operation.Operation, error) {
	if r.isStopping() {
		return operation.Operation{}, ErrStopping
	}
	c := req.Container
	if err := r.conflict(ctx, c.Watcher, c.Name); err != nil {
		return operation.Operation{}, err // before anything is asked
	}
	p, err := r.plan(ctx, req)
	switch {
	case err != nil:
		return operation.Operation{}, err
	case req.State != "" && req.State != p.plan.State:
		return operation.Operation{}, fmt.Errorf("%s/%s: %w: look at the plan again", c.Watcher, c.Name, ErrChanged)
	case len(p.plan.Blocks) > 0:
		return operation.Operation{}, &BlockedError{Plan: p.plan}
	}
	op := operation.Operation{
		ID: r.ids.next(), Kind: req.Kind, Watcher: c.Watcher, Name: c.Name, ContainerID: c.ID, Project: c.Labels[projectLabel],
		Actor: req.Actor, Trigger: req.Trigger, Delivery: req.Delivery, State: operation.Queued,
		Image: p.request.Image, Rules: p.request.Rules, Plan: p.plan, Queued: r.opt.Now(),
	}
	if req.Kind == operation.Update {
		op.Update = update.KeyOf(&c).String()
	}
	if err := r.opt.Store.AddOperation(ctx, op, r.event(event.OperationQueued, op, event.Operation{})); err != nil {
		if conflict := r.conflict(ctx, c.Watcher, c.Name); conflict != nil {
			return operation.Operation{}, conflict // which came in between
		}
		return operation.Operation{}, err
	}
	r.Wake()
	return op, nil
}

// conflict returns a *ConflictError when a container has an operation that has not ended.
func (r *Runner) conflict(ctx context.Context, watcherName, name string) error {
	open, err := r.opt.Store.Operations(ctx, operation.Filter{
		Watcher: watcherName, Name: name, States: []operation.State{operation.Queued, operation.Running}, Limit: 1,
	})
	if err != nil || len(open) == 0 {
		return err
	}
	return &ConflictError{Operation: open[0]}
}

// Cancel ends an operation that is queued, and has one that runs stop before its next
// step and return to the old container. It does not wait for that. It returns
// ErrNotFound or ErrEnded when there is nothing to cancel.
func (r *Runner) Cancel(ctx context.Context, id string) error {
	const by = "it was cancelled"
	for { // an operation may begin in between
		op, err := r.opt.Store.Operation(ctx, id)
		switch {
		case err != nil:
			return notFound(id, err)
		case op.State.Ended():
			return fmt.Errorf("operation %s is %s: %w", id, op.State, ErrEnded)
		case op.State == operation.Running:
			return r.stop(id, by)
		}
		op.State, op.Error, op.Ended = operation.Cancelled, by, r.opt.Now()
		err = r.opt.Store.ChangeOperation(ctx, operation.Queued, op, r.event(event.OperationCancelled, op, event.Operation{Error: by}))
		if err == nil {
			r.Wake()
			return nil
		}
		if again, readErr := r.opt.Store.Operation(ctx, id); readErr != nil || again.State == operation.Queued {
			return err
		}
	}
}

// stop has an operation that runs stop before its next step.
func (r *Runner) stop(id, why string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, known := r.active[id]
	if !known {
		return fmt.Errorf("operation %s: it is to be recovered at the next start of dogwatch: %w", id, ErrStopping)
	}
	a.cancelled = why
	return nil
}

// Wait returns an operation once it has ended. It reads the store each time that
// something happens.
func (r *Runner) Wait(ctx context.Context, id string) (operation.Operation, error) {
	sub := r.opt.Bus.Subscribe()
	defer sub.Close()
	for {
		op, err := r.opt.Store.Operation(ctx, id)
		if err != nil || op.State.Ended() {
			return op, notFound(id, err)
		}
		if err := sub.Wait(ctx); err != nil {
			return op, err
		}
	}
}

// Tried reports whether an update did not work out before, so that it is not to be
// tried again without a user: its operation failed or rolled back, or was rolled back later.
func (r *Runner) Tried(ctx context.Context, key update.Key) (bool, error) {
	return r.opt.Store.Tried(ctx, key.String())
}

// notFound gives the store's error about an unknown operation the kind of this package.
func notFound(id string, err error) error {
	if err != nil && errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("operation %s: %w", id, ErrNotFound)
	}
	return err
}
