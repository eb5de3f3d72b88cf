package update

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
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
	return !slices.ContainsFunc(op.Plan.Steps, func(s watcher.Step) bool { return !trailing(s) && !ended[s.ID] })
}

// resume takes the steps that are left. It returns to the old containers if a new one
// does not run any more, unless some of several may be removed already.
func (r *replacement) resume(ctx context.Context) (watcher.Outcome, error) {
	all := inOrder(r.op.Plan)
	removing := len(all) > 1 &&
		slices.ContainsFunc(r.op.Steps, func(s watcher.StepRecord) bool { return s.Code == watcher.StepRemove })
	for _, c := range all {
		err := r.stillRuns(ctx, c.Name)
		var failed *coded
		switch {
		case err == nil:
		case !errors.As(err, &failed):
			return watcher.Outcome{}, err
		case removing && failed.code == exited:
			r.warn(watcher.Step{Code: watcher.StepStart, Text: "start the new " + c.Name + " again"}, err)
		default:
			return r.rollBack(ctx, watcher.Step{Code: watcher.ReasonInterrupted}, err)
		}
	}
	r.ensureEdited()
	done := map[string]bool{}
	for _, s := range r.op.Steps {
		done[s.ID] = s.Ended && s.Error == ""
	}
	for _, s := range r.op.Plan.Steps {
		if !trailing(s) || done[s.ID] {
			continue
		}
		err := r.step(ctx, s)
		var gone *journalError
		switch {
		case ctx.Err() != nil, errors.As(err, &gone), errors.Is(err, watcher.ErrStop):
			return watcher.Outcome{}, err
		case err != nil && !engine.HasStatus(err, http.StatusNotFound):
			r.warn(s, err)
		}
	}
	return r.updated(ctx)
}

// stillRuns checks a new container that worked when the operation was interrupted. An
// engine that was killed meanwhile may have left it stopped, then it is started again.
// A coded error says why it is not there, or does not stay up.
func (r *replacement) stillRuns(ctx context.Context, name string) error {
	status := replace.Statuses(r.op.Plan)[name]
	c, err := r.present(ctx, name)
	if err != nil || status == replace.Stopped {
		return err
	}
	return r.keepUp(ctx, c, status)
}
