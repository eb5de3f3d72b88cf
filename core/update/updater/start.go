package updater

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/update/operation"
)

// Start plans and stores an operation as queued; Run carries it out, after those
// queued before it that concern the same container or project. When there is an
// operation of the same container and IdempotencyKey, it returns that. The errors are those
// of Plan, and ErrBlocked, ErrConflict, ErrChanged and ErrStopping.
func (r *Runner) Start(ctx context.Context, req Request) (operation.Operation, error) {
	if r.isStopping() {
		return operation.Operation{}, ErrStopping
	}
	c := req.Container
	if op, found, err := r.startedBy(ctx, req); err != nil || found {
		return op, err
	}
	if err := r.conflict(ctx, c.Watcher, c.Name); err != nil { // before anything is asked
		var conflict *ConflictError
		if req.IdempotencyKey != "" && errors.As(err, &conflict) && conflict.Operation.IdempotencyKey == req.IdempotencyKey {
			return conflict.Operation, nil // which has come in between
		}
		return operation.Operation{}, err
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
		ID: r.ids.next(), Kind: req.Kind, Watcher: c.Watcher, Name: c.Name, ContainerID: p.request.ContainerID,
		Project: label.StackOf(c).Name,
		Actor:   req.Actor, Trigger: req.Trigger, IdempotencyKey: req.IdempotencyKey, State: operation.Queued,
		Image: p.request.Image, Rules: p.request.Rules, Plan: p.plan, Queued: r.opt.Now(),
	}
	if req.Kind == operation.Update {
		op.Update = update.KeyOf(&c).String()
	}
	if err := r.opt.Store.AddOperation(ctx, op, r.event(event.OperationQueued, op, event.Operation{})); err != nil {
		// Another one may have come in between.
		if same, found, _ := r.startedBy(ctx, req); found {
			return same, nil
		}
		if conflict := r.conflict(ctx, c.Watcher, c.Name); conflict != nil {
			return operation.Operation{}, conflict
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

// Tried returns the latest update to the same image that is not to be carried out again without a
// user, false when there is none: its operation changed the container and came back, or left
// it broken, or a user rolled it back later. One that failed before anything was changed does not count.
func (r *Runner) Tried(ctx context.Context, key update.Key) (operation.Trial, bool, error) {
	watcherName, name, _ := strings.Cut(key.Subject, "/")
	tried, err := r.opt.Store.Tried(ctx, watcherName, name)
	for _, trial := range tried {
		if before, err := update.Parse(trial.Update); err == nil && before.SameTarget(key) {
			return trial, true, nil
		}
	}
	return operation.Trial{}, false, err
}

// notFound leaves of the store's error about an unknown operation what concerns a client.
func notFound(id string, err error) error {
	if err != nil && errors.Is(err, operation.ErrNotFound) {
		return fmt.Errorf("operation %s: %w", id, operation.ErrNotFound)
	}
	return err
}
