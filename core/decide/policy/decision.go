package policy

import "time"

// State is what became of an update.
type State string

// The states of a decision.
const (
	None      State = ""          // there is no update
	Offered   State = "offered"   // triggers notify of it, users can carry it out
	Held      State = "held"      // no trigger runs; Reasons say why
	Automatic State = "automatic" // the watcher is to carry it out now
)

// Decision is what becomes of an update.
type Decision struct {
	State State
	// Target is the version that is offered, held or to be carried out: the index of
	// Update.Candidates; -1 when there is no update.
	Target int
	// Reasons are why, the one that ends last first. A held update has at least one.
	Reasons []Reason
	// Next is when time alone may change the decision; zero for never.
	Next time.Time
}
