package update

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// line is a line of a helper's log.
type line struct {
	Begin    *watcher.Step         `json:"begin,omitempty"`
	End      *watcher.StepRecord   `json:"end,omitempty"`
	Progress *watcher.StepProgress `json:"progress,omitempty"`
	Outcome  *watcher.Outcome      `json:"outcome,omitempty"`
}

// helperLog is what a helper's log says.
type helperLog struct {
	steps    []watcher.StepRecord
	progress *watcher.StepProgress // of the step under way
	outcome  *watcher.Outcome      // nil while there is none
}

// readHelper reads a log. Lines that are none of a helper's are left out.
func readHelper(log []byte) helperLog {
	var all helperLog
	for text := range bytes.Lines(log) {
		var l line
		if json.Unmarshal(text, &l) == nil {
			all.add(l)
		}
	}
	return all
}

func (h *helperLog) add(l line) {
	switch {
	case l.Begin != nil:
		h.steps, h.progress = append(h.steps, watcher.StepRecord{Step: *l.Begin}), nil
	case l.End != nil:
		h.progress = nil
		for i := len(h.steps) - 1; i >= 0; i-- {
			if h.steps[i].ID == l.End.ID && !h.steps[i].Ended {
				h.steps[i] = *l.End
				return
			}
		}
	case l.Progress != nil:
		h.progress = l.Progress
	case l.Outcome != nil:
		h.outcome = l.Outcome
	}
}

// tail is the end of a log, for a log.
func tail(log []byte) string {
	const most = 400
	return strings.TrimSpace(string(log[max(0, len(log)-most):]))
}

// helperJournal is the watcher.Journal of a helper: its log.
type helperJournal struct {
	helperLog
	out  io.Writer
	last time.Time // of the last progress
}

func (j *helperJournal) write(l line) error {
	text, err := json.Marshal(l)
	if err == nil {
		_, err = j.out.Write(append(text, '\n'))
	}
	if err == nil {
		j.add(l)
	}
	return err
}

// Begin implements watcher.Journal.
func (j *helperJournal) Begin(ctx context.Context, s watcher.Step) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return j.write(line{Begin: &s})
}

// End implements watcher.Journal.
func (j *helperJournal) End(_ context.Context, s watcher.Step, facts map[string]string, err error) error {
	r := watcher.StepRecord{Step: s, Ended: true, Facts: facts}
	if err != nil {
		r.Error = err.Error()
	}
	return j.write(line{End: &r})
}

// Progress implements watcher.Journal.
func (j *helperJournal) Progress(p watcher.StepProgress) {
	if time.Since(j.last) < time.Second {
		return
	}
	j.last = time.Now()
	_ = j.write(line{Progress: &p}) // which may be lost
}

// helperTries is how often an operation that has changed nothing yet is tried.
const helperTries = 5

// again repeats what fails, until ctx ends: no other process can go on instead.
func again(ctx context.Context, work func() error) error {
	pauses := backoff.Pauses{First: time.Second, Longest: 30 * time.Second}
	for failures := 1; ; failures++ {
		err := work()
		if err == nil {
			return nil
		}
		fmt.Fprintln(os.Stderr, err)
		if stopped := pause(ctx, pauses.After(failures)); stopped != nil {
			return errors.Join(err, stopped)
		}
	}
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
