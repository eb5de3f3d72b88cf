package update

import (
	"context"
	"errors"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Apply implements watcher.Updater.
func (u *Updater) Apply(ctx context.Context, op watcher.Operation, journal watcher.Journal) (watcher.Outcome, error) {
	f, err := u.collect(ctx, op.Request.ContainerID)
	if errors.Is(err, sdk.ErrNotFound) {
		return unchanged(op, replace.BlockChanged, "the container does not exist any more: list again"), nil
	}
	if err != nil {
		return watcher.Outcome{}, err
	}
	op.Request.Rules = u.allowed(op.Request.Rules)
	if op.Request.Image, err = u.available(ctx, op.Request.Image); err != nil {
		return watcher.Outcome{}, err
	}
	if err := u.withCompose(ctx, &f, op.Request); err != nil {
		return watcher.Outcome{}, err
	}
	if err := u.withQuadlet(ctx, &f, op.Request); err != nil {
		return watcher.Outcome{}, err
	}
	plan := replace.Plan(f, op.Request)
	switch {
	case len(plan.Blocks) > 0:
		return unchanged(op, plan.Blocks[0].Code, plan.Blocks[0].Text), nil
	case plan.State != op.Plan.State:
		return unchanged(op, replace.BlockChanged,
			plan.Name+" or what depends on it changed since this was planned: plan again"), nil
	}
	r, err := u.begin(f, op, journal)
	if err != nil {
		return unchanged(op, replace.BlockImage, err.Error()), nil
	}
	defer u.predecessors.Begin(op, r.old)()
	r.files = f.Compose
	r.composeHash(ctx)
	if replace.NeedsHelper(f) {
		out, err := r.handOver(ctx, f, plan)
		return r.uneditUnlessUpdated(ctx, out, err)
	}
	committed := false
	for _, s := range plan.Steps {
		err := r.step(ctx, s)
		var lost *coded // the new container, before the old one was removed
		gaveUp := errors.Is(err, watcher.ErrStop) || errors.As(err, &lost)
		committed = s.Code == watcher.StepRemove && !gaveUp || committed && lost == nil
		var gone *journalError
		switch {
		case err == nil:
		case ctx.Err() != nil, errors.As(err, &gone), committed && s.Code == watcher.StepRemove && !engine.IsResponse(err):
			return watcher.Outcome{}, err // Recover takes the steps that are left, where the engine went away, too
		case committed, s.Code == watcher.StepPrune, s.Code == watcher.StepRestart && !errors.Is(err, watcher.ErrStop):
			r.warn(s, err)
		case harmless(s): // a file that could not be edited is as it was
			return unchanged(op, reasonCode(s, err), err.Error()), nil
		default:
			return r.rollBack(ctx, s, err)
		}
	}
	if op.Request.Rules.DryRun {
		return unchanged(op, "dryrun", "the image was pulled, and "+plan.Name+" was left as it is (dryrun)"), nil
	}
	return r.updated(ctx)
}

// begin makes the specs of all containers that are created, before any name changes.
func (u *Updater) begin(f replace.Facts, op watcher.Operation, journal watcher.Journal) (*replacement, error) {
	reference, err := target(f.Target.Config.Image, op.Request.Image)
	if err != nil {
		return nil, err
	}
	r := &replacement{
		Updater: u, op: op, journal: journal, target: reference, imageID: op.Request.Image.ID,
		old:   map[string]replace.Container{f.Target.Name(): f.Target},
		specs: map[string]replace.Spec{}, stopping: map[string]bool{}, created: map[string]string{},
		machine: u.machine(f),
	}
	spec := replace.Make(f.Target, f.Engine, reference, r.imageID)
	var predecessors []string
	for _, b := range f.Backups {
		predecessors = append(predecessors, b.ContainerID)
	}
	if op.Request.Rules.Keep > 0 {
		predecessors = append(predecessors, f.Target.ID)
	}
	spec.Succeed(predecessors)
	r.specs[f.Target.Name()] = spec
	following := replace.Following(f)
	for _, c := range f.Others {
		if following[c.ID] {
			r.old[c.Name()] = c
			r.specs[c.Name()] = replace.Make(c, f.Engine, c.Config.Image, c.InspectResponse.Image)
		}
	}
	return r, nil
}
