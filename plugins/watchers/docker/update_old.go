package docker

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// stopMargin is how much longer a stop may take than the container's own timeout.
const stopMargin = time.Minute

// stop stops a container with its own signal and timeout.
func (r *replacement) stop(ctx context.Context, c container.InspectResponse) error {
	return r.engine.change(ctx, operation{"stop " + strings.TrimPrefix(c.Name, "/"), "POST"},
		change{method: http.MethodPost, path: "/containers/" + c.ID + "/stop", limit: stopLimit(c) + stopMargin})
}

// stopLimit is how long a container may take to stop before the engine kills it.
func stopLimit(c container.InspectResponse) time.Duration {
	if c.Config != nil && c.Config.StopTimeout != nil {
		return time.Duration(max(0, *c.Config.StopTimeout)) * time.Second
	}
	return 10 * time.Second
}

// stopOld stops the old container, with the signal of the rules if they have one:
// engines before API 1.42 take none with the request that stops a container.
func (r *replacement) stopOld(ctx context.Context, name string) error {
	old := r.old[name].InspectResponse
	signal := r.op.Request.Rules.StopSignal
	if signal == "" || name != r.op.Plan.Name || r.old[name].Status() != replace.Running {
		return r.stop(ctx, old)
	}
	err := r.engine.post(ctx, "stop "+name+" with "+signal, "/containers/"+old.ID+"/kill", query("signal", signal), nil, nil)
	if err != nil && !hasStatus(err, http.StatusConflict) { // it does not run any more
		return err
	}
	for end := time.Now().Add(stopLimit(old)); time.Now().Before(end); {
		c, err := r.engine.container(ctx, old.ID)
		if err != nil {
			return err
		}
		if c.State == nil || !c.State.Running || c.RestartCount > old.RestartCount {
			break
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
	return r.stop(ctx, old)
}

// removeOld removes a container that was replaced, or keeps it and removes older ones.
// Volumes are not removed: the new container has them.
func (r *replacement) removeOld(ctx context.Context, name, id string) error {
	keep := r.op.Request.Rules.Keep
	if keep <= 0 || name != r.op.Plan.Name {
		err := r.engine.remove(ctx, id, true, false)
		if err != nil && ctx.Err() == nil {
			err = errors.Join(err, r.retire(ctx, name, id))
		}
		return err
	}
	if err := r.retire(ctx, name, id); err != nil {
		return err
	}
	backups, err := r.engine.backups(ctx, name)
	if err != nil {
		return err
	}
	for _, c := range backups[min(keep, len(backups)):] {
		if err := r.engine.remove(ctx, c.ID, false, false); err != nil {
			return err
		}
		if r.op.Request.Rules.Prune && c.ImageID != r.imageID {
			if err := r.removeImage(ctx, c.ImageID); err != nil {
				return err
			}
		}
	}
	return nil
}

// retire takes the restart policy from a predecessor that stays: with "always" the
// engine would start it when it starts itself.
func (r *replacement) retire(ctx context.Context, name, id string) error {
	return r.setPolicy(ctx, name, id, container.RestartPolicy{Name: container.RestartPolicyDisabled})
}

// prune removes the old image. The engine refuses to remove one that is used.
func (r *replacement) prune(ctx context.Context) error {
	if r.op.Plan.From.ID == r.imageID {
		return nil
	}
	return r.removeImage(ctx, r.op.Plan.From.ID)
}

func (r *replacement) removeImage(ctx context.Context, id string) error {
	err := r.engine.change(ctx, operation{"remove image " + short(id), "DELETE"}, change{method: http.MethodDelete, path: "/images/" + id, limit: changeLimit})
	if hasStatus(err, http.StatusConflict) || hasStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}

// backups returns the kept predecessors of a container, the newest first.
func (e *engine) backups(ctx context.Context, name string) ([]container.Summary, error) {
	all, err := e.containers(ctx, true)
	return backupsOf(name, all), err
}

func backupsOf(name string, all []container.Summary) []container.Summary {
	backups := slices.DeleteFunc(slices.Clone(all), func(c container.Summary) bool { return !replace.BackupOf(name, containerName(c)) })
	slices.SortFunc(backups, func(a, b container.Summary) int { return int(b.Created - a.Created) })
	return backups
}

// kept describes the kept predecessors of a container.
func (d *Docker) kept(ctx context.Context, name string, all []container.Summary) ([]watcher.Backup, error) {
	var backups []watcher.Backup
	for _, c := range backupsOf(name, all) {
		got, err := d.engine.sized(ctx, c.ID)
		switch {
		case hasStatus(err, http.StatusNotFound):
			continue
		case err != nil:
			return nil, err
		}
		b := watcher.Backup{ContainerID: c.ID, Name: containerName(c), Image: c.Image, Created: sdk.TimeOf(time.Unix(c.Created, 0)), Size: -1}
		if got.SizeRw != nil {
			b.Size = *got.SizeRw
		}
		if got.Config != nil {
			b.Image = got.Config.Image
		}
		backups = append(backups, b)
	}
	return backups, nil
}
