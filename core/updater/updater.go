// Package updater carries out operations: it resolves the image of an update, has
// the watcher of the container plan and take the steps, and stores each step before
// it is taken. What was interrupted, by a crash of the plugin or of this process, is
// recovered by the watcher. A crash at any line loses no operation, and begins none twice.
//
// An operation stops between two steps when it is cancelled: the watcher then
// returns to the old container. When Dogwatch stops, an operation goes on for as long
// as a container is stopped on its behalf, so that nothing is down meanwhile; other
// than that the step under way is its last one, and the operation stays Running until
// the next start recovers it.
package updater

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/core/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The errors that callers tell apart with errors.Is.
var (
	// ErrConflict: the container has an operation that has not ended; see ConflictError.
	ErrConflict = errors.New("an operation is under way")
	// ErrBlocked: the plan has blocks; see BlockedError.
	ErrBlocked = errors.New("the update is blocked")
	// ErrForbidden: the watcher may not update. The text names the setting that allows it.
	ErrForbidden = errors.New("updating is not allowed")
	// ErrUnsupported: the type of the watcher cannot update.
	ErrUnsupported = errors.New("the watcher cannot update")
	// ErrNoUpdate: there is nothing newer, or nothing to roll back to.
	ErrNoUpdate = errors.New("there is no image to change to")
	// ErrChanged: the container or its image is not what the user was shown.
	ErrChanged = errors.New("it has changed since it was planned")
	// ErrNotFound: there is no such operation.
	ErrNotFound = errors.New("there is no such operation")
	// ErrEnded: the operation has ended already.
	ErrEnded = errors.New("the operation has ended")
	// ErrStopping: Dogwatch is stopping and begins nothing any more.
	ErrStopping = errors.New("dogwatch is stopping")
)

// ConflictError is an ErrConflict.
type ConflictError struct {
	// Operation is the one that has not ended.
	Operation operation.Operation
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("operation %s of %s/%s has not ended: wait for it, or cancel it", e.Operation.ID, e.Operation.Watcher, e.Operation.Name)
}

// Is reports whether target is ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// BlockedError is an ErrBlocked.
type BlockedError struct{ Plan watcher.Plan }

func (e *BlockedError) Error() string {
	texts := make([]string, len(e.Plan.Blocks))
	for i, b := range e.Plan.Blocks {
		texts[i] = b.Text + " (" + b.Code + ")"
	}
	return ErrBlocked.Error() + ": " + strings.Join(texts, "; ")
}

// Is reports whether target is ErrBlocked.
func (e *BlockedError) Is(target error) bool { return target == ErrBlocked }

// Request asks for the update or rollback of a container.
type Request struct {
	Container sdk.Container
	Kind      operation.Kind
	// Rules are those that the request adds to what labels and configuration ask for.
	Rules watcher.UpdateRules
	// Actor is the user or token that asks, Trigger the id of the trigger that does.
	Actor, Trigger string
	// Digest and State are Plan.To.Digest and Plan.State of the plan that a user has
	// confirmed. With a Digest, that image is used, whatever the tag is by now; with a
	// State, Start fails with ErrChanged if the container is another one by now.
	Digest, State string
}
