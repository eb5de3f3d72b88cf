package kubernetes

import (
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Apply implements watcher.Updater. Where the rollout does not succeed, the image of before is applied.
func (k *Kubernetes) Apply(
	ctx context.Context, op watcher.Operation, journal watcher.Journal,
) (watcher.Outcome, error) {
	r, l, err := k.begin(ctx, op, journal)
	if errors.Is(err, sdk.ErrNotFound) {
		return unchanged(op, BlockChanged, err.Error()+": list again"), nil
	}
	if err != nil {
		return watcher.Outcome{}, err
	}
	plan := k.plan(l, op.Request)
	switch {
	case l.image != r.old:
		return unchanged(op, BlockChanged, fmt.Sprintf("%s was changed to %s since this was planned: plan again", plan.Name, readable(l.image))), nil
	case len(plan.Blocks) > 0:
		return unchanged(op, plan.Blocks[0].Code, plan.Blocks[0].Text), nil
	case plan.State != op.Plan.State:
		return unchanged(op, BlockChanged, plan.Name+" changed since this was planned: plan again"), nil
	case op.Request.Rules.DryRun:
		return unchanged(op, "dryrun", plan.Name+" was left as it is (dryrun)"), nil
	}
	first := plan.Steps[0]
	if err := journal.Begin(ctx, first); errors.Is(err, watcher.ErrStop) {
		return unchanged(op, watcher.ReasonCancelled, "it was cancelled before anything was changed"), nil
	} else if err != nil {
		return watcher.Outcome{}, err
	}
	err = r.patch(ctx, l, r.image)
	if ctx.Err() != nil || errors.Is(err, sdk.ErrUnavailable) {
		return watcher.Outcome{}, errors.Join(err, ctx.Err()) // it may have arrived
	}
	if failed := journal.End(ctx, first, nil, err); failed != nil {
		return watcher.Outcome{}, failed
	}
	if err != nil {
		return unchanged(op, "step."+first.Code, sentence(err)), nil
	}
	return r.finish(ctx, plan.Steps[1:], l.gaveUp())
}

// Recover implements watcher.Updater: it watches a rollout to its end that is under way, or goes on to return.
func (k *Kubernetes) Recover(
	ctx context.Context, op watcher.Operation, journal watcher.Journal,
) (watcher.Outcome, error) {
	if len(op.Steps) == 0 {
		return unchanged(op, watcher.ReasonInterrupted, "it was interrupted before anything was changed"), nil
	}
	r, l, err := k.begin(ctx, op, journal)
	switch {
	case errors.Is(err, sdk.ErrNotFound):
		return broken(op, err.Error()+": create it again"), nil
	case err != nil:
		return watcher.Outcome{}, err
	case l.image != r.image && l.image != r.old:
		return r.overtaken(l), nil
	}
	for i, s := range op.Steps {
		if s.ID == r.returning().ID && i > 0 {
			reason := watcher.Reason{Code: watcher.ReasonInterrupted, Text: "it was interrupted while it returned to the old image"}
			if before := op.Steps[i-1]; before.Error != "" {
				reason = watcher.Reason{Code: "step." + before.Code, Text: before.Error}
			}
			return r.rollBack(ctx, reason)
		}
	}
	if l.image == r.old {
		return unchanged(op, watcher.ReasonInterrupted, "it was interrupted before the cluster had the new image"), nil
	}
	return r.finish(ctx, op.Plan.Steps[min(1, len(op.Plan.Steps)):], nil)
}

// rollout is an update of a workload that is carried out.
type rollout struct {
	*Kubernetes
	target  target
	op      watcher.Operation
	journal watcher.Journal
	// old and image are the image of the container before and after, as the workload has them.
	old, image string
}

// begin reads the workload of an operation.
func (k *Kubernetes) begin(ctx context.Context, op watcher.Operation, journal watcher.Journal) (*rollout, live, error) {
	t, err := k.target(op.Request.ContainerID)
	if err == nil && objectKinds[t.kind] == "" {
		err = sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("%s is no workload", t.name()))
	}
	if err != nil {
		return nil, live{}, err
	}
	old := op.Plan.From.Reference
	if ref, err := reference.Split(old); err == nil && op.Plan.From.Digest != "" {
		ref.Digest = op.Plan.From.Digest
		old = ref.String()
	}
	image, err := imageOf(old, op.Request.Image)
	if err != nil {
		return nil, live{}, sdk.Invalid("", "%v", err)
	}
	l, err := k.live(ctx, t)
	return &rollout{Kubernetes: k, target: t, op: op, journal: journal, old: old, image: image}, l, err
}

// patchTries is how often a change is tried of a workload to whose status the cluster writes meanwhile.
const patchTries = 10

// patch gives the container of a workload an image, again with its newest version where nothing that counts has changed
// since it was read. The error is an sdk.ErrUnavailable where it is not known whether the change has arrived.
func (r *rollout) patch(ctx context.Context, l live, image string) error {
	if !r.options.Update {
		return errors.New("this watcher only reads: set its option update to true to let it update workloads")
	}
	for try := 1; ; try++ {
		err := denial(r.client.Apply(ctx, l.resource, l.workload, l.application(image)))
		if !errors.Is(err, cluster.ErrConflict) || try == patchTries {
			return err
		}
		if err := backoff.Wait(ctx, r.poll/4); err != nil {
			return err
		}
		now, failed := r.live(ctx, r.target)
		if failed != nil {
			return failed
		}
		if now.state() != l.state() || now.keeper() != l.keeper() {
			return fmt.Errorf("%s was changed at the same time by %s: plan again", r.op.Plan.Name, now.setter())
		}
		l = now
	}
}

// setter names who set the image last, as far as the cluster tells.
func (l live) setter() string {
	if all := l.setters(); len(all) > 0 {
		return all[len(all)-1].Manager
	}
	return "another client"
}

// finish watches a rollout to its end, and returns to the old image where it does not succeed. Without a step there is
// nothing to watch. before is how the rollout before had failed; nil for not.
func (r *rollout) finish(
	ctx context.Context, steps []watcher.Step, before *cluster.Condition,
) (watcher.Outcome, error) {
	done := watcher.Outcome{State: watcher.Updated, ContainerID: r.op.Request.ContainerID}
	if len(steps) == 0 {
		return done, nil
	}
	s := steps[0]
	failed, err := orchestrated.Watch(ctx, r.journal, s, func() error { return r.converge(ctx, r.image, before) })
	if err != nil {
		return watcher.Outcome{}, err
	}
	var other *overtakenError
	switch {
	case failed == nil:
		return done, nil
	case errors.As(failed, &other) && other.by.image != r.old:
		return r.overtaken(other.by), nil
	case errors.Is(failed, sdk.ErrNotFound):
		return broken(r.op, failed.Error()+": create it again"), nil
	}
	return r.rollBack(ctx, orchestrated.Reason(s, failed))
}

// returning is the step that returns to the old image.
func (r *rollout) returning() watcher.Step {
	name := r.op.Plan.Name
	return watcher.Step{
		ID: "rollback:" + name, Code: watcher.StepRollout, Container: name,
		Text: fmt.Sprintf("have Kubernetes return %s to %s", name, readable(r.old)),
	}
}

// rollBack applies the old image, if the workload has the new one, and waits until all pods run it.
func (r *rollout) rollBack(ctx context.Context, reason watcher.Reason) (watcher.Outcome, error) {
	evidence := r.evidence(ctx)
	l, err := r.live(ctx, r.target)
	switch {
	case errors.Is(err, sdk.ErrNotFound):
		return broken(r.op, err.Error()+": create it again"), nil
	case err != nil:
		return watcher.Outcome{}, err
	case l.image != r.image && l.image != r.old:
		return r.overtaken(l), nil
	}
	failed := func(format string, args ...any) (watcher.Outcome, error) {
		out := broken(r.op, reason.Text+"; and "+fmt.Sprintf(format, args...))
		out.Evidence = evidence
		return out, nil
	}
	if l.image != r.old {
		step := r.returning()
		if err := r.journal.Begin(ctx, step); err != nil && !errors.Is(err, watcher.ErrStop) {
			return watcher.Outcome{}, err
		}
		err := r.patch(ctx, l, r.old)
		if ctx.Err() != nil || errors.Is(err, sdk.ErrUnavailable) {
			return watcher.Outcome{}, errors.Join(err, ctx.Err())
		}
		if failed := r.journal.End(ctx, step, nil, err); failed != nil {
			return watcher.Outcome{}, failed
		}
		if err != nil {
			return failed("it did not return to the old image: %s", sentence(err))
		}
	}
	err = r.converge(ctx, r.old, l.gaveUp())
	switch {
	case ctx.Err() != nil:
		return watcher.Outcome{}, ctx.Err()
	case err != nil && r.target.kind == "statefulset":
		return failed("the old image does not run either: %v; delete the pod that does not start, which a StatefulSet does not replace by itself", err)
	case err != nil:
		return failed("the old image does not run either: %v", err)
	}
	return watcher.Outcome{
		State: watcher.RolledBack, Reason: reason, ContainerID: r.op.Request.ContainerID, Evidence: evidence,
	}, nil
}

// overtaken is the outcome where another client gave the workload an image of its own.
func (r *rollout) overtaken(l live) watcher.Outcome {
	return broken(r.op, fmt.Sprintf("%s changed %s to %s meanwhile, and it was left as it is: check it",
		l.setter(), r.op.Plan.Name, readable(l.image)))
}

func unchanged(op watcher.Operation, code, text string) watcher.Outcome {
	return orchestrated.Ended(op, watcher.Unchanged, code, text)
}

func broken(op watcher.Operation, text string) watcher.Outcome {
	return orchestrated.Ended(op, watcher.Broken, "workload", text)
}
