package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// pollPause is the wait between two looks at operations.
	pollPause = 250 * time.Millisecond
	// looks bounds the operations that are looked at between two pauses: the server
	// carries out two at a time.
	looks = 4
	// maxAway is how long the server may be away, as when it starts again.
	maxAway = time.Minute
)

// operationWait shows the steps of operations until they have ended.
type operationWait struct {
	client  *client
	out     io.Writer
	stderr  io.Writer
	named   bool // whether lines say which container they are about
	line    bool // whether progress is shown, in a line that is written over
	open    []*result
	printed map[string]*stepPrinter
}

func newOperationWait(c *client, out, stderr io.Writer, named bool) *operationWait {
	_, isTerminal := terminal(out)
	return &operationWait{
		client: c, out: out, stderr: stderr, named: named, line: isTerminal && os.Getenv("TERM") != "dumb",
		printed: map[string]*stepPrinter{},
	}
}

func (w *operationWait) add(res *result) {
	p := &stepPrinter{out: w.out}
	if w.named {
		p.prefix = printable(res.op.Name) + ": "
	}
	w.open, w.printed[res.op.ID] = append(w.open, res), p
}

// follow yields each operation when it has ended, or with the reason why its end is
// not known. The first interrupt says how to cancel what is under way; it goes on.
func (w *operationWait) follow(ctx context.Context) iter.Seq2[*result, error] {
	return func(yield func(*result, error) bool) {
		interrupted := ctx.Done()
		calls := context.WithoutCancel(ctx)
		seen := time.Now()
		for len(w.open) > 0 {
			for _, res := range slices.Clone(w.open[:min(looks, len(w.open))]) {
				err := w.look(calls, res)
				switch {
				case err == nil:
					seen = time.Now()
				case errors.Is(err, errNotServing) && time.Since(seen) < maxAway:
					continue // it may start again, and finishes the operation then
				default:
					err = fmt.Errorf("operation %s goes on, and could not be followed: %w; see: dogwatch operations %s",
						res.op.ID, err, res.op.ID)
				}
				if err == nil && !res.op.State.Ended() {
					continue
				}
				w.open = slices.DeleteFunc(w.open, func(other *result) bool { return other == res })
				if !yield(res, err) {
					return
				}
			}
			w.rotate()
			select {
			case <-interrupted:
				if context.Cause(ctx) == errTerminated {
					w.leave(yield)
					return
				}
				w.explain()
				interrupted = nil
			case <-time.After(pollPause):
			}
		}
	}
}

// look asks how far an operation is and prints what is new.
func (w *operationWait) look(ctx context.Context, res *result) error {
	var now api.Operation
	if err := w.client.call(ctx, http.MethodGet, "/api/operations/"+url.PathEscape(res.op.ID), &now); err != nil {
		return err
	}
	res.op = now
	w.clear()
	w.printed[now.ID].print(now)
	if now.State.Ended() {
		w.printed[now.ID].end(now)
		return nil
	}
	w.progress()
	return nil
}

// rotate lets what is queued have its turn; what is under way stays in front.
func (w *operationWait) rotate() {
	running := func(res *result) bool { return res.op.State == operation.Running }
	var first, rest []*result
	for _, res := range w.open {
		if running(res) {
			first = append(first, res)
		} else {
			rest = append(rest, res)
		}
	}
	if n := looks - len(first); n > 0 && len(rest) > n {
		rest = append(rest[n:], rest[:n]...)
	}
	w.open = append(first, rest...)
}

// explain says, once, that the operations go on, and how to stop them.
func (w *operationWait) explain() {
	w.clear()
	for _, res := range w.open {
		fmt.Fprintf(w.stderr, "operation %s (%s) goes on; to cancel it: dogwatch operations cancel %s\n", res.op.ID,
			printable(res.op.Name), res.op.ID)
	}
	fmt.Fprintln(w.stderr, "interrupt again to stop waiting")
}

// leave gives up waiting, since this command is to end.
func (w *operationWait) leave(yield func(*result, error) bool) {
	w.clear()
	for _, res := range w.open {
		if !yield(res, fmt.Errorf("operation %s goes on; see: dogwatch operations %s", res.op.ID, res.op.ID)) {
			return
		}
	}
}

// progress shows how far the steps under way are, on a terminal.
func (w *operationWait) progress() {
	if !w.line {
		return
	}
	var parts []string
	for _, res := range w.open {
		if text := stepProgress(res.op); text != "" {
			parts = append(parts, printable(w.printed[res.op.ID].prefix+text))
		}
	}
	if len(parts) > 0 {
		width, _ := terminal(w.out)
		fmt.Fprintf(w.out, "\r\x1b[K%s", clip("    "+strings.Join(parts, "; "), width-gap))
	}
}

// clear takes the line of progress away.
func (w *operationWait) clear() {
	if w.line {
		fmt.Fprint(w.out, "\r\x1b[K")
	}
}

// stepPrinter prints what is new about the steps of an operation.
type stepPrinter struct {
	out          io.Writer
	prefix       string
	began, ended int
}

func (p *stepPrinter) print(op api.Operation) {
	for i, s := range op.Steps {
		if i >= p.began {
			fmt.Fprintf(p.out, "  … %s%s\n", p.prefix, printable(s.Text))
			p.began = i + 1
		}
		if i < p.ended || !s.Ended {
			continue
		}
		p.ended = i + 1
		mark := "ok"
		if s.Error != "" {
			mark = "failed: " + s.Error
		}
		fmt.Fprintf(p.out, "    %s%s (%s)\n", p.prefix, printable(mark), words.Took(s.EndedAt.Sub(s.BeganAt)))
	}
}

// end says how the operation ended, and what did not go well though it did.
func (p *stepPrinter) end(op api.Operation) {
	fmt.Fprintln(p.out, printable(sentenceOf(op)))
	if op.Outcome == nil {
		return
	}
	for _, line := range reasonLines(op.Outcome.Warnings) {
		fmt.Fprintf(p.out, "  %s%s\n", p.prefix, printable(line))
	}
	if len(op.Outcome.Kept) > 0 {
		fmt.Fprintf(p.out, "  %skept: %s\n", p.prefix, printable(strings.Join(op.Outcome.Kept, ", ")))
	}
	p.evidence(op.Outcome.Evidence)
}

// evidence says what the new container left that did not work.
func (p *stepPrinter) evidence(e *api.Evidence) {
	if e == nil {
		return
	}
	line := func(indent, text string) { fmt.Fprintf(p.out, "  %s%s%s\n", p.prefix, indent, printable(text)) }
	line("", fmt.Sprintf("the new %s was %s", e.Container, words.Left(e.Status, e.ExitCode)))
	if e.Error != "" {
		line("", "the engine says: "+e.Error)
	}
	for _, h := range e.Health {
		clock := h.At.Local().Format(time.TimeOnly)
		line("", fmt.Sprintf("health check at %s, exit code %d: %s", clock, h.ExitCode,
			strings.Join(strings.Fields(h.Output), " ")))
	}
	if e.Log == "" {
		line("", "it wrote nothing into its log")
		return
	}
	line("", "the last lines of its log:")
	for text := range strings.Lines(e.Log) {
		line("    ", strings.TrimRight(text, "\n"))
	}
}

// operationOf returns of an operation what sentences are about.
func operationOf(op api.Operation) operation.Operation {
	to := op.Plan.To
	o := operation.Operation{
		Kind: op.Kind, State: op.State, Name: op.Name, Error: op.Error,
		Image: watcher.TargetImage{Reference: to.Reference, Digest: to.Digest, ID: to.ID},
		Plan:  watcher.Plan{From: watcher.PlannedImage(op.Plan.From)},
	}
	o.Rules.DryRun = op.DryRun
	if op.CancelledBy != "" {
		o.Cancel = &operation.Cancel{By: op.CancelledBy}
	}
	if op.Outcome != nil {
		o.Outcome = &watcher.Outcome{
			State: op.Outcome.State, Downtime: time.Duration(op.Outcome.Downtime * float64(time.Second)),
		}
		if op.Outcome.Reason != nil {
			o.Outcome.Reason = watcher.Reason(*op.Outcome.Reason)
		}
	}
	return o
}

// stateOf is the state of an operation in a word or two.
func stateOf(op api.Operation) string {
	return strings.ToLower(words.OperationState(operationOf(op)).Word.String())
}

// sentenceOf says how far an operation is, or how it ended.
func sentenceOf(op api.Operation) string {
	o := operationOf(op)
	end, _ := words.OperationEnd(o)
	said := words.Joined(" ", cmp.Or(phrase.English(end), stateOf(op)), phrase.English(words.Downtime(o)))
	return op.Watcher + "/" + op.Name + ": " + said
}

// stepProgress says how far the step under way is; "" when that is not known.
func stepProgress(op api.Operation) string {
	if op.Progress == nil || len(op.Steps) == 0 || op.Steps[len(op.Steps)-1].Ended {
		return ""
	}
	return phrase.English(words.StepProgress(watcher.StepProgress(*op.Progress)))
}

// result is what became of one container.
type result struct {
	container sdk.Container
	// to is the reference of the image; "" when nothing could be planned.
	to string
	// op is the operation; without an ID, it was never begun.
	op api.Operation
	// refusal says why there is none, or why its end is not known.
	refusal string
	code    int
	// left means that --all leaves it out, since its watcher may not update.
	left bool
}
