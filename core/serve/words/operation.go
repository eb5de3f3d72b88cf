package words

import (
	"cmp"
	"fmt"

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

// stoppedBy fills in who cancelled an operation; "" where there is no login.
func stoppedBy(op operation.Operation, format string) string {
	if op.Cancel == nil || op.Cancel.By == "" || op.Cancel.By == auth.AnonymousName {
		return ""
	}
	return fmt.Sprintf(format, op.Cancel.By)
}

// ChangeNoun is what a change is called at the beginning of a sentence.
func ChangeNoun(k operation.Kind) string {
	if k == operation.Rollback {
		return "Rollback"
	}
	return "Update"
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
		if wasInterrupted(op) {
			return State{Word: phrase.New("Interrupted"), Class: "failed"}
		}
		return State{Word: phrase.New("Did not work"), Class: "failed"}
	case operation.Cancelled:
		return State{Word: phrase.New("Cancelled"), Class: "muted"}
	}
	return State{Word: phrase.New("Failed"), Class: "failed"}
}

// OperationEnd says how an operation ended, or what it waits for, and whether that is bad.
func OperationEnd(op operation.Operation) (text string, bad bool) {
	_, to := Versions(op.Plan.From, watcher.PlannedImage{
		Reference: op.Image.Reference, Digest: op.Image.Digest, ID: op.Image.ID,
	})
	switch op.State {
	case operation.Queued:
		return "It begins when others of its project have ended, and something is free.", false
	case operation.Running:
		if op.Cancel == nil {
			return "", false
		}
		return "It stops before its next step" + stoppedBy(op, ", as %s asked") + ", and the old container runs again.", false
	case operation.Succeeded:
		if op.Rules.DryRun {
			return "The image was pulled, and nothing else was done, as asked.", false
		}
		return op.Name + " runs " + to + " now.", false
	case operation.RolledBack:
		if wasInterrupted(op) {
			return because("It did not come to its end, so the old container is back as it was", op.Error), true
		}
		return because(to+" did not work, so the old container is back as it was", op.Error), true
	case operation.Cancelled:
		if Stopped(op) {
			return "It was cancelled" + stoppedBy(op, ", by %s") + ". The old container runs again as it was.", false
		}
		return because("Nothing was done to the container", op.Error), false
	}
	return Sentence(cmp.Or(op.Error, "it failed")), true
}

// Downtime says how long the container was down; "" where that is not known.
func Downtime(op operation.Operation) string {
	if op.Outcome == nil || op.Outcome.Downtime <= 0 {
		return ""
	}
	return "It was down for " + Took(op.Outcome.Downtime).String() + "."
}

// Space says what an update downloads, and what the container has written, in bytes; "" where neither is known.
func Space(s watcher.Space) string {
	var parts [2]string
	if size := phrase.English(Bytes(s.Download)); size != "" {
		parts[0] = "Up to " + size + " to download."
	}
	if size := phrase.English(Bytes(s.Writable)); size != "" {
		parts[1] = "It has written " + size + " into itself."
	}
	return Joined(" ", parts[:]...)
}

// wasInterrupted reports whether an operation returned to the old container since
// Dogwatch or the engine ended in the middle of it, not since the new image failed.
func wasInterrupted(op operation.Operation) bool {
	return op.Outcome != nil && op.Outcome.Reason.Code == watcher.ReasonInterrupted
}

// StepProgress says how far a step is: "downloading layer 3, 12.0 MB of 80.5 MB".
func StepProgress(p watcher.StepProgress) string {
	const counted = 1000 // more than probes are ever counted, fewer than the bytes of any layer
	if max(p.Current, p.Total) >= counted {
		return Joined(", ", p.Message, Joined(" of ", cmp.Or(phrase.English(Bytes(p.Current)), "0 bytes"), phrase.English(Bytes(p.Total))))
	}
	if p.Total > 0 {
		return Joined(", ", p.Message, fmt.Sprintf("%d of %d", p.Current, p.Total))
	}
	return p.Message
}

// StepNow is the step of an operation that is under way, or that was the last; "" before the first.
func StepNow(op operation.Operation) string {
	if len(op.Steps) == 0 {
		return ""
	}
	return op.Steps[len(op.Steps)-1].Text
}

// Doing says what is being done to a container: "updating: start the new web".
func Doing(op operation.Operation) string {
	word := "updating"
	if op.Kind == operation.Rollback {
		word = "rolling back"
	}
	if op.State == operation.Queued {
		return "waiting to be " + map[string]string{"updating": "updated", "rolling back": "rolled back"}[word]
	}
	return Joined(": ", word, StepNow(op))
}
