package update

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// why says what failed. That it was waited for says nothing of a new container that does not work.
func (r *replacement) why(failed watcher.Step, cause error) string {
	doing := failed.Text
	if failed.Code == watcher.StepHealth {
		doing = failed.Container
		if doing == r.op.Plan.Name {
			doing = "" // an update says whose it is
		}
	}
	return strings.TrimPrefix(doing+": ", ": ") + cause.Error()
}

// rollBack returns to the old containers, the updated one first since the others depend on it.
func (r *replacement) rollBack(ctx context.Context, failed watcher.Step, cause error) (watcher.Outcome, error) {
	out := watcher.Outcome{
		State: watcher.RolledBack, ContainerID: r.op.Plan.ContainerID, Warnings: r.warnings,
		Reason: watcher.Reason{Code: reasonCode(failed, cause), Text: r.why(failed, cause)},
	}
	if failed.Code == watcher.ReasonInterrupted {
		out.Reason.Code = failed.Code
	}
	out.Evidence = r.evidence(ctx, failed, cause)
	if r.files.Recreates() {
		return r.rollBackByCommand(ctx, out)
	}
	statuses := replace.Statuses(r.op.Plan)
	for _, d := range inOrder(r.op.Plan) {
		s := watcher.Step{
			ID: rollBackPrefix + d.Name, Code: watcher.StepStart, Container: d.Name, Text: "return to the old " + d.Name,
		}
		if err := r.journal.Begin(ctx, s); err != nil && !errors.Is(err, watcher.ErrStop) {
			return watcher.Outcome{}, &journalError{err}
		}
		failed := r.restore(ctx, d.Name, d.ContainerID, statuses[d.Name])
		if err := r.journal.End(ctx, s, nil, failed); err != nil {
			return watcher.Outcome{}, &journalError{err}
		}
		if ctx.Err() != nil {
			return watcher.Outcome{}, failed
		}
		if failed != nil && !engine.IsResponse(failed) {
			var c *coded
			if !errors.As(failed, &c) {
				return watcher.Outcome{}, failed // the engine is away: Recover tries again
			}
		}
		switch {
		case failed == nil:
		case reasonCode(s, failed) == missing:
			out.State = watcher.Broken
			r.editBegun = r.editBegun && d.Name != r.op.Plan.Name // the new one stays, so its file does too
			out.Reason.Text += "; and " + failed.Error()
		default:
			out.State = watcher.Broken
			out.Reason.Text += fmt.Sprintf("; and the old %s could not be brought back: %v: "+
				"start it under its name %s or %s", d.Name, failed, d.Name, replace.Backup(d.Name, r.op.ID))
		}
	}
	if err := r.unedit(ctx, &out); err != nil {
		return watcher.Outcome{}, err
	}
	if r.previous != "" {
		if err := r.tag(ctx, r.target, r.previous); err != nil {
			r.warn(watcher.Step{Code: watcher.StepCreate, Text: "tag the old image again"}, err)
			out.Warnings = r.warnings
		}
	}
	return out, ctx.Err()
}

// inOrder returns the containers that an operation replaces, the updated one first
// and each after those that it depends on.
func inOrder(p watcher.Plan) []watcher.Dependent {
	all := append([]watcher.Dependent{{Name: p.Name, ContainerID: p.ContainerID, Action: watcher.StepCreate}},
		p.Dependents...)
	return slices.DeleteFunc(all, func(d watcher.Dependent) bool { return d.Action != watcher.StepCreate })
}
