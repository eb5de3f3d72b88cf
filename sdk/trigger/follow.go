package trigger

import (
	"context"

	"github.com/dogwatch/dogwatch/sdk"
)

// Follower is a Trigger that keeps something outside in step with all
// containers and watchers, whether there is an update to tell of or not.
type Follower interface {
	Trigger
	// Follow does so until ctx ends, and then returns soon. The host calls it,
	// once at a time, for as long as the instance is configured, and again after
	// a pause when it returned earlier. It does not return because the other side
	// is away: it waits until that is back. Meanwhile it need not call w.Next;
	// the host then keeps what has changed, the latest state of each container only.
	Follow(ctx context.Context, w World) error
}

// World is what a Follower sees of the host. Next is called by one goroutine at
// a time, Run by any number.
type World interface {
	// Next waits until something differs from what it told last and returns how.
	// The first Change tells everything. An error means that there will be no more.
	Next(ctx context.Context) (Change, error)
	// Run has the host run another trigger, such as "docker.local", on a
	// container, and returns when that has ended, or when ctx ends; the trigger
	// goes on then. It needs kind.CapRun. The error has a text and no kind.
	Run(ctx context.Context, triggerID, containerID string) error
}

// Change is how the world differs from what was told before. Removals come first.
type Change struct {
	// All is true when Put and Watchers are all there is: what else a follower
	// remembers is gone.
	All bool
	// Removed are the containers that are gone, as they were told last. One that
	// is renamed, or made anew under its name, is removed and put. With All they
	// are those that have gone since an earlier call of Follow was told of them.
	Removed []sdk.Container
	// Put are the containers that are new or changed. That a container was
	// checked again (its Check.At) is no change by itself.
	Put []sdk.Container
	// Watchers are the watchers whose state is new or changed.
	Watchers []WatcherState
}

// WatcherState is what a watcher is doing.
type WatcherState struct {
	// Name is the watcher's name, as in sdk.Container.Watcher.
	Name string
	// Checking is true while a check of the watcher is running.
	Checking bool
}
