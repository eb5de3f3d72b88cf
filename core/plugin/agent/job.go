package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// job is an operation of an agent. It is the watcher.Journal of the updater that carries it out.
type job struct {
	operations *Operations

	mu     sync.Mutex
	record *record
	// changed is closed and replaced whenever there is more to tell.
	changed  chan struct{}
	progress *watcher.StepProgress // of the step under way
	told     time.Time             // when there was progress last
	// cancelled is true once a user has cancelled it, stopped once Begin has returned ErrStop.
	cancelled, stopped bool
	// pulling is true while the image is pulled, which endPull ends.
	pulling bool
	endPull context.CancelFunc
}

// outcome has the operation applied or recovered, and recovered again until its outcome is known. It returns false when
// the agent stops before.
func (j *job) outcome(op watcher.Operation, recover bool) (watcher.Outcome, bool) {
	o := j.operations
	for failures := 1; ; failures++ {
		out, err := j.attempt(op, recover)
		if err == nil {
			return out, true
		}
		o.log.Warn("the outcome of an operation is not known; recovering it", "operation", op.ID, "error", err, "in",
			o.pauses.After(failures))
		if !o.pause(failures) {
			return out, false
		}
		recover = true
		op.Request = j.record.op.Request // without credentials
	}
}

func (j *job) attempt(op watcher.Operation, recover bool) (watcher.Outcome, error) {
	o := j.operations
	j.mu.Lock()
	op.Plan, op.Steps = j.record.op.Plan, slices.Clone(j.record.op.Steps)
	j.mu.Unlock()
	if recover {
		return o.updater.Recover(o.life, op, j)
	}
	ctx, end := context.WithCancel(o.life)
	defer end()
	j.mu.Lock()
	j.endPull = end
	j.mu.Unlock()
	out, err := o.updater.Apply(ctx, op, j)
	if err == nil || ctx.Err() == nil || o.life.Err() != nil {
		return out, err
	}
	// The pull was ended, and nothing was changed.
	if steps := j.record.op.Steps; len(steps) > 0 && !steps[len(steps)-1].Ended {
		if err := j.End(ctx, steps[len(steps)-1].Step, nil, errPullCancelled); err != nil {
			return out, err
		}
	}
	return unchanged(op, watcher.ReasonCancelled, errPullCancelled.Error()), nil
}

var errPullCancelled = errors.New("the operation was cancelled during the pull")

func unchanged(op watcher.Operation, code, text string) watcher.Outcome {
	return watcher.Outcome{
		State: watcher.Unchanged, Reason: watcher.Reason{Code: code, Text: text}, ContainerID: op.Request.ContainerID,
	}
}

// keep stores the outcome, as soon as that works. It returns false when the agent stops before.
func (j *job) keep(out watcher.Outcome) bool {
	for failures := 1; ; failures++ {
		j.mu.Lock()
		err := j.record.write(recordLine{Outcome: &out})
		j.announce()
		j.mu.Unlock()
		if err == nil {
			return true
		}
		j.operations.log.Error("keep the outcome of an operation", "operation", j.record.op.ID, "error", err)
		if !j.operations.pause(failures) {
			return false
		}
	}
}

// announce wakes those that follow the operation. mu is held.
func (j *job) announce() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// cancel has no further step taken, and ends a pull at once.
func (j *job) cancel() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cancelled = true
	if j.pulling && j.endPull != nil {
		j.endPull()
	}
}

// Begin implements watcher.Journal.
func (j *job) Begin(_ context.Context, s watcher.Step) error {
	stopping := j.operations.isStopping()
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.cancelled && !j.stopped && !failing(j.record.op.Steps):
		j.stopped = true
		return watcher.ErrStop
	case stopping && !down(j.record.op.Steps), j.operations.life.Err() != nil:
		return errAgentStops
	}
	if err := j.record.write(recordLine{Begin: &s}); err != nil {
		return err
	}
	j.pulling, j.progress = s.Code == watcher.StepPull, nil
	j.announce()
	return nil
}

// End implements watcher.Journal.
func (j *job) End(_ context.Context, s watcher.Step, facts map[string]string, err error) error {
	r := watcher.StepRecord{Step: s, Ended: true, Facts: facts}
	if err != nil {
		r.Error = err.Error()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.record.write(recordLine{End: &r}); err != nil {
		return err
	}
	j.pulling, j.progress = false, nil
	j.announce()
	return nil
}

// Progress implements watcher.Journal.
func (j *job) Progress(p watcher.StepProgress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if time.Since(j.told) >= progressPause {
		j.told, j.progress = time.Now(), &p
		j.announce()
	}
}

// failing reports whether a step has failed, so that what follows returns to the old container.
func failing(steps []watcher.StepRecord) bool {
	return slices.ContainsFunc(steps, func(s watcher.StepRecord) bool { return s.Error != "" })
}

// down reports whether a container may be stopped on behalf of an operation.
func down(steps []watcher.StepRecord) bool {
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

// follow tells a controller what it does not know of an operation, until it has ended, and returns the outcome.
func (j *job) follow(
	ctx context.Context, known []watcher.StepRecord, journal watcher.Journal,
) (watcher.Outcome, error) {
	known = slices.Clone(known)
	for {
		j.mu.Lock()
		steps, progress, outcome := slices.Clone(j.record.op.Steps), j.progress, j.record.outcome
		changed := j.changed
		j.mu.Unlock()
		for i, s := range steps {
			if i >= len(known) {
				if err := j.tell(ctx, s.Step, journal); err != nil {
					return watcher.Outcome{}, err
				}
				known = append(known, watcher.StepRecord{Step: s.Step})
			}
			if !s.Ended || known[i].Ended {
				continue
			}
			var failed error
			if s.Error != "" {
				failed = errors.New(s.Error)
			}
			if err := journal.End(ctx, s.Step, s.Facts, failed); err != nil {
				return watcher.Outcome{}, err
			}
			known[i] = s
		}
		if outcome != nil {
			return *outcome, nil
		}
		if progress != nil {
			journal.Progress(*progress)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return watcher.Outcome{}, ctx.Err()
		case <-j.operations.life.Done():
			return watcher.Outcome{}, errAgentStops
		}
	}
}

// tell has a controller store a step that has begun. Its wish to stop comes too late for this one.
func (j *job) tell(ctx context.Context, s watcher.Step, journal watcher.Journal) error {
	err := journal.Begin(ctx, s)
	if errors.Is(err, watcher.ErrStop) {
		j.cancel()
		err = journal.Begin(ctx, s)
	}
	return err
}
