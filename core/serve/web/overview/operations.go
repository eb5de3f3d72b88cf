package overview

import (
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/containers"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
)

// shownEnds is how long the overview shows operations that ended badly.
const shownEnds = 24 * time.Hour

// operationLine is an operation under way.
type operationLine struct {
	Name, Class, To string
	Doing, Word     phrase.Phrase
	// Done is how many of the steps of its plan have ended.
	Done, Steps int
}

// operationsOf are the operations that are under way.
func operationsOf(open map[string]operation.Operation, names page.Names) (lines []operationLine) {
	for _, key := range containers.SortedKeys(open) {
		op := open[key]
		l := operationLine{
			Name: names.Of(key, ""), Doing: words.Doing(op), Word: phrase.New("in progress"), Class: words.OperationState(op).Class,
			To: page.OperationPath(op.ID), Steps: len(op.Plan.Steps),
		}
		for _, step := range op.Steps {
			if !step.EndedAt.IsZero() {
				l.Done++
			}
		}
		l.Steps = max(l.Steps, l.Done)
		lines = append(lines, l)
	}
	return lines
}

// failuresOf are sentences about operations that ended badly lately, newest first, and were not begun again.
func failuresOf(
	open map[string]operation.Operation, ended []operation.Operation, names page.Names, now time.Time,
) []containers.Line {
	var lines []containers.Line
	newest := map[string]bool{}
	for _, op := range ended {
		key := op.Watcher + "/" + op.Name
		if op.Ended.Before(now.Add(-shownEnds)) || newest[key] {
			continue
		}
		newest[key] = true
		if _, again := open[key]; again || op.State != operation.RolledBack && op.State != operation.Failed {
			continue
		}
		op.Name = names.Of(key, "")
		end, _ := words.OperationEnd(op)
		end = phrase.Join(" ", end, words.LogEnd(op))
		lines = append(lines, containers.Line{
			Kind: "failed", Word: lowered(op), Text: phrase.Join(": ", phrase.Verbatim(op.Name), end),
			To: page.OperationPath(op.ID), Act: phrase.New("See what happened"),
		})
	}
	return lines
}

// lowered says how an operation ended badly, within a line.
func lowered(op operation.Operation) phrase.Phrase {
	switch words.OperationState(op).Word.String() {
	case "Did not work":
		return phrase.New("did not work")
	case "Interrupted":
		return phrase.New("interrupted")
	}
	return phrase.New("failed")
}

// namedOf returns which containers the overview names for what became of their updates, and which of those, or by
// their row, for an update that did not work.
func (h *Handler) namedOf(ended []operation.Operation, all []containers.Row) (named, failed map[string]bool) {
	named, failed = map[string]bool{}, map[string]bool{}
	for _, op := range ended {
		if key := op.Watcher + "/" + op.Name; !op.Ended.Before(h.Now().Add(-shownEnds)) {
			named[key] = true
			failed[key] = failed[key] || op.State != operation.Succeeded
		}
	}
	for _, r := range all {
		failed[r.Key] = failed[r.Key] || r.CameBack()
	}
	return named, failed
}
