package update

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

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

// inOrder returns the containers that an operation replaces, the updated one first
// and each after those that it depends on.
func inOrder(p watcher.Plan) []watcher.Dependent {
	all := append([]watcher.Dependent{{Name: p.Name, ContainerID: p.ContainerID, Action: watcher.StepCreate}},
		p.Dependents...)
	return slices.DeleteFunc(all, func(d watcher.Dependent) bool { return d.Action != watcher.StepCreate })
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

// lostNew is the code of a new container that another client has removed.
const lostNew = "new.missing"

func removedMeanwhile(name string) *coded {
	return &coded{lostNew, "another client has removed the new " + name}
}

// present returns the new container in the place of the one called name, whatever its name is
// by now. A coded error says that it was removed.
func (r *replacement) present(ctx context.Context, name string) (container.InspectResponse, error) {
	c, err := r.engine.Container(ctx, r.new(name))
	if engine.HasStatus(err, http.StatusNotFound) {
		return c, removedMeanwhile(name)
	}
	return c, err
}

// stays looks at a new container a last time before the old one is removed. A coded error says
// that it was removed, or that it does not run any more.
func (r *replacement) stays(ctx context.Context, name string) error {
	c, err := r.present(ctx, name)
	if err != nil || replace.Statuses(r.op.Plan)[name] == replace.Stopped || r.loops(name) {
		return err
	}
	return alive(c)
}

// keepUp makes a new container run, or pauses it, if its status is another one. A coded
// error says why one that did not run does not stay up.
func (r *replacement) keepUp(ctx context.Context, c container.InspectResponse, status replace.Status) error {
	name, before := strings.TrimPrefix(c.Name, "/"), replace.Container{InspectResponse: c}.Status()
	if err := r.startAgain(ctx, c, status); err != nil {
		if engine.IsResponse(err) {
			return &coded{exited, "the new " + name + " does not start any more: " + err.Error()}
		}
		return err
	}
	if status == replace.Stopped || before != replace.Stopped && (c.State == nil || !c.State.Restarting) {
		return nil
	}
	if err := pause(ctx, r.Liveness); err != nil {
		return err
	}
	c, err := r.engine.Container(ctx, c.ID)
	if engine.HasStatus(err, http.StatusNotFound) {
		return &coded{watcher.ReasonInterrupted, "the new " + name + " was removed by another client"}
	}
	if err != nil {
		return err
	}
	var ended *coded
	if errors.As(alive(container.InspectResponse{ContainerJSONBase: &container.ContainerJSONBase{State: c.State}}),
		&ended) {
		return &coded{exited, fmt.Sprintf("the new %s does not stay up any more: %v", name, ended)}
	}
	return nil
}
