package updater

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// active is an operation that this process carries out. Its fields are guarded by Runner.mu.
type active struct {
	op     operation.Operation
	cancel *operation.Cancel // nil while it is not to stop
	// recovering is true while it waits for its engine, which takes no slot.
	recovering bool
	// reached is true when the watcher could be called again since the last wait.
	reached bool
	// detached is Watcher.Detached.
	detached bool
	// left is who wants it to be recovered no more.
	left *operation.Cancel
	// quiet ends a call of Recover that says nothing for too long; nil when there is none.
	quiet *time.Timer
	step  string // the text of the one under way
	// pulling is true during the step that pulls the image, which endPull ends, see apply. That of what is detached
	// ends a call at any step, so that the next one tells of the cancellation.
	pulling bool
	endPull func()
	// taken of the steps of the plan have ended; -1 once it returns to the old container.
	taken, steps int
	progress     watcher.StepProgress
	touched      time.Time
}

// Run recovers what an earlier process left and then carries out what is queued,
// until ctx ends. It then waits for the steps under way, up to a limit. An error
// means that the store could not be read at the start.
func (r *Runner) Run(ctx context.Context) error {
	defer r.drain()
	open, err := r.opt.Store.OpenOperations(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("recover operations: %w", err)
	}
	for _, op := range open {
		if op.State == operation.Running {
			r.log.Info("recovering an operation that was under way at the last stop", "operation", op.ID, "container",
				op.Watcher+"/"+op.Name)
		}
	}
	for ctx.Err() == nil {
		pause := time.Minute // in case a wake-up is lost with the machine's sleep
		if err := r.beginOpen(ctx); err != nil && ctx.Err() == nil {
			r.log.Error("read the queued operations", "error", err)
			pause = storePause
		}
		waitFor(ctx, pause, r.wake)
	}
	return nil
}

// drain lets no operation begin and waits for those under way.
func (r *Runner) drain() {
	r.mu.Lock()
	r.stopping = true
	r.mu.Unlock()
	timer := time.AfterFunc(r.drainTime, r.end)
	defer timer.Stop()
	r.work.Wait()
	r.end()
}

func (r *Runner) isStopping() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopping
}

// Wake makes Run look for work.
func (r *Runner) Wake() { r.wake.Set() }

// waitFor waits until the pause is over, ctx ends or something wakes it.
func waitFor(ctx context.Context, pause time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-wake:
	}
}

func (r *Runner) isActive(id string) (active bool) {
	r.set(func() { _, active = r.active[id] })
	return active
}

// mayBegin reports whether there is room for an operation, and none under way that
// concerns one of its containers or its project.
func (r *Runner) mayBegin(op operation.Operation) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	running := 0
	for _, a := range r.active {
		if !a.recovering {
			running++
		}
		if related(a.op, op) {
			return false
		}
	}
	return running < r.opt.AtOnce
}

// related reports whether two operations must not run at the same time.
func related(a, b operation.Operation) bool {
	if a.ID == b.ID {
		return true
	}
	if a.Watcher != b.Watcher {
		return false
	}
	if a.Project != "" && a.Project == b.Project {
		return true
	}
	names := map[string]bool{a.Name: true}
	for _, d := range a.Plan.Dependents {
		names[d.Name] = true
	}
	return names[b.Name] ||
		slices.ContainsFunc(b.Plan.Dependents, func(d watcher.Dependent) bool { return names[d.Name] })
}

// begin carries out an operation in a goroutine of its own, which drain waits for.
func (r *Runner) begin(op operation.Operation, interrupted bool) {
	a := &active{op: op}
	r.mu.Lock()
	r.active[op.ID] = a
	r.mu.Unlock()
	r.work.Go(func() {
		defer func() {
			r.mu.Lock()
			delete(r.active, op.ID)
			r.mu.Unlock()
			r.opt.Bus.Touch(event.OperationProgressed)
			r.Wake()
		}()
		r.carryOut(a, op, interrupted)
	})
}

// errShutdown keeps a step from being taken since Dogwatch stops.
var errShutdown = errors.New("dogwatch stops before this step; the next start recovers the operation")

// carryOut takes an operation to its end, unless Dogwatch stops before.
func (r *Runner) carryOut(a *active, op operation.Operation, interrupted bool) {
	state := operation.Queued
	if interrupted {
		state = operation.Running
	}
	op, err := r.reload(a, op, state)
	if err == nil && !interrupted {
		op, err = r.claim(op)
	}
	if err != nil {
		if !errors.Is(err, errGaveUp) && !r.isStopping() {
			r.log.Error("begin an operation", "operation", op.ID, "error", err, "again in", storePause)
			r.pause(storePause, func() bool { return false })
		}
		return
	}
	j := &journal{runner: r, active: a, op: &op}
	if outcome, known := r.outcome(j, interrupted); known {
		r.finish(a, op, outcome)
	}
}

// reload returns an operation as it is stored now: since it was listed it may have been
// cancelled or, if it was under way then, have ended. It returns errGaveUp when it is not in
// a state.
func (r *Runner) reload(a *active, op operation.Operation, in operation.State) (operation.Operation, error) {
	op, err := r.opt.Store.Operation(r.life, op.ID)
	if err == nil && op.State != in {
		err = errGaveUp
	}
	r.set(func() {
		if a.cancel == nil {
			a.cancel = op.Cancel
		}
	})
	return op, err
}

// pause waits for some time, until a shutdown begins, or until it is over early.
func (r *Runner) pause(d time.Duration, early func() bool) {
	for end := time.Now().Add(d); time.Now().Before(end) && !r.isStopping() && !early(); {
		waitFor(r.life, min(d, 100*time.Millisecond), nil)
	}
}

func (r *Runner) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// attempt has the watcher apply or recover an operation.
func (r *Runner) attempt(j *journal, recover bool) (watcher.Outcome, error) {
	w, known := r.opt.Watchers.Named(j.op.Watcher)
	if !known {
		return watcher.Outcome{}, fmt.Errorf("watcher %s: it is not configured any more: %w", j.op.Watcher, sdk.ErrNotFound)
	}
	if r.isStopping() {
		return watcher.Outcome{}, errShutdown
	}
	job := watcher.Operation{
		ID: j.op.ID, Plan: j.op.Plan,
		Request: watcher.UpdateRequest{ContainerID: j.op.ContainerID, Image: j.op.Image, Rules: j.op.Rules},
	}
	for _, s := range j.op.Steps {
		job.Steps = append(job.Steps, s.StepRecord)
	}
	if c, known := r.opt.Containers.ByName(j.op.Watcher, j.op.Name); known && !(w.Detached && recover) {
		job.Request.Credentials = r.credentials(r.life, c, j.op.Image)
	}
	r.set(func() {
		j.active.detached = w.Detached
		job.Cancelled = w.Detached && j.active.cancel != nil
	})
	call := r.apply
	if recover {
		call = r.recover
	}
	out, err := call(w, job, j)
	if w.Detached && errors.Is(err, errCallCancelled) {
		return r.attempt(j, true)
	}
	return out, err
}

// errGaveUp ends an operation that is not to be begun any more; that is stored.
var errGaveUp = errors.New("not begun")

// claim stores that a queued operation runs. What an operation before it may have
// changed since it was queued is planned again, for the same image.
func (r *Runner) claim(op operation.Operation) (operation.Operation, error) {
	now := r.opt.Now()
	c, known := r.opt.Containers.ByName(op.Watcher, op.Name)
	w, err := r.watcher(op.Watcher)
	switch {
	case err == nil && !known:
		err = fmt.Errorf("%s/%s: %w: the container is gone", op.Watcher, op.Name, ErrChanged)
	case err == nil:
		c.ID, err = r.currentID(r.life, c, op.ID)
	}
	isStale := false
	if err == nil {
		c, isStale, err = r.planIsStale(op, c)
	}
	if err == nil && (isStale || c.ID != op.ContainerID) {
		request := watcher.UpdateRequest{
			ContainerID: c.ID, Image: op.Image, Rules: op.Rules, Credentials: r.planCredentials(r.life, w, c, op.Image),
		}
		var plan watcher.Plan
		if plan, err = w.Updater.Plan(r.life, request); err == nil && len(plan.Blocks) > 0 {
			err = &BlockedError{Plan: plan}
		}
		op.ContainerID, op.Plan = c.ID, withoutSecrets(plan)
	}
	if err != nil {
		text := r.opt.Redact(err.Error())
		op.State, op.Error, op.Ended = operation.Failed, text, now
		if err := r.opt.Store.ChangeOperation(r.life, operation.Queued, op,
			r.event(event.OperationFailed, op, event.Operation{Error: text})); err != nil {
			return op, err
		}
		return op, errGaveUp
	}
	op.State, op.Began = operation.Running, now
	return op,
		r.opt.Store.ChangeOperation(r.life, operation.Queued, op, r.event(event.OperationStarted, op, event.Operation{}))
}

// dryRun is the code of the outcome of an update that ended after the pull, as its rules ask for.
const dryRun = "dryrun"

// finish stores how an operation ended. While the store cannot be written it tries
// again; what is not stored when Dogwatch stops is recovered at the next start.
func (r *Runner) finish(a *active, op operation.Operation, outcome watcher.Outcome) {
	outcome.Reason.Text, outcome.Evidence = r.opt.Redact(outcome.Reason.Text), kept(outcome.Evidence, r.opt.Redact)
	op.Outcome, op.Ended, op.Error = &outcome, r.opt.Now(), outcome.Reason.Text
	r.set(func() { op.Cancel = a.cancel })
	typ := event.OperationFailed
	switch {
	case outcome.State == watcher.Updated,
		outcome.State == watcher.Unchanged && op.Rules.DryRun && outcome.Reason.Code == dryRun:
		op.State, op.Error, typ = operation.Succeeded, "", event.OperationSucceeded
	case op.Cancel != nil &&
		(outcome.State == watcher.Unchanged ||
			outcome.State == watcher.RolledBack && outcome.Reason.Code == watcher.ReasonCancelled):
		op.State, op.Error, typ = operation.Cancelled, cancelledBy(op.Cancel), event.OperationCancelled
	case outcome.State == watcher.RolledBack:
		op.State, typ = operation.RolledBack, event.OperationRolledBack
	default:
		op.State = operation.Failed
	}
	more := event.Operation{Code: outcome.Reason.Code, Error: op.Error, Log: logOf(outcome.Evidence)}
	if outcome.Downtime > 0 {
		more.Downtime = outcome.Downtime.Round(time.Millisecond).String()
	}
	if op.Cancel != nil {
		more.By = op.Cancel.By
	}
	ev := r.event(typ, op, more)
	if op.State == operation.Succeeded {
		r.listAgain(op)
	} else {
		// Only once it is stored: what it did not update is offered again, and must not be begun by itself.
		defer r.listAgain(op)
	}
	for {
		err := r.opt.Store.ChangeOperation(context.WithoutCancel(r.life), operation.Running, op, ev)
		if err == nil {
			r.log.Info("an operation ended", "operation", op.ID, "kind", op.Kind, "container", op.Watcher+"/"+op.Name,
				"image", op.Image.Reference, "state", op.State, "took", op.Ended.Sub(op.Began).Round(time.Millisecond))
			return
		}
		r.log.Error("store the outcome of an operation", "operation", op.ID, "state", op.State, "error", err)
		if r.isStopping() {
			return
		}
		r.pause(storePause, func() bool { return false })
	}
}

// listAgain has the containers listed that an operation may have changed, so that clients
// that learn of its end find the new ids. It waits a little for that; what takes longer
// or fails is left to the next check.
func (r *Runner) listAgain(op operation.Operation) {
	if op.Outcome.State == watcher.Unchanged || r.isStopping() {
		return
	}
	ctx, cancel := context.WithTimeout(r.life, listTime)
	defer cancel()
	id := cmp.Or(op.Outcome.ContainerID, op.ContainerID)
	if err := r.opt.Listed(ctx, op.Watcher, id); err != nil {
		r.log.Debug("list the containers after an operation", "operation", op.ID, "error", r.opt.Redact(err.Error()))
	}
}
