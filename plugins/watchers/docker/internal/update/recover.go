package update

import (
	"context"
	"errors"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Recover implements watcher.Updater. Once all new containers worked it finishes
// forward; before that it returns to the old ones. What is true is what the engine says.
func (u *Updater) Recover(ctx context.Context, op watcher.Operation, journal watcher.Journal) (watcher.Outcome, error) {
	r := &replacement{
		Updater: u, op: op, journal: journal, imageID: op.Request.Image.ID,
		created: map[string]string{}, old: map[string]replace.Container{}, stopping: map[string]bool{},
	}
	var err error
	if r.files, err = replace.ComposeOf(op.Plan); err != nil {
		return watcher.Outcome{}, err
	}
	if r.files.Recreates() || !r.files.Edit.Empty() {
		all, err := u.engine.Containers(ctx, true)
		if err != nil {
			return watcher.Outcome{}, err
		}
		r.files.Guard = u.composeGuard(u.self(ctx, all), all)
	}
	r.editBegun = edited(op)
	changed := r.remember()
	defer u.predecessors.Begin(op, r.old)()
	if handedOver(op.Plan) {
		out, err := r.recoverHandover(ctx)
		return r.uneditUnlessUpdated(ctx, out, err)
	}
	if !changed {
		out := unchanged(op, watcher.ReasonInterrupted,
			"the update of "+op.Plan.Name+" was interrupted before its container was changed")
		err := r.unedit(ctx, &out)
		return out, err
	}
	reference, err := target(op.Plan.From.Reference, op.Request.Image)
	if err != nil {
		return watcher.Outcome{}, err
	}
	r.target = reference
	if worked(op) {
		return r.resume(ctx)
	}
	return r.rollBack(ctx, watcher.Step{Code: watcher.ReasonInterrupted}, errors.New("the update was interrupted"))
}

// remember takes what the steps noted, and reports whether they changed anything of the containers.
func (r *replacement) remember() (changed bool) {
	policies := replace.RestartPolicies(r.op.Plan)
	for name, id := range recreated(r.op.Plan) {
		base := container.ContainerJSONBase{ID: id}
		if policy, known := policies[name]; known {
			base.HostConfig = &container.HostConfig{RestartPolicy: policy}
		}
		r.old[name] = replace.Container{InspectResponse: container.InspectResponse{ContainerJSONBase: &base}}
	}
	for _, s := range r.op.Steps {
		changed = changed || !harmless(s.Step)
		r.noteStop(s)
		r.restarting = r.restarting || s.Code == watcher.StepCreate
		if s.Facts[factPrevious] != "" {
			r.previous = s.Facts[factPrevious]
		}
		if s.Facts[factImage] != "" {
			r.imageID = s.Facts[factImage]
		}
		if s.Facts[factNew] != "" {
			r.created[r.old[s.Container].ID] = s.Facts[factNew]
		}
	}
	return changed
}

// worked reports whether all new containers worked when the operation was
// interrupted. One that began to return to the old container goes on with that.
func worked(op watcher.Operation) bool {
	ended := map[string]bool{}
	for _, s := range op.Steps {
		if strings.HasPrefix(s.ID, rollBackPrefix) {
			return false
		}
		ended[s.ID] = s.Ended && s.Error == ""
	}
	for _, s := range op.Plan.Steps {
		if !trailing(s) && !ended[s.ID] {
			return false
		}
	}
	return true
}
