package updater

import (
	"context"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// progressPause is the least time between two touches about the progress of one operation.
const progressPause = 250 * time.Millisecond

// journal stores the steps of one operation.
type journal struct {
	runner *Runner
	active *active
	op     *operation.Operation
	// stopped is true once Begin has returned ErrStop: what follows returns to the old container.
	stopped bool
}

// Begin implements watcher.Journal.
func (j *journal) Begin(ctx context.Context, s watcher.Step) error {
	r := j.runner
	var stopping bool
	var cancel *operation.Cancel
	r.set(func() {
		stopping, cancel = r.stopping, j.active.cancel
		r.spoke(j.active)
		j.active.progress = watcher.StepProgress{}
	})
	switch {
	case cancel != nil && !j.stopped && !j.returning():
		j.stopped = true
		r.set(func() { j.active.taken = -1 })
		return watcher.ErrStop
	case stopping && !down(j.op.Steps):
		return errShutdown
	}
	s.Text = r.opt.Redact(s.Text)
	step := operation.Step{StepRecord: watcher.StepRecord{Step: s}, Began: r.opt.Now()}
	if err := r.opt.Store.PutStep(ctx, j.op.ID, len(j.op.Steps), step,
		r.event(event.OperationStep, *j.op, event.Operation{Step: s.Text})); err != nil {
		return err
	}
	j.op.Steps = append(j.op.Steps, step)
	r.set(func() {
		j.active.step = s.Text
		j.active.pulling = s.Code == watcher.StepPull
		j.active.endPulling() // it may have been cancelled while the step was stored
	})
	return nil
}

// End implements watcher.Journal.
func (j *journal) End(ctx context.Context, s watcher.Step, facts map[string]string, failed error) error {
	r := j.runner
	r.set(func() {
		r.spoke(j.active)
		j.active.pulling = false
	})
	for i := len(j.op.Steps) - 1; i >= 0; i-- {
		step := j.op.Steps[i]
		if step.ID != s.ID || step.Ended {
			continue
		}
		r.set(func() { j.active.took(failed) })
		step.Ended, step.Facts, step.EndedAt = true, facts, r.opt.Now()
		if failed != nil {
			step.Error = r.opt.Redact(failed.Error())
		}
		if err := r.opt.Store.PutStep(ctx, j.op.ID, i, step,
			r.event(event.OperationStep, *j.op, event.Operation{Step: step.Text, Ended: true, Error: step.Error})); err != nil {
			return err
		}
		j.op.Steps[i] = step
		return nil
	}
	return nil // a step that was not begun, which is a mistake of the plugin and changes nothing
}

// Progress implements watcher.Journal.
func (j *journal) Progress(p watcher.StepProgress) {
	r, now := j.runner, time.Now()
	p.Message = r.opt.Redact(p.Message)
	touch := false
	r.set(func() {
		j.active.progress = p
		r.spoke(j.active)
		if touch = now.Sub(j.active.touched) >= progressPause; touch {
			j.active.touched = now
		}
	})
	if touch {
		r.opt.Bus.Touch(event.OperationProgressed)
	}
}

// returning reports whether a step has failed, so that what follows returns to the old container.
func (j *journal) returning() bool {
	return slices.ContainsFunc(j.op.Steps, func(s operation.Step) bool { return s.Error != "" })
}

// down reports whether a container may be stopped on behalf of an operation: the
// step that stops it was begun, and no start of one of that name has ended since.
func down(steps []operation.Step) bool {
	stopped := map[string]bool{}
	for _, s := range steps {
		switch {
		case s.Code == watcher.StepStop:
			stopped[s.Container] = true
		case s.Code == watcher.StepStart && s.Ended && s.Error == "":
			delete(stopped, s.Container)
		}
	}
	return len(stopped) > 0
}

// event returns an event about an operation: what says which one it is, and more.
func (r *Runner) event(t event.Type, op operation.Operation, more event.Operation) event.Event {
	more.ID, more.Kind, more.Actor, more.Trigger = op.ID, string(op.Kind), op.Actor, op.Trigger
	more.DryRun = op.Rules.DryRun
	more.From, more.To = op.Plan.From.Reference, op.Image.Reference
	return event.Event{
		At: r.opt.Now(), Type: t, Subject: op.Watcher + "/" + op.Name, Payload: event.Payload{Operation: &more},
	}
}
