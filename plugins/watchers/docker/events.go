package docker

import (
	"context"
	"slices"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/eventstream"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// listActions are the actions of containers after which the engine's list is another
// one. Podman removes where Docker destroys.
var listActions = []string{"create", "destroy", "remove", "rename"}

// statusActions are those after which the status of a container may be another one.
// Podman 4 sends "die", while its filter accepts the participle only; when it is
// done with a container that has ended, it sends "cleanup".
var statusActions = []string{"start", "stop", "die", "died", "cleanup", "pause", "unpause", "update"}

// Watch calls emit for what happens to containers until ctx ends, and returns then
// with its error. It reconnects by itself, and compares the engine's list with what the host knows, because an engine
// remembers few events and none after a restart. It returns an ErrUnsupported when the engine has no events at all.
func (d *Docker) Watch(ctx context.Context, emit func(watcher.Event)) error {
	return eventstream.Follower{
		Engine: d.engine, Kind: "container", Actions: slices.Concat(listActions, statusActions), Log: d.log,
		Pause: d.pause, Missed: d.missed, Handle: d.handleEvent,
	}.Follow(ctx, emit)
}

// missed compares the engine's list with what the host knows.
func (d *Docker) missed(ctx context.Context, gap bool) ([]watcher.Event, error) {
	containers, err := d.containers(ctx)
	if err != nil {
		return nil, err
	}
	return d.notified.missed(containers, gap), nil
}

func (d *Docker) handleEvent(ctx context.Context, e eventstream.Document, emit func(watcher.Event)) {
	out := watcher.Event{ContainerID: e.Actor.ID, Action: watcher.ActionChanged, At: sdk.TimeOf(e.At())}
	switch {
	case slices.Contains(listActions, e.Action):
		emit(out)
		return
	case !slices.Contains(statusActions, e.Action):
		return
	}
	got, err := d.engine.Container(ctx, e.Actor.ID)
	if err != nil || got.ContainerJSONBase == nil || got.State == nil {
		d.log.Debug("the status of a container is not known, it may be gone", "container", e.Actor.ID, "error", err)
		return
	}
	status := statusOf(got.State.Status)
	known, changed := d.notified.status(e.Actor.ID, status)
	switch {
	case !known && e.Action == "start": // it was not in the last list, being stopped, and belongs in the next
		emit(out)
	case changed:
		out.Action, out.Status = watcher.ActionStatus, status
		emit(out)
	}
}
