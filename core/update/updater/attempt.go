package updater

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// recoverStep is what is shown of an operation while it is recovered.
const recoverStep = "find out what the interruption left"

// outcome has the watcher apply or recover an operation, and recover it again for as
// long as its outcome is not known. It returns false when Dogwatch stops before: the
// next start goes on then.
func (r *Runner) outcome(j *journal, interrupted bool) (watcher.Outcome, bool) {
	r.set(func() { j.active.steps = len(j.op.Plan.Steps) })
	out, err := r.attempt(j, interrupted)
	pauses := backoff.Pauses{First: time.Second, Longest: time.Minute}
	for failures := 1; err != nil; failures++ {
		pause := pauses.After(failures)
		text := r.opt.Redact(err.Error())
		if r.isStopping() || r.life.Err() != nil {
			r.log.Info("an operation is left for the next start", "operation", j.op.ID, "error", text)
			return out, false
		}
		r.log.Warn("the outcome of an operation is not known; recovering it", "operation", j.op.ID, "error", text, "in",
			pause)
		if _, known := r.opt.Watchers.Named(j.op.Watcher); !known || errors.Is(err, sdk.ErrUnsupported) {
			return broken("watcher",
				"its outcome is not known, since watcher "+j.op.Watcher+" cannot update any more: look at the container"), true
		}
		r.show(j, recoverStep, fmt.Sprintf("not yet: %s; again in %s", text, pause))
		if left := r.waitToRecover(j.active, pause); left != nil {
			return broken("left",
				"its outcome is not known, and "+nameOf(left)+
					" wants it to be recovered no more: the container is left as it is; look at it. The last error: "+text), true
		}
		out, err = r.attempt(j, true)
	}
	return out, true
}

func broken(code, text string) watcher.Outcome {
	return watcher.Outcome{State: watcher.Broken, Reason: watcher.Reason{Code: code, Text: text}}
}

// show replaces what is shown of an operation under way.
func (r *Runner) show(j *journal, step, message string) {
	r.set(func() {
		j.active.step, j.active.progress, j.active.taken = step, watcher.StepProgress{Message: message}, -1
	})
	r.opt.Bus.Touch(event.OperationProgressed)
}

// waitToRecover waits without taking a slot, and ends early at a shutdown, and when a
// user wants the operation to be recovered no more, which it returns.
func (r *Runner) waitToRecover(a *active, pause time.Duration) (left *operation.Cancel) {
	r.set(func() { a.recovering = true })
	r.pause(pause, func() (enough bool) {
		r.set(func() { left, enough = a.left, a.left != nil || a.reached })
		return enough
	})
	r.set(func() { a.recovering, a.reached = false, false })
	return left
}

// Reached has the operations of a watcher whose outcome is not known recovered at once: it can be called again.
func (r *Runner) Reached(watcherName string) {
	r.set(func() {
		for _, a := range r.active {
			a.reached = a.reached || a.op.Watcher == watcherName
		}
	})
}

// silentError is why a call of Recover was ended.
type silentError struct{ watcher string }

func (e *silentError) Error() string {
	return "watcher " + e.watcher + " has said nothing about its recovery for too long"
}

// recover calls Recover. A watcher that says nothing for too long is not waited for, nor
// one that says nothing after a user has cancelled the operation.
func (r *Runner) recover(w Watcher, job watcher.Operation, j *journal) (watcher.Outcome, error) {
	ctx, end := context.WithCancelCause(r.life)
	defer end(nil)
	r.show(j, recoverStep, "")
	quiet := time.AfterFunc(r.opt.Silence, func() { end(&silentError{w.Name}) })
	defer quiet.Stop()
	r.set(func() { j.active.quiet = quiet })
	defer r.set(func() { j.active.quiet, j.active.endPull = nil, nil })
	if w.Detached && !job.Cancelled {
		r.untilCancelled(j.active, end)
	}
	out, err := w.Updater.Recover(ctx, job, j)
	var silent *silentError
	if cause := context.Cause(ctx); err != nil && (errors.As(cause, &silent) || errors.Is(cause, errCallCancelled)) {
		return out, cause
	}
	return out, err
}

// spoke notes that the watcher has said something about an operation. The caller holds mu.
func (r *Runner) spoke(a *active) {
	switch {
	case a.quiet == nil:
	case a.left != nil:
		a.quiet.Reset(r.opt.LeaveTime)
	default:
		a.quiet.Reset(r.opt.Silence)
	}
}
