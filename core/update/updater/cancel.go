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
// up: the container is left as it is.
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
	a.cancel = wish
	a.endPulling()
	if a.recovering || a.quiet != nil {
		a.left = wish
		r.spoke(a)
	}
}

// errPullCancelled ends a call of Apply whose operation was cancelled while it pulled the image.
var errPullCancelled = errors.New("the operation was cancelled during the pull")

// apply calls Apply. A pull is ended as soon as the operation is cancelled: it may take hours,
// and nothing has been changed. Every other step is taken to its end.
func (r *Runner) apply(w Watcher, job watcher.Operation, j *journal) (watcher.Outcome, error) {
	ctx, end := context.WithCancelCause(r.life)
	defer end(nil)
	r.set(func() { j.active.endPull = func() { end(errPullCancelled) } })
	out, err := w.Updater.Apply(ctx, job, j)
	r.set(func() { j.active.endPull, j.active.pulling = nil, false })
	if err == nil || !errors.Is(context.Cause(ctx), errPullCancelled) {
		return out, err
	}
	if steps := j.op.Steps; len(steps) > 0 && !steps[len(steps)-1].Ended {
		if err := j.End(r.life, steps[len(steps)-1].Step, nil, errPullCancelled); err != nil {
			return out, err
		}
	}
	reason := watcher.Reason{Code: watcher.ReasonCancelled, Text: errPullCancelled.Error()}
	return watcher.Outcome{State: watcher.Unchanged, Reason: reason, ContainerID: job.Request.ContainerID}, nil
}

// endPulling ends the pull under way, if there is one. The caller holds Runner.mu.
func (a *active) endPulling() {
	if a.pulling && a.cancel != nil && a.endPull != nil {
		a.endPull()
	}
}

// cancelledBy is the reason of an operation that was cancelled.
func cancelledBy(c *operation.Cancel) string {
	return "it was cancelled by " + nameOf(c)
}

func nameOf(c *operation.Cancel) string { return cmp.Or(c.By, "a user") }
