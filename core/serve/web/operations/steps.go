package operations

import (
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// stepView is a step that was taken, is under way, or is still to come.
type stepView struct {
	Text  phrase.Phrase
	State words.State
	Took  phrase.Phrase
	Error string
	// Progress is that of the step under way, Doing whether it is that one.
	Doing    bool
	Progress phrase.Phrase
	// Current and Total are for a bar; a Total of 0 is not known.
	Current, Total int64
}

// stepsOf are the steps of an operation: those that were begun, then those of its
// plan that are to come, unless it has ended, stops, or returns to the old container.
func stepsOf(op operation.Operation, progress watcher.StepProgress) []stepView {
	var all []stepView
	started, returns := map[string]bool{}, false
	for _, s := range op.Steps {
		started[s.ID] = true
		v := stepView{Text: words.Taken(s.Step), State: words.State{Word: phrase.New("done"), Class: "ok"}, Error: s.Error}
		switch {
		case s.Error != "":
			v.State, returns = words.State{Word: phrase.New("failed"), Class: "failed"}, true
		case !s.Ended && op.State.Ended():
			v.State = words.State{Word: phrase.New("interrupted"), Class: "muted"}
		case !s.Ended:
			v.State, v.Doing = words.State{Word: phrase.New("now"), Class: "minor"}, true
			v.Progress, v.Current, v.Total = words.StepProgress(progress), progress.Current, progress.Total
		}
		if s.Ended && !s.EndedAt.IsZero() {
			v.Took = words.Took(s.EndedAt.Sub(s.Began))
		}
		all = append(all, v)
	}
	if op.State.Ended() || returns || op.Cancel != nil {
		return all
	}
	for _, s := range op.Plan.Steps {
		if !started[s.ID] {
			all = append(all, stepView{Text: words.Taken(s), State: words.State{Word: phrase.New("to come"), Class: "muted"}})
		}
	}
	return all
}
