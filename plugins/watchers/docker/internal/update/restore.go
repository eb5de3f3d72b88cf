package update

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// restore makes the old container run under its name again, as it did, and removes
// what was created in its place. Every step of it may have been taken already.
func (r *replacement) restore(ctx context.Context, name, id string, status replace.Status) error {
	old, err := r.engine.Container(ctx, id)
	if engine.HasStatus(err, http.StatusNotFound) {
		return r.withoutOld(ctx, name, id, status)
	}
	if err != nil {
		return err
	}
	if strings.TrimPrefix(old.Name, "/") != name {
		if err := r.takeNameBack(ctx, name, id); err != nil {
			var foreign *coded
			if errors.As(err, &foreign) { // it runs at least, under the name that it has
				return errors.Join(err, r.startAgain(ctx, old, status))
			}
			return err
		}
		if old, err = r.engine.Container(ctx, id); err != nil {
			return err
		}
	}
	if r.stopping[name] && status != replace.Stopped { // it may still be on its way
		if err := r.stop(ctx, old, stopLimit(old)); err != nil {
			return err
		}
		if old, err = r.engine.Container(ctx, id); err != nil {
			return err
		}
	}
	if err := r.releaseRestartPolicy(ctx, name, old); err != nil {
		return err
	}
	return r.startAgain(ctx, old, status)
}

// takeNameBack renames the old container to its name. A creation that was under way when
// Dogwatch was killed goes on in the engine, and may take the name only now: what it
// makes is removed as soon as it is there.
func (r *replacement) takeNameBack(ctx context.Context, name, id string) error {
	for began := time.Now(); ; {
		if err := r.removeNew(ctx, name, id); err != nil {
			return err
		}
		err := r.engine.Post(ctx, "rename "+name, "/containers/"+id+"/rename", engine.Query("name", name), nil, nil)
		if !engine.HasStatus(err, http.StatusConflict) || time.Since(began) > creationLimit {
			return err
		}
		if pause(ctx, creationPause) != nil {
			return err
		}
	}
}

// startAgain makes a container run, or pauses it, if its status is another one.
func (r *replacement) startAgain(ctx context.Context, c container.InspectResponse, status replace.Status) error {
	name, now := strings.TrimPrefix(c.Name, "/"), replace.Container{InspectResponse: c}.Status()
	if status != replace.Stopped && now == replace.Stopped {
		if err := r.engine.Post(ctx, "start "+name, "/containers/"+c.ID+"/start", nil, nil, nil); err != nil {
			return err
		}
		now = replace.Running
	}
	if status == replace.Paused && now == replace.Running {
		return r.engine.Post(ctx, "pause "+name, "/containers/"+c.ID+"/pause", nil, nil, nil)
	}
	return nil
}

// missing is the code of an old container that a user has removed.
const missing = "old.missing"

// withoutOld starts the new container where the old one does not exist any more:
// one that may not work is better than none. It returns what to say about it.
func (r *replacement) withoutOld(ctx context.Context, name, id string, status replace.Status) error {
	gone := "the old container " + engine.Short(id) + " does not exist any more"
	c, err := r.engine.Container(ctx, r.created[id])
	switch {
	case r.created[id] == "", engine.HasStatus(err, http.StatusNotFound):
		return &coded{missing, gone + ", and there is no new one: create " + name + " again"}
	case err != nil:
		return err
	}
	var ended *coded
	switch err := r.keepUp(ctx, c, status); {
	case errors.As(err, &ended):
		return &coded{missing, gone + ", and " + ended.text}
	case err != nil:
		return err
	}
	return &coded{missing, gone + ", so the new one stays: look whether it works"}
}

// removeNew removes the container that was created in the place of the old one,
// whatever its name is by now. One of that name which the operation did not create stays.
func (r *replacement) removeNew(ctx context.Context, name, old string) error {
	if id := r.new(name); id != "" {
		if err := r.discard(ctx, id); err != nil {
			return err
		}
	}
	holder, err := r.engine.Container(ctx, name)
	switch {
	case engine.HasStatus(err, http.StatusNotFound):
		return nil
	case err != nil:
		return err
	case holder.ID == old:
		return nil
	case !r.ours(name, holder):
		return &coded{replace.BlockNameTaken,
			"another container, " + engine.Short(holder.ID) + ", has the name " + name + " by now: remove or rename it"}
	}
	return r.discard(ctx, holder.ID)
}

// discard removes a new container with the volumes that only it has.
func (r *replacement) discard(ctx context.Context, id string) error {
	c, err := r.engine.Container(ctx, id)
	if engine.HasStatus(err, http.StatusNotFound) {
		return nil
	}
	if err == nil && c.State != nil && c.State.Running {
		// The removal kills what does not stop, whatever time it wants: the old one is to run again.
		if err = r.stop(ctx, c, max(0, stopLimit(c))); err != nil && !engine.IsResponse(err) && ctx.Err() == nil {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	return r.engine.Remove(ctx, id, true, true)
}

// ours reports whether a container was created by this operation. If its id was not
// stored since the creation was interrupted, it has never run and has the new image.
// What a helper container said last is lost with it: then the exact image decides.
func (r *replacement) ours(name string, c container.InspectResponse) bool {
	if id := r.new(name); id != "" {
		return c.ID == id
	}
	if handedOver(r.op.Plan) && r.imageID != "" && name == r.op.Plan.Name && c.Image == r.imageID {
		return true
	}
	return c.State != nil && c.State.Status == container.StateCreated && c.Config != nil &&
		(name != r.op.Plan.Name || c.Config.Image == r.target)
}

// creationLimit is how long a creation may go on whose name is wanted back, which is looked
// at after each creationPause. The engine keeps the name before it shows the container.
const (
	creationLimit = time.Minute
	creationPause = 100 * time.Millisecond
)

// keepUp makes a new container run, or pauses it, if its status is another one. A coded
// error says why one that did not run does not stay up.
func (r *replacement) keepUp(ctx context.Context, c container.InspectResponse, status replace.Status) error {
	name, before := strings.TrimPrefix(c.Name, "/"), replace.Container{InspectResponse: c}.Status()
	if err := r.startAgain(ctx, c, status); err != nil {
		if engine.IsResponse(err) {
			return &coded{exited, "the new " + name + " does not start any more: " + err.Error()}
		}
		return err
	}
	if status == replace.Stopped || before != replace.Stopped && (c.State == nil || !c.State.Restarting) {
		return nil
	}
	if err := pause(ctx, r.Liveness); err != nil {
		return err
	}
	c, err := r.engine.Container(ctx, c.ID)
	if engine.HasStatus(err, http.StatusNotFound) {
		return &coded{watcher.ReasonInterrupted, "the new " + name + " was removed by another client"}
	}
	if err != nil {
		return err
	}
	var ended *coded
	if errors.As(alive(container.InspectResponse{ContainerJSONBase: &container.ContainerJSONBase{State: c.State}}),
		&ended) {
		return &coded{exited, fmt.Sprintf("the new %s does not stay up any more: %v", name, ended)}
	}
	return nil
}
