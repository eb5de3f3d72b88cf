package operations

import (
	"context"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// pastOperations is how many operations are looked at for how long one takes.
const pastOperations = 20

// usual says how long an operation is likely to take, by those of its kind that succeeded: of its container or, while
// there are none, of any; nil where nothing is known.
func (h *Handler) usual(ctx context.Context, op operation.Operation) phrase.Phrase {
	others := phrase.New("other updates")
	if op.Kind == operation.Rollback {
		others = phrase.New("other rollbacks")
	}
	for _, of := range []struct {
		filter operation.Filter
		which  phrase.Phrase
	}{{operation.Filter{Watcher: op.Watcher, Name: op.Name}, phrase.New("earlier ones of %s", op.Name)}, {operation.Filter{}, others}} {
		of.filter.States, of.filter.Limit = []operation.State{operation.Succeeded}, pastOperations
		past, err := h.service.Operations(ctx, of.filter)
		if err != nil {
			h.Log.Warn("read how long operations took", "operation", op.ID, "error", err) // the page is as good without
			return nil
		}
		if took := median(past, op.Kind); took > 0 {
			return phrase.New("%s took about %s", of.which, words.Elapsed(took))
		}
	}
	return nil
}

// median returns how long operations of a kind took that changed something; 0 where there were none.
func median(past []operation.Operation, kind operation.Kind) time.Duration {
	var took []time.Duration
	for _, op := range past {
		if op.Kind == kind && !op.Rules.DryRun && !op.Began.IsZero() {
			took = append(took, op.Ended.Sub(op.Began))
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// stepParts is how many parts of a bar are one step.
const stepParts = 100

// progressView is how far an operation is that is under way.
type progressView struct {
	// Step is the step under way in words, the Number th of Steps; nil before the first.
	Step          phrase.Phrase
	Number, Steps int
	// Done and Total are for a bar.
	Done, Total int64
	// Elapsed is the time since its beginning, Seconds the same as a number, and Usual what it is likely to take.
	Elapsed, Usual phrase.Phrase
	Seconds        int
}

// progressOf says how far an operation is; p is how far the step under way is.
func progressOf(op operation.Operation, p watcher.StepProgress, now time.Time) *progressView {
	if op.State != operation.Running {
		return nil
	}
	v := &progressView{Number: len(op.Steps), Steps: max(len(op.Plan.Steps), len(op.Steps)), Step: words.StepNow(op)}
	for _, s := range op.Steps {
		switch {
		case s.Ended:
			v.Done += stepParts
		case p.Total > 0:
			v.Done += min(stepParts, stepParts*p.Current/p.Total)
		}
	}
	v.Total = int64(v.Steps) * stepParts
	elapsed := max(0, now.Sub(op.Began))
	v.Elapsed, v.Seconds = words.Elapsed(elapsed), int(elapsed.Seconds())
	return v
}
