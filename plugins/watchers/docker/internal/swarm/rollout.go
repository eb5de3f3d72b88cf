package swarm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Apply implements watcher.Updater.
func (s *Swarm) Apply(ctx context.Context, op watcher.Operation, journal watcher.Journal) (watcher.Outcome, error) {
	service, err := s.engine.Service(ctx, op.Request.ContainerID)
	if errors.Is(err, sdk.ErrNotFound) {
		return unchanged(op, BlockChanged, "the service does not exist any more: list again"), nil
	}
	if err != nil {
		return watcher.Outcome{}, err
	}
	plan := s.plan(service, op.Request)
	switch {
	case plan.State != op.Plan.State:
		return unchanged(op, BlockChanged, plan.Name+" changed since this was planned: plan again"), nil
	case len(plan.Blocks) > 0:
		return unchanged(op, plan.Blocks[0].Code, plan.Blocks[0].Text), nil
	case op.Request.Rules.DryRun:
		return unchanged(op, "dryrun", plan.Name+" was left as it is (dryrun)"), nil
	}
	r, err := s.newRollout(service.Spec.TaskTemplate.ContainerSpec.Image, op, journal)
	if err != nil {
		return unchanged(op, BlockImage, err.Error()), nil
	}
	first := plan.Steps[0]
	if err := journal.Begin(ctx, first); errors.Is(err, watcher.ErrStop) {
		return unchanged(op, watcher.ReasonCancelled, "it was cancelled before anything was changed"), nil
	} else if err != nil {
		return watcher.Outcome{}, err
	}
	err = s.inSequence(ctx, service, func(now engine.Service) error {
		spec, err := withImage(now.Source, r.image)
		if err != nil {
			return err
		}
		return s.engine.UpdateService(ctx, now, spec, op.Request.Credentials)
	})
	if ctx.Err() != nil || err != nil && !engine.IsResponse(err) {
		return watcher.Outcome{}, errors.Join(err, ctx.Err()) // it may have arrived
	}
	if failed := journal.End(ctx, first, nil, err); failed != nil {
		return watcher.Outcome{}, failed
	}
	if err != nil {
		return unchanged(op, "step."+first.Code, err.Error()), nil
	}
	return r.finish(ctx, plan.Steps[1])
}

// Recover implements watcher.Updater: it watches a rollout to its end that is under way.
func (s *Swarm) Recover(ctx context.Context, op watcher.Operation, journal watcher.Journal) (watcher.Outcome, error) {
	if len(op.Steps) == 0 {
		return unchanged(op, watcher.ReasonInterrupted, "it was interrupted before anything was changed"), nil
	}
	service, err := s.engine.Service(ctx, op.Request.ContainerID)
	switch {
	case errors.Is(err, sdk.ErrNotFound):
		return broken(op, op.Plan.Name+" was removed meanwhile: create it again"), nil
	case err != nil:
		return watcher.Outcome{}, err
	}
	r, err := s.newRollout(before(op), op, journal)
	if err != nil {
		return unchanged(op, BlockImage, err.Error()), nil
	}
	switch current := imageIn(service); {
	case current == r.image:
		return r.finish(ctx, op.Plan.Steps[len(op.Plan.Steps)-1])
	case current != r.old:
		return r.overtaken(current), nil
	case service.UpdateStatus != nil && isRollback(service.UpdateStatus.State):
		return r.awaitRollback(ctx, watcher.Reason{
			Code: watcher.ReasonInterrupted, Text: "the swarm returned to the old image while the update was interrupted",
		}, nil)
	}
	return unchanged(op, watcher.ReasonInterrupted, "it was interrupted before the swarm had the new image"), nil
}

// rollout is an update of a service that is carried out.
type rollout struct {
	*Swarm
	op      watcher.Operation
	journal watcher.Journal
	// old and image are the image of the service before and after, as its specification has them.
	old, image string
}

func (s *Swarm) newRollout(old string, op watcher.Operation, journal watcher.Journal) (*rollout, error) {
	image, err := imageOf(old, op.Request.Image)
	return &rollout{Swarm: s, op: op, journal: journal, old: old, image: image}, err
}

// before is the image that the service of an operation had, from its plan.
func before(op watcher.Operation) string {
	from := op.Plan.From
	ref, err := engine.ParseReference(from.Reference)
	if err != nil || from.Digest == "" {
		return from.Reference
	}
	ref.Digest = from.Digest
	return ref.String()
}

// finish watches a rollout to its end, and has the swarm return to the old image where it does not succeed.
func (r *rollout) finish(ctx context.Context, s watcher.Step) (watcher.Outcome, error) {
	failed, err := orchestrated.Watch(ctx, r.journal, s, func() error { return r.converge(ctx, r.image) })
	if err != nil {
		return watcher.Outcome{}, err
	}
	var other *overtakenError
	switch {
	case failed == nil:
		return watcher.Outcome{State: watcher.Updated, ContainerID: r.op.Request.ContainerID}, nil
	case errors.As(failed, &other) && other.image != r.old:
		return r.overtaken(other.image), nil
	case errors.Is(failed, sdk.ErrNotFound):
		return broken(r.op, r.op.Plan.Name+" was removed meanwhile: create it again"), nil
	}
	return r.rollBack(ctx, orchestrated.Reason(s, failed))
}

// sequenceTries is how often a change of a service is tried that the swarm itself writes to meanwhile.
const sequenceTries = 10

// inSequence changes a service, again with its newest version when only the swarm has written to it since it was read,
// as it does while tasks start.
func (s *Swarm) inSequence(ctx context.Context, service engine.Service, change func(engine.Service) error) error {
	for try := 1; ; try++ {
		err := change(service)
		if err == nil || !strings.Contains(err.Error(), "out of sequence") || try == sequenceTries {
			return err
		}
		if err := backoff.Wait(ctx, s.poll/2); err != nil {
			return err
		}
		now, failed := s.engine.Service(ctx, service.ID)
		if failed != nil || state(now) != state(service) {
			return err
		}
		service = now
	}
}

// overtaken is the outcome where another client gave the service an image of its own.
func (r *rollout) overtaken(image string) watcher.Outcome {
	return broken(r.op, fmt.Sprintf("another client updated %s to %s meanwhile, and it was left as it is: check it",
		r.op.Plan.Name, readable(image)))
}

func unchanged(op watcher.Operation, code, text string) watcher.Outcome {
	return orchestrated.Ended(op, watcher.Unchanged, code, text)
}

func broken(op watcher.Operation, text string) watcher.Outcome {
	return orchestrated.Ended(op, watcher.Broken, "service", text)
}

// imageIn is the image that the specification of a service has; "" for none.
func imageIn(service engine.Service) string {
	if spec := service.Spec.TaskTemplate.ContainerSpec; spec != nil {
		return spec.Image
	}
	return ""
}

// withImage returns the specification of a service with another image. Everything else stays as the engine wrote it.
func withImage(spec json.RawMessage, image string) (json.RawMessage, error) {
	value, err := json.Marshal(image)
	if err != nil {
		return nil, err
	}
	return replaced(spec, value, "TaskTemplate", "ContainerSpec", "Image")
}

// replaced returns a JSON object with the value at a path replaced.
func replaced(object, value json.RawMessage, path ...string) (json.RawMessage, error) {
	if len(path) == 0 {
		return value, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, fmt.Errorf("read %s of the service: %w", path[0], err)
	}
	inner, err := replaced(fields[path[0]], value, path[1:]...)
	if err != nil {
		return nil, err
	}
	fields[path[0]] = inner
	return json.Marshal(fields)
}
