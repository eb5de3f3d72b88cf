package updater

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Cancel ends an operation that is queued, and has one that runs stop before its next
// step and return to the old container. It does not wait for that; the wish is stored.
// One whose watcher fails to recover it, or says nothing about that any more, is given
// up: the container is left as it is. One of an agent is so only when it is cancelled again, as
// the agent is told of the wish as soon as it can be.
// It returns operation.ErrNotFound or ErrEnded when there is nothing to cancel.
func (r *Runner) Cancel(ctx context.Context, id, actor string) error {
	wish := &operation.Cancel{By: actor, At: r.opt.Now()}
	for { // an operation may begin in between
		op, err := r.opt.Store.Operation(ctx, id)
		switch {
		case err != nil:
			return notFound(id, err)
		case op.State.Ended():
			return fmt.Errorf("operation %s is %s: %w", id, op.State, ErrEnded)
		}
		from, typ := op.State, event.OperationCancelling
		op.Cancel = wish
		if from == operation.Queued {
			op.State, op.Error, op.Ended, typ = operation.Cancelled, cancelledBy(wish), wish.At, event.OperationCancelled
		}
		err = r.opt.Store.ChangeOperation(ctx, from, op, r.event(typ, op, event.Operation{By: actor, Error: op.Error}))
		if err == nil {
			r.stop(id, wish)
			r.Wake()
			return nil
		}
		if again, readErr := r.opt.Store.Operation(ctx, id); readErr != nil || again.State == from {
			return err
		}
	}
}

// stop has an operation of this process stop, whose wish is stored. One that is not
// recovered yet finds the wish in the store.
func (r *Runner) stop(id string, wish *operation.Cancel) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, known := r.active[id]
	if !known {
		return
	}
	again := a.cancel != nil
	a.cancel = wish
	a.endPulling()
	if (a.recovering || a.quiet != nil) && (again || !a.detached) {
		a.left = wish
		r.spoke(a)
	}
}

// errCallCancelled ends a call whose operation was cancelled: while the image is pulled, or at any step of what is
// detached.
var errCallCancelled = errors.New("the operation was cancelled during the pull")

// untilCancelled has end called when an operation is cancelled, see active.endPulling.
func (r *Runner) untilCancelled(a *active, end context.CancelCauseFunc) {
	r.set(func() {
		a.endPull = func() { end(errCallCancelled) }
		if a.detached {
			a.endPulling() // it may have been cancelled before
		}
	})
}

// apply calls Apply. A pull is ended as soon as the operation is cancelled: it may take hours,
// and nothing has been changed. Every other step is taken to its end.
func (r *Runner) apply(w Watcher, job watcher.Operation, j *journal) (watcher.Outcome, error) {
	ctx, end := context.WithCancelCause(r.life)
	defer end(nil)
	r.untilCancelled(j.active, end)
	out, err := w.Updater.Apply(ctx, job, j)
	r.set(func() { j.active.endPull, j.active.pulling = nil, false })
	switch {
	case err == nil || !errors.Is(context.Cause(ctx), errCallCancelled):
		return out, err
	case w.Detached:
		return out, errCallCancelled
	}
	if steps := j.op.Steps; len(steps) > 0 && !steps[len(steps)-1].Ended {
		if err := j.End(r.life, steps[len(steps)-1].Step, nil, errCallCancelled); err != nil {
			return out, err
		}
	}
	reason := watcher.Reason{Code: watcher.ReasonCancelled, Text: errCallCancelled.Error()}
	return watcher.Outcome{State: watcher.Unchanged, Reason: reason, ContainerID: job.Request.ContainerID}, nil
}

// endPulling ends the pull under way, or the call of what is detached, if there is one. The caller holds Runner.mu.
func (a *active) endPulling() {
	if (a.pulling || a.detached) && a.cancel != nil && a.endPull != nil {
		a.endPull()
	}
}

// cancelledBy is the reason of an operation that was cancelled.
func cancelledBy(c *operation.Cancel) string {
	return "it was cancelled by " + nameOf(c)
}

func nameOf(c *operation.Cancel) string { return cmp.Or(c.By, "a user") }
