package update

import (
	"context"
	"errors"
	"net/http"
	"slices"

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
