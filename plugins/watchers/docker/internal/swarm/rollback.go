package swarm

import (
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// rollBack has the swarm return to the old image, if it has not begun to by itself, and waits until it has.
func (r *rollout) rollBack(ctx context.Context, reason watcher.Reason) (watcher.Outcome, error) {
	evidence := r.evidence(ctx)
	service, err := r.engine.Service(ctx, r.op.Request.ContainerID)
	if err != nil {
		return watcher.Outcome{}, err
	}
	if imageIn(service) == r.image {
		name := r.op.Plan.Name
		step := watcher.Step{
			ID: "rollback:" + name, Code: watcher.StepRollout, Container: name,
			Text: fmt.Sprintf("have the swarm return %s to %s", name, readable(r.old)),
		}
		if err := r.journal.Begin(ctx, step); err != nil && !errors.Is(err, watcher.ErrStop) {
			return watcher.Outcome{}, err
		}
		err := r.inSequence(ctx, service, func(s engine.Service) error { return r.engine.RollBackService(ctx, s) })
		if ctx.Err() != nil || err != nil && !engine.IsResponse(err) {
			return watcher.Outcome{}, errors.Join(err, ctx.Err())
		}
		if failed := r.journal.End(ctx, step, nil, err); failed != nil {
			return watcher.Outcome{}, failed
		}
		if err != nil {
			out := broken(r.op, fmt.Sprintf("%s; and it did not return to the old image: %v", reason.Text, err))
			out.Evidence = evidence
			return out, nil
		}
	}
	return r.awaitRollback(ctx, reason, evidence)
}

// awaitRollback waits until all tasks run the old image again.
func (r *rollout) awaitRollback(
	ctx context.Context, reason watcher.Reason, evidence *watcher.Evidence,
) (watcher.Outcome, error) {
	err := r.converge(ctx, r.old)
	if ctx.Err() != nil {
		return watcher.Outcome{}, ctx.Err()
	}
	if err != nil {
		out := broken(r.op, fmt.Sprintf("%s; and the old image does not run either: %v", reason.Text, err))
		out.Evidence = evidence
		return out, nil
	}
	return watcher.Outcome{
		State: watcher.RolledBack, Reason: reason, ContainerID: r.op.Request.ContainerID, Evidence: evidence,
	}, nil
}
