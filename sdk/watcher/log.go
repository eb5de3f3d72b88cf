package watcher

import (
	"context"

	"github.com/dogwatch/dogwatch/sdk"
)

// LogReader is a Watcher that reads what a container it lists has written.
//
// The type has an option "logs" (bool, false by default): without it the host asks an instance for no log.
type LogReader interface {
	// ReadLog returns the end of what a container has written to its standard output and error. It does not wait for
	// more. Secrets that the watcher knows of the container are blanked.
	//
	// The error is an sdk.ErrNotFound where there is no such container.
	ReadLog(ctx context.Context, req LogRequest) (Log, error)
}

// LogRequest asks for the end of a log.
type LogRequest struct {
	// ContainerID is the engine's identifier, see Container.ID.
	ContainerID string
	// Lines is how many lines are wanted at most, 1 to MaxLogLines.
	Lines int
}

// MaxLogLines bounds the lines of a Log.
const MaxLogLines = 200

// Log is the end of what a container has written.
type Log struct {
	// Lines are the last ones, the oldest first. Fewer than those asked for may be all there are, or all that fit.
	Lines []LogLine
	// UnreadableDriver is the log driver of the container, such as "none", if the engine cannot read from it: then
	// there are no Lines. "" otherwise.
	UnreadableDriver string
}

// LogLine is a line that a container has written.
type LogLine struct {
	// At is when it was written; zero when the engine does not say.
	At sdk.Time
	// Stderr is true for the standard error. With a terminal all is standard output.
	Stderr bool
	// Text has neither a line break nor control characters.
	Text string
}
