// Package operation holds the updates and rollbacks that are carried out: what
// was planned, which steps were taken, and how each ended. A watcher takes the
// steps; see watcher.Updater.
package operation

import (
	"errors"
	"time"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// ErrNotFound: there is no such operation.
var ErrNotFound = errors.New("there is no such operation")

// Kind is what an operation does.
type Kind string

// The kinds.
const (
	Update   Kind = "update"
	Rollback Kind = "rollback" // an update to the image that ran before
)

// State is how far an operation is.
type State string

// The states. An operation begins queued and ends in one of the last four.
const (
	Queued     State = "queued"
	Running    State = "running"
	Succeeded  State = "succeeded"
	RolledBack State = "rolled-back" // the container is as it was before
	Failed     State = "failed"      // see Error: nothing was done, or it needs a user
	Cancelled  State = "cancelled"   // as a user wished: the container is as it was before
)

// Ended reports whether the operation changes no more.
func (s State) Ended() bool { return s != Queued && s != Running }

// Operation is one container's update or rollback. Credentials are never part of it.
type Operation struct {
	// ID is [a-z0-9]{1,20}, and sorts by the time of creation.
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Watcher, Name and ContainerID are the container when the operation was queued.
	Watcher     string `json:"watcher"`
	Name        string `json:"name"`
	ContainerID string `json:"containerId"`
	// Project is the compose project of the container; "" for none. Operations of one
	// project are carried out one after the other.
	Project string `json:"project,omitempty"`
	// Update is the text form of the update.Key; "" for a rollback.
	Update string `json:"update,omitempty"`
	// Actor is the user or token that began it; Trigger the id of the trigger that did.
	Actor   string `json:"actor,omitempty"`
	Trigger string `json:"trigger,omitempty"`
	// IdempotencyKey is the id of the delivery of the Trigger, which finds its operation by that.
	IdempotencyKey string `json:"delivery,omitempty"`

	// Cancel is the wish of a user that it stops; nil when there is none.
	Cancel *Cancel `json:"cancel,omitempty"`

	State State               `json:"state"`
	Image watcher.TargetImage `json:"image"`
	Rules watcher.UpdateRules `json:"rules"`
	Plan  watcher.Plan        `json:"plan"`
	Steps []Step              `json:"steps"`
	// Outcome is what the watcher said at the end; nil before that, and for an
	// operation that never reached the watcher.
	Outcome *watcher.Outcome `json:"outcome,omitempty"`
	// Error says why it did not succeed; "" while it may.
	Error  string    `json:"error,omitempty"`
	Queued time.Time `json:"queuedAt"`
	Began  time.Time `json:"beganAt,omitzero"`
	Ended  time.Time `json:"endedAt,omitzero"`
}

// MaxAttempts is how many operations are begun for an update, without a user, whose reasons not to
// update are gone later, see MayRetry. Each is in the history.
const MaxAttempts = 3

// MayRetry reports whether the operation has ended with its container as it was, for a reason
// that may be gone later: the engine was away or the image could not be pulled, before anything
// was changed, or the end of a process interrupted it.
func (o Operation) MayRetry() bool {
	if o.Outcome == nil {
		return o.State == Failed
	}
	switch o.Outcome.Reason.Code {
	case watcher.ReasonInterrupted:
		return o.State == RolledBack || o.State == Failed && o.Outcome.State == watcher.Unchanged
	case watcher.StepPull:
		return o.State == Failed && o.Outcome.State == watcher.Unchanged
	}
	return false
}

// Trial is an update that was carried out and is not to be carried out again without a user.
type Trial struct {
	// Update is the text form of its update.Key.
	Update string
	// Ended is when its operation ended.
	Ended time.Time
	// Undone is how a user rolled it back; nil when it did not work.
	Undone *Undo
}

// Undo is how a user rolled an update back.
type Undo struct {
	By string // the user or token
	At time.Time
}

// Cancel is the wish of a user that an operation stops. It may come too late.
type Cancel struct {
	// By is the user or token.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at"`
}

// Step is a step that was begun.
type Step struct {
	watcher.StepRecord
	Began   time.Time `json:"beganAt"`
	EndedAt time.Time `json:"endedAt,omitzero"`
}

// Filter selects operations; zero fields select all.
type Filter struct {
	// States selects those in one of these states.
	States []State
	// Watcher and Name select those of a container.
	Watcher, Name string
	// ContainerID selects those of the container that has, or had, this id.
	ContainerID string
	// IdempotencyKey selects those that this delivery asked for.
	IdempotencyKey string
	// Before is the id below which to start, for the page after this one.
	Before string
	// Limit is at most how many; below 1 means 100.
	Limit int
}
