package words

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Stopped reports whether an operation that a user cancelled had begun to change the
// container, and returned to the old one.
func Stopped(op operation.Operation) bool {
	return op.State == operation.Cancelled && op.Outcome != nil && op.Outcome.State == watcher.RolledBack
}

// stopper returns who cancelled an operation; "" where there is no login.
func stopper(op operation.Operation) string {
	if op.Cancel == nil || op.Cancel.By == auth.AnonymousName {
		return ""
	}
	return op.Cancel.By
}

// ChangeOf is what a change is called, with the name of its container: "Update of web".
func ChangeOf(k operation.Kind, name string) phrase.Phrase {
	if k == operation.Rollback {
		return phrase.New("Rollback of %s", name)
	}
	return phrase.New("Update of %s", name)
}

// OperationState is the state of an operation as users read it.
func OperationState(op operation.Operation) State {
	switch op.State {
	case operation.Queued:
		return State{Word: phrase.New("Waiting"), Class: "muted"}
	case operation.Running:
		if op.Cancel != nil {
			return State{Word: phrase.New("Stopping"), Class: "minor"}
		}
		if op.Kind == operation.Rollback {
			return State{Word: phrase.New("Rolling back"), Class: "minor"}
		}
		return State{Word: phrase.New("Updating"), Class: "minor"}
	case operation.Succeeded:
		switch {
		case op.Rules.DryRun:
			return State{Word: phrase.New("Dry run"), Class: "ok"}
		case op.Kind == operation.Rollback:
			return State{Word: phrase.New("Rolled back"), Class: "ok"}
		}
		return State{Word: phrase.New("Updated"), Class: "ok"}
	case operation.RolledBack:
		if Interrupted(op) {
			return State{Word: phrase.New("Interrupted"), Class: "failed"}
		}
		return State{Word: phrase.New("Did not work"), Class: "failed"}
	case operation.Cancelled:
		return State{Word: phrase.New("Cancelled"), Class: "muted"}
	}
	return State{Word: phrase.New("Failed"), Class: "failed"}
}

// OperationEnd says how an operation ended, or what it waits for, and whether that is bad; nil while nothing is to be
// said.
func OperationEnd(op operation.Operation) (said phrase.Phrase, bad bool) {
	_, to := Versions(op.Plan.From, watcher.PlannedImage{
		Reference: op.Image.Reference, Digest: op.Image.Digest, ID: op.Image.ID,
	})
	switch op.State {
	case operation.Queued:
		return phrase.New("It begins when others of its project have ended, and something is free."), false
	case operation.Running:
		return stopping(op), false
	case operation.Succeeded:
		if op.Rules.DryRun {
			return phrase.New("The image was pulled, and nothing else was done, as asked."), false
		}
		if op.Kind == operation.Rollback {
			return phrase.New("%s was rolled back to %s.", op.Name, to), false
		}
		return phrase.New("%s was updated to %s.", op.Name, to), false
	case operation.RolledBack:
		if Interrupted(op) {
			return because(phrase.New("It did not come to its end, so the old container is back as it was"), op.Error), true
		}
		return because(phrase.New("%s did not work, so the old container is back as it was", to), op.Error), true
	case operation.Cancelled:
		switch by := stopper(op); {
		case !Stopped(op):
			return because(phrase.New("Nothing was done to the container"), op.Error), false
		case by != "":
			return phrase.New("It was cancelled, by %s. The old container runs again as it was.", by), false
		}
		return phrase.New("It was cancelled. The old container runs again as it was."), false
	}
	if op.Error == "" {
		return phrase.New("it failed."), true
	}
	return phrase.Sentence(Outcome(op.Error)), true
}

// Undone says of an operation that ended badly what did not work, what the new container wrote last, and what runs
// again.
func Undone(op operation.Operation, from, to phrase.Phrase) phrase.Phrase {
	back, why := op.Kind == operation.Rollback, Outcome(strings.TrimSuffix(op.Error, "."))
	var said, runs phrase.Phrase
	if op.State == operation.RolledBack {
		runs = phrase.New("%s runs again.", from)
	}
	switch {
	case op.State == operation.RolledBack && back:
		said = phrase.New("The rollback to %s did not work", to)
	case op.State == operation.RolledBack:
		said = phrase.New("The update to %s did not work", to)
	case back:
		said = phrase.New("The rollback to %s failed", to)
	default:
		said = phrase.New("The update to %s failed", to)
	}
	if op.Error != "" {
		said = phrase.Join(": ", said, why)
	}
	return phrase.Join(" ", phrase.Sentence(said), LogEnd(op), runs)
}

// LogEnd quotes the last line that the new container of an operation wrote, shortened; nil for none.
func LogEnd(op operation.Operation) phrase.Phrase {
	if op.Outcome == nil || op.Outcome.Evidence == nil {
		return nil
	}
	log := strings.TrimSpace(op.Outcome.Evidence.Log)
	last := Shortened(strings.TrimSpace(log[strings.LastIndexByte(log, '\n')+1:]))
	if last == "" {
		return nil
	}
	return phrase.New("Its log ends with “%s”.", phrase.Quote(last))
}

// Shortened returns the beginning of an error or a line of a log, where another page has all of it.
func Shortened(text string) string {
	const most = 160
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	kept := string(runes[:most])
	if end := strings.LastIndexByte(kept, ' '); end > 0 {
		kept = kept[:end]
	}
	return strings.TrimRight(kept, " ,;:(") + "…"
}

// stopping says of an operation under way that it was cancelled; nil if it was not.
func stopping(op operation.Operation) phrase.Phrase {
	switch by := stopper(op); {
	case op.Cancel == nil:
		return nil
	case by != "":
		return phrase.New("It stops before its next step, as %s asked, and the old container runs again.", by)
	}
	return phrase.New("It stops before its next step, and the old container runs again.")
}

// because is a sentence with its reason, if that is known.
func because(said phrase.Phrase, why string) phrase.Phrase {
	if why == "" {
		return phrase.Sentence(said)
	}
	return phrase.New("%s. The reason: %s", said, phrase.Sentence(Outcome(why)))
}

// Downtime says how long the container was down; nil where that is not known.
func Downtime(op operation.Operation) phrase.Phrase {
	if op.Outcome == nil || op.Outcome.Downtime <= 0 {
		return nil
	}
	return phrase.New("It was down for %s.", Took(op.Outcome.Downtime))
}

// Space says what an update downloads, and what the container has written, in bytes; nil where neither is known.
func Space(s watcher.Space) phrase.Phrase {
	var download, writable phrase.Phrase
	if size := Bytes(s.Download); size != nil {
		download = phrase.New("Up to %s to download; layers already here are not downloaded again.", size)
	}
	if size := Bytes(s.Writable); size != nil {
		writable = phrase.New("It has written %s into itself.", size)
	}
	return phrase.Join(" ", download, writable)
}

// Interrupted reports whether an operation returned to the old container since
// Dogwatch or the engine ended in the middle of it, not since the new image failed.
func Interrupted(op operation.Operation) bool {
	return op.Outcome != nil && op.Outcome.Reason.Code == watcher.ReasonInterrupted
}

// StepProgress says how far a step is: "downloading layer 3, 12.0 MB of 80.5 MB"; nil where that is not known.
func StepProgress(p watcher.StepProgress) phrase.Phrase {
	const counted = 1000 // more than probes are ever counted, fewer than the bytes of any layer
	var far phrase.Phrase
	switch {
	case max(p.Current, p.Total) >= counted:
		current := Bytes(p.Current)
		if current == nil {
			current = phrase.New("0 bytes")
		}
		far = current
		if total := Bytes(p.Total); total != nil {
			far = phrase.New("%s of %s", current, total)
		}
	case p.Total > 0:
		far = phrase.New("%d of %d", p.Current, p.Total)
	}
	return phrase.Join(", ", phrase.Quote(p.Message), far)
}

// StepNow is the step of an operation that is under way, or that was the last; nil before the first.
func StepNow(op operation.Operation) phrase.Phrase {
	if len(op.Steps) == 0 {
		return nil
	}
	return Taken(op.Steps[len(op.Steps)-1].Step)
}

// Far is Doing in few words: "updating, step 3 of 7".
func Far(op operation.Operation) phrase.Phrase {
	step, of := len(op.Steps), max(len(op.Plan.Steps), len(op.Steps))
	switch {
	case op.State == operation.Queued || step == 0:
		return Doing(op)
	case op.Kind == operation.Rollback:
		return phrase.New("rolling back, step %d of %d", step, of)
	}
	return phrase.New("updating, step %d of %d", step, of)
}

// Doing says what is being done to a container: "updating: start the new web".
func Doing(op operation.Operation) phrase.Phrase {
	back := op.Kind == operation.Rollback
	switch {
	case op.State == operation.Queued && back:
		return phrase.New("waiting to be rolled back")
	case op.State == operation.Queued:
		return phrase.New("waiting to be updated")
	case back:
		return phrase.Join(": ", phrase.New("rolling back"), StepNow(op))
	}
	return phrase.Join(": ", phrase.New("updating"), StepNow(op))
}
