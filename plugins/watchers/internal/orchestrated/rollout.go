package orchestrated

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Live is a workload as its cluster had it when it was read.
type Live interface {
	// Image is that of the container which is updated.
	Image() string
	// Setter names who has set it last, as far as the cluster tells: "kubectl-edit", "another client".
	Setter() string
}

// Workload is what holds the container that is updated: a Deployment, or a job.
type Workload[L Live] interface {
	// Read asks the cluster for it. The error is an sdk.ErrNotFound where it, or its container, does not exist.
	Read(ctx context.Context) (L, error)
	// Plan plans the update anew, without a request.
	Plan(l L) watcher.Plan
	// Set gives it an image, unless it has been changed since it was read. The error is an sdk.ErrUnavailable where it
	// is not known whether the change has arrived.
	Set(ctx context.Context, l L, image string) error
	// Converge waits until all runs an image. before is how it was before it had that; nil for not known. The error says
	// why it does not, and is an *OvertakenError where it has another image.
	Converge(ctx context.Context, image string, before *L) error
	// Evidence is what the cluster knows of the newest instance that has an image and does not work; nil for none.
	Evidence(ctx context.Context, image string) *watcher.Evidence
}

// Task is one operation on a workload.
type Task struct {
	Op      watcher.Operation
	Journal watcher.Journal
	// Old and Image are the image of the container before and after, as the workload has them.
	Old, Image string
}

// Updater carries out operations: it is a watcher.Updater but for the plan.
type Updater[L Live] struct {
	// Cluster is the name of what carries them out: "Kubernetes".
	Cluster string
	// Workload returns what holds the container of an operation.
	Workload func(Task) Workload[L]
}

// Apply implements watcher.Updater. Where the rollout does not succeed, the image of before is set.
func (u Updater[L]) Apply(
	ctx context.Context, op watcher.Operation, journal watcher.Journal,
) (watcher.Outcome, error) {
	r, err := u.rollout(op, journal)
	if err != nil {
		return watcher.Outcome{}, err
	}
	return r.apply(ctx)
}

// Recover implements watcher.Updater: it watches a rollout to its end that is under way, or goes on to return.
func (u Updater[L]) Recover(
	ctx context.Context, op watcher.Operation, journal watcher.Journal,
) (watcher.Outcome, error) {
	r, err := u.rollout(op, journal)
	if err != nil {
		return watcher.Outcome{}, err
	}
	return r.recover(ctx)
}

func (u Updater[L]) rollout(op watcher.Operation, journal watcher.Journal) (*rollout[L], error) {
	old := op.Plan.From.Reference
	if ref, err := reference.Split(old); err == nil && op.Plan.From.Digest != "" {
		ref.Digest = op.Plan.From.Digest
		old = ref.String()
	}
	image, err := ImageOf(old, op.Request.Image)
	if err != nil {
		return nil, sdk.Invalid("", "%v", err)
	}
	t := Task{Op: op, Journal: journal, Old: old, Image: image}
	return &rollout[L]{Task: t, Workload: u.Workload(t), cluster: u.Cluster}, nil
}

// rollout is an operation that is carried out.
type rollout[L Live] struct {
	Task
	Workload[L]
	cluster string
}

// OvertakenError says that a workload has another image than the one that is waited for.
type OvertakenError[L Live] struct {
	By   L
	Name string
}

func (e *OvertakenError[L]) Error() string {
	return fmt.Sprintf("%s changed %s to %s", e.By.Setter(), e.Name, Readable(e.By.Image()))
}

func (r *rollout[L]) apply(ctx context.Context) (watcher.Outcome, error) {
	l, err := r.Read(ctx)
	if errors.Is(err, sdk.ErrNotFound) {
		return r.unchanged(BlockChanged, err.Error()+": list again"), nil
	}
	if err != nil {
		return watcher.Outcome{}, err
	}
	plan := r.Plan(l)
	switch {
	case l.Image() != r.Old:
		return r.unchanged(BlockChanged, fmt.Sprintf("%s was changed to %s since this was planned: plan again", plan.Name, Readable(l.Image()))), nil
	case len(plan.Blocks) > 0:
		return r.unchanged(plan.Blocks[0].Code, plan.Blocks[0].Text), nil
	case plan.State != r.Op.Plan.State:
		return r.unchanged(BlockChanged, plan.Name+" changed since this was planned: plan again"), nil
	case r.Op.Request.Rules.DryRun:
		return r.unchanged("dryrun", plan.Name+" was left as it is (dryrun)"), nil
	}
	first := plan.Steps[0]
	if err := r.Journal.Begin(ctx, first); errors.Is(err, watcher.ErrStop) {
		return r.unchanged(watcher.ReasonCancelled, "it was cancelled before anything was changed"), nil
	} else if err != nil {
		return watcher.Outcome{}, err
	}
	err = r.Set(ctx, l, r.Image)
	if ctx.Err() != nil || errors.Is(err, sdk.ErrUnavailable) {
		return watcher.Outcome{}, errors.Join(err, ctx.Err()) // it may have arrived
	}
	if failed := r.Journal.End(ctx, first, nil, err); failed != nil {
		return watcher.Outcome{}, failed
	}
	if err != nil {
		return r.unchanged("step."+first.Code, Sentence(err)), nil
	}
	return r.finish(ctx, plan.Steps[1:], &l)
}

func (r *rollout[L]) recover(ctx context.Context) (watcher.Outcome, error) {
	if len(r.Op.Steps) == 0 {
		return r.unchanged(watcher.ReasonInterrupted, "it was interrupted before anything was changed"), nil
	}
	l, err := r.Read(ctx)
	switch {
	case errors.Is(err, sdk.ErrNotFound):
		return r.broken(err.Error() + ": create it again"), nil
	case err != nil:
		return watcher.Outcome{}, err
	case l.Image() != r.Image && l.Image() != r.Old:
		return r.overtaken(l), nil
	}
	for i, s := range r.Op.Steps {
		if s.ID == r.returning().ID && i > 0 {
			reason := watcher.Reason{Code: watcher.ReasonInterrupted, Text: "it was interrupted while it returned to the old image"}
			if before := r.Op.Steps[i-1]; before.Error != "" {
				reason = watcher.Reason{Code: "step." + before.Code, Text: before.Error}
			}
			return r.rollBack(ctx, reason)
		}
	}
	if l.Image() == r.Old {
		return r.unchanged(watcher.ReasonInterrupted, "it was interrupted before the cluster had the new image"), nil
	}
	return r.finish(ctx, r.Op.Plan.Steps[min(1, len(r.Op.Plan.Steps)):], nil)
}

// finish watches a rollout to its end, and returns to the old image where it does not succeed. Without a step there is
// nothing to watch.
func (r *rollout[L]) finish(ctx context.Context, steps []watcher.Step, before *L) (watcher.Outcome, error) {
	done := watcher.Outcome{State: watcher.Updated, ContainerID: r.Op.Request.ContainerID}
	if len(steps) == 0 {
		return done, nil
	}
	failed, err := Watch(ctx, r.Journal, steps[0], func() error { return r.Converge(ctx, r.Image, before) })
	if err != nil {
		return watcher.Outcome{}, err
	}
	var other *OvertakenError[L]
	switch {
	case failed == nil:
		return done, nil
	case errors.As(failed, &other) && other.By.Image() != r.Old:
		return r.overtaken(other.By), nil
	case errors.Is(failed, sdk.ErrNotFound):
		return r.broken(failed.Error() + ": create it again"), nil
	}
	return r.rollBack(ctx, Reason(steps[0], failed))
}

// returning is the step that returns to the old image.
func (r *rollout[L]) returning() watcher.Step {
	name := r.Op.Plan.Name
	return watcher.Step{
		ID: "rollback:" + name, Code: watcher.StepRollout, Container: name,
		Text: fmt.Sprintf("have %s return %s to %s", r.cluster, name, Readable(r.Old)),
	}
}

// rollBack sets the old image, if the workload has the new one, and waits until all runs it.
func (r *rollout[L]) rollBack(ctx context.Context, reason watcher.Reason) (watcher.Outcome, error) {
	evidence := r.evidence(ctx)
	l, err := r.Read(ctx)
	switch {
	case errors.Is(err, sdk.ErrNotFound):
		return r.broken(err.Error() + ": create it again"), nil
	case err != nil:
		return watcher.Outcome{}, err
	case l.Image() != r.Image && l.Image() != r.Old:
		return r.overtaken(l), nil
	}
	failed := func(format string, args ...any) (watcher.Outcome, error) {
		out := r.broken(reason.Text + "; and " + fmt.Sprintf(format, args...))
		out.Evidence = evidence
		return out, nil
	}
	if l.Image() != r.Old {
		step := r.returning()
		if err := r.Journal.Begin(ctx, step); err != nil && !errors.Is(err, watcher.ErrStop) {
			return watcher.Outcome{}, err
		}
		err := r.Set(ctx, l, r.Old)
		if ctx.Err() != nil || errors.Is(err, sdk.ErrUnavailable) {
			return watcher.Outcome{}, errors.Join(err, ctx.Err())
		}
		if failed := r.Journal.End(ctx, step, nil, err); failed != nil {
			return watcher.Outcome{}, failed
		}
		if err != nil {
			return failed("it did not return to the old image: %s", Sentence(err))
		}
	}
	err = r.Converge(ctx, r.Old, &l)
	if ctx.Err() != nil {
		return watcher.Outcome{}, ctx.Err()
	}
	if err != nil {
		return failed("the old image does not run either: %v", err)
	}
	return watcher.Outcome{
		State: watcher.RolledBack, Reason: reason, ContainerID: r.Op.Request.ContainerID, Evidence: evidence,
	}, nil
}

// EvidenceLines is how many lines of the end of a log are read.
const EvidenceLines = 50

// evidenceTime is how long a rollback waits at most for what the cluster knows of what failed.
const evidenceTime = 5 * time.Second

func (r *rollout[L]) evidence(ctx context.Context) *watcher.Evidence {
	ctx, cancel := context.WithTimeout(ctx, evidenceTime)
	defer cancel()
	return r.Evidence(ctx, r.Image)
}

// overtaken is the outcome where another client gave the workload an image of its own.
func (r *rollout[L]) overtaken(l L) watcher.Outcome {
	return r.broken(fmt.Sprintf("%s changed %s to %s meanwhile, and it was left as it is: check it",
		l.Setter(), r.Op.Plan.Name, Readable(l.Image())))
}

func (r *rollout[L]) unchanged(code, text string) watcher.Outcome {
	return Ended(r.Op, watcher.Unchanged, code, text)
}

func (r *rollout[L]) broken(text string) watcher.Outcome {
	return Ended(r.Op, watcher.Broken, "workload", text)
}

// Sentence is an error with its remedy.
func Sentence(err error) string {
	if remedy := sdk.Remedy(err); remedy != "" {
		return err.Error() + "; " + remedy
	}
	return err.Error()
}
