package update

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// ReadHandover reads from the environment what this helper container is to do.
func ReadHandover() (job Handover, err error) {
	if err := json.Unmarshal([]byte(os.Getenv(handoverVariable)), &job); err != nil {
		return job, fmt.Errorf("this is for helper containers of Dogwatch: the variable %s holds no operation: %w",
			handoverVariable, err)
	}
	return job, nil
}

// CarryOut carries out an operation in a helper container, writes its steps and outcome to out, and leaves the
// container to be removed. Run again after a crash it recovers. The error means that it did not finish.
func (u *Updater) CarryOut(ctx context.Context, job Handover, out io.Writer) error {
	u.Whereabouts = func(context.Context, []container.Summary) []string { return nil } // it is no part of what it replaces
	var before []byte
	if err := again(ctx, func() (err error) { before, err = u.engine.Output(ctx, job.Helper); return err }); err != nil {
		return err
	}
	j := &helperJournal{helperLog: readHelper(before), out: out}
	if j.outcome == nil {
		outcome, err := u.carryOut(ctx, job, j)
		if err == nil {
			err = j.write(line{Outcome: &outcome})
		}
		if err != nil {
			return err
		}
	}
	// It has run long enough: the engine is not to start it again.
	policy := map[string]any{"RestartPolicy": container.RestartPolicy{Name: container.RestartPolicyDisabled}}
	return again(ctx, func() error {
		err := u.engine.Post(ctx, "finish "+job.Helper, "/containers/"+job.Helper+"/update", nil, policy, nil)
		if engine.IsResponse(err) { // such as that it is removed already
			return nil
		}
		return err
	})
}

// carryOut applies an operation, and recovers it as often as it takes.
func (u *Updater) carryOut(ctx context.Context, job Handover, j *helperJournal) (out watcher.Outcome, err error) {
	op := watcher.Operation{ID: job.Operation, Request: job.Request, Plan: job.Plan}
	tries := 0
	if len(j.steps) > 0 { // it was started again
		if err := pause(ctx, helperSettle); err != nil {
			return out, err
		}
	}
	err = again(ctx, func() error {
		if len(j.steps) == 0 {
			renamed, err := u.renamed(ctx, job.Plan)
			if err == nil && !renamed {
				out, err = u.Apply(ctx, op, j)
			} else if err == nil { // its log was lost in a crash
				out, err = u.recoverHere(ctx, op, j)
			}
			if tries++; err != nil && tries >= helperTries && len(j.steps) == 0 && !renamed {
				out, err = unchanged(op, "interrupted", "the helper container could not begin: "+err.Error()), nil
			}
			return err
		}
		out, err = u.recoverHere(ctx, op, j)
		return err
	})
	return out, err
}

// renamed reports whether the old container has another name than when it was planned.
func (u *Updater) renamed(ctx context.Context, plan watcher.Plan) (bool, error) {
	c, err := u.engine.Container(ctx, plan.ContainerID)
	if engine.HasStatus(err, http.StatusNotFound) {
		return true, nil
	}
	return err == nil && strings.TrimPrefix(c.Name, "/") != plan.Name, err
}

// recoverHere recovers by what the log of this helper says. The end of that may be
// missing after a crash of the machine, but once the old container is gone the new one works.
func (u *Updater) recoverHere(ctx context.Context, op watcher.Operation, j *helperJournal) (watcher.Outcome, error) {
	_, err := u.engine.Container(ctx, op.Plan.ContainerID)
	if engine.HasStatus(err, http.StatusNotFound) {
		r := &replacement{Updater: u, op: op, journal: j}
		out, err := r.updated(ctx)
		if engine.HasStatus(err, http.StatusNotFound) {
			out.State, err = watcher.Broken, nil
			out.Reason = watcher.Reason{
				Code: "old.missing",
				Text: "neither the old nor the new " + op.Plan.Name + " exists any more: create it with compose",
			}
		}
		return out, err
	}
	if err != nil {
		return watcher.Outcome{}, err
	}
	// That it was handed over has begun it, whatever else is known.
	handover := watcher.StepRecord{Step: watcher.Step{ID: watcher.StepHandover, Code: watcher.StepHandover}, Ended: true}
	op.Steps = append([]watcher.StepRecord{handover}, j.steps...)
	return u.Recover(ctx, op, j)
}
