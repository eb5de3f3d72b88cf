package trigger

import (
	"context"

	"github.com/dogwatch/dogwatch/sdk"
)

// Subscriber is a Trigger that keeps another system in step with the state of
// all containers and watchers, whether there is an update or not.
type Subscriber interface {
	Trigger
	// Subscribe does so until ctx ends, and then returns soon. The host calls it,
	// once at a time, for as long as the instance is configured, and again after
	// a pause when it returned earlier. While the other system cannot be reached
	// it does not return but reconnects. Meanwhile it need not call Next: the host
	// then keeps what has changed, the latest state of each container only.
	Subscribe(ctx context.Context, s StateStream) error
}

// StateStream is the host's state as a Subscriber receives it. Next is called by
// one goroutine at a time, Run by any number.
type StateStream interface {
	// Next waits until the state differs from what it returned so far and returns
	// how. The first Change is the whole state. An error means that the stream has ended.
	Next(ctx context.Context) (Change, error)
	// Run has the host run another trigger, such as "docker.local", on a
	// container, and returns when that has ended, or when ctx ends; the trigger
	// continues then. It needs kind.CapRun. The error has a text and no kind.
	Run(ctx context.Context, triggerID, containerID string) error
}

// Decider is a StateStream through which a Subscriber can decide about updates, which each
// stream of this version is: assert it. Concurrency is that of Run.
type Decider interface {
	// Decide does what a user of the other system decided about the update of a container, by its id,
	// and returns when that is stored. It needs kind.CapDecide. The action is the Kind of an
	// Action: ActionApprove and ActionSkip are about the version that the container has as its update
	// now, ActionSnooze is for a week. The error has a text and no kind.
	Decide(ctx context.Context, containerID, action string) error
}

// Change is how the state differs from the changes before it. Removals come first.
type Change struct {
	// All is true when Put, Watchers and Operations are the whole state: whatever else a
	// subscriber remembers no longer exists.
	All bool
	// Removed are the containers that no longer exist, as they were sent last. One
	// that is renamed, or created anew under its name, is removed and put. With All
	// they are those that were removed since an earlier call of Subscribe received them.
	Removed []sdk.Container
	// Put are the containers that are new or changed. That a container was
	// checked again (its Check.At) is no change by itself.
	Put []sdk.Container
	// Watchers are the watchers whose state is new or changed.
	Watchers []WatcherState
	// Operations are the updates and rollbacks of containers that began, went on or ended.
	Operations []OperationState
}

// OperationState is how far the update or rollback of a container is.
type OperationState struct {
	// Watcher and Name are those of the container, whose id may change meanwhile.
	Watcher, Name string
	// Running is false once it has ended.
	Running bool
	// Percent is how much of it is done, 0 to 100; -1 when that is not known.
	Percent int
}

// WatcherState is what a watcher is doing.
type WatcherState struct {
	// Name is the watcher's name, as in sdk.Container.Watcher.
	Name string
	// Checking is true while a check of the watcher is running.
	Checking bool
}
