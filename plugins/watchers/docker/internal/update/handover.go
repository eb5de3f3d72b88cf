package update

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Dogwatch replaces its own container, or one that it depends on, by means of a helper
// container. It runs the program that runs now, takes the same steps, and writes each
// into its log, where whichever Dogwatch runs reads them. Nothing else is kept of it.

// Handover is what a helper container is to do. It holds no secret.
type Handover struct {
	Operation string
	Helper    string // its own name
	UserAgent string
	Options   json.RawMessage // of the watcher
	Request   watcher.UpdateRequest
	Plan      watcher.Plan
}

// handoverVariable is the variable of the environment that holds a handover.
const handoverVariable = "DOGWATCH_HANDOVER"

// factOutcome is how the helper says that the operation ended, once that is known.
const factOutcome = "outcome"

// handedOver reports whether a helper carries out a plan.
func handedOver(p watcher.Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s watcher.Step) bool { return s.Code == watcher.StepHandover })
}

const (
	helperPause = 300 * time.Millisecond
	// helperSettle is how long the engine may still be at what a helper that is gone requested.
	helperSettle = 3 * time.Second
	// helperStarts is how often a helper that exited too soon is started again.
	helperStarts = 3
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
