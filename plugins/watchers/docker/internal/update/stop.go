package update

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// killMargin is how much longer a container may run, of which an engine that was asked to stop it kills what is
	// left.
	killMargin = 10 * time.Second
	// stopPause is the time between two looks at a container that is stopping.
	stopPause = 100 * time.Millisecond
	// endless is the limit of a container that the engine does not kill, however long it takes.
	endless time.Duration = -1
)

// stop stops a container with its own signal, and returns once it has stopped. An engine that
// was asked to goes on with that whatever becomes of the request, so that one which is not
// answered is followed to its end. The container may take limit, and endless for ever.
func (r *replacement) stop(ctx context.Context, c container.InspectResponse, limit time.Duration) error {
	name, patience := strings.TrimPrefix(c.Name, "/"), max(0, limit)+r.StopMargin
	err := r.engine.Stop(ctx, name, c.ID, patience)
	if err == nil || engine.IsResponse(err) || ctx.Err() != nil {
		return err
	}
	r.journal.Progress(watcher.StepProgress{Message: name + " has not stopped yet"})
	if limit != endless { // the request may not have arrived
		limit += min(killMargin, r.StopMargin)
	}
	ended, failed := r.ended(ctx, c.ID, limit, func(now container.InspectResponse) bool { return !now.State.Running })
	if !ended && failed == nil {
		failed = err
	}
	return failed
}

// ended waits until a container has ended, or is gone, and reports whether that was within limit, in which
// the time is left out that the engine is away. One that is away for too long is an error.
func (r *replacement) ended(
	ctx context.Context, id string, limit time.Duration, has func(container.InspectResponse) bool,
) (bool, error) {
	for began, responded := time.Now(), time.Now(); limit == endless || time.Since(began) < limit; {
		c, err := r.engine.Container(ctx, id)
		switch {
		case engine.HasStatus(err, http.StatusNotFound):
			return true, nil
		case err != nil && (engine.IsResponse(err) || ctx.Err() != nil || time.Since(responded) > r.StopMargin):
			return false, err
		case err != nil:
			began = time.Now()
		case c.State == nil || has(c):
			return true, nil
		default:
			responded = time.Now()
		}
		if err := pause(ctx, stopPause); err != nil {
			return false, err
		}
	}
	return false, nil
}

// stopLimit is how long a container may take to stop before the engine kills it; endless
// where it does not, which is what --stop-timeout -1 says.
func stopLimit(c container.InspectResponse) time.Duration {
	switch {
	case c.Config == nil || c.Config.StopTimeout == nil:
		return 10 * time.Second
	case *c.Config.StopTimeout < 0:
		return endless
	}
	return time.Duration(*c.Config.StopTimeout) * time.Second
}

// stopOld stops the old container, with the signal of the rules if they have one:
// engines before API 1.42 take none with the request that stops a container.
func (r *replacement) stopOld(ctx context.Context, name string) error {
	old := r.old[name].InspectResponse
	signal := r.op.Request.Rules.StopSignal
	if signal == "" || name != r.op.Plan.Name || r.old[name].Status() != replace.Running {
		return r.stop(ctx, old, stopLimit(old))
	}
	query := engine.Query("signal", signal)
	err := r.engine.Post(ctx, "stop "+name+" with "+signal, "/containers/"+old.ID+"/kill", query, nil, nil)
	if err != nil && !engine.HasStatus(err, http.StatusConflict) { // it does not run any more
		return err
	}
	limit := stopLimit(old)
	if limit == endless { // which is for its own signal
		limit = r.StopMargin
	}
	if _, err := r.ended(ctx, old.ID, limit, func(now container.InspectResponse) bool {
		return !now.State.Running || now.RestartCount > old.RestartCount
	}); err != nil {
		return err
	}
	return r.stop(ctx, old, stopLimit(old))
}

// removeOld removes a container that was replaced, or keeps it and removes older ones.
// Volumes are not removed: the new container has them.
func (r *replacement) removeOld(ctx context.Context, name, id string) error {
	keep := r.op.Request.Rules.Keep
	if keep <= 0 || name != r.op.Plan.Name {
		err := r.engine.Remove(ctx, id, true, false)
		if err != nil && ctx.Err() == nil {
			err = errors.Join(err, r.retire(ctx, name, id))
		}
		return err
	}
	if err := r.retire(ctx, name, id); err != nil {
		return err
	}
	backups, err := r.backupsNow(ctx, name)
	if err != nil {
		return err
	}
	for _, c := range backups[min(keep, len(backups)):] {
		if err := r.engine.Remove(ctx, c.ID, false, false); err != nil {
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
	return r.setRestartPolicy(ctx, name, id, container.RestartPolicy{Name: container.RestartPolicyDisabled})
}

// prune removes the old image. The engine refuses to remove one that is used.
func (r *replacement) prune(ctx context.Context) error {
	if r.op.Plan.From.ID == r.imageID {
		return nil
	}
	return r.removeImage(ctx, r.op.Plan.From.ID)
}

func (r *replacement) removeImage(ctx context.Context, id string) error {
	err := r.engine.RemoveImage(ctx, id)
	if engine.HasStatus(err, http.StatusConflict) || engine.HasStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}

// backups returns those of all containers that are kept predecessors of the one called name,
// the newest first: the ones whose ids its label has, and which a user has not renamed.
func (u *Updater) backups(ctx context.Context, name string, all []container.Summary) ([]container.Summary, error) {
	var found []container.Summary
	for _, holder := range all {
		if engine.Name(holder) != name {
			continue
		}
		labels, err := u.images.Counting(ctx, holder.Labels, holder.ImageID, holder.ImageManifestDescriptor)
		if err != nil {
			return nil, err
		}
		ids := replace.Predecessors(labels)
		for _, c := range all {
			if slices.Contains(ids, c.ID) && strings.HasPrefix(engine.Name(c), replace.Backup(name, "")) {
				found = append(found, c)
			}
		}
	}
	slices.SortFunc(found, func(a, b container.Summary) int { return int(b.Created - a.Created) })
	return found, nil
}

// backupsNow is backups of what the engine has by now.
func (u *Updater) backupsNow(ctx context.Context, name string) ([]container.Summary, error) {
	all, err := u.engine.Containers(ctx, true)
	if err != nil {
		return nil, err
	}
	return u.backups(ctx, name, all)
}

// kept describes the kept predecessors of a container.
func (u *Updater) kept(ctx context.Context, name string, all []container.Summary) ([]watcher.Backup, error) {
	found, err := u.backups(ctx, name, all)
	if err != nil {
		return nil, err
	}
	var backups []watcher.Backup
	for _, c := range found {
		got, err := u.engine.Sized(ctx, c.ID)
		switch {
		case engine.HasStatus(err, http.StatusNotFound):
			continue
		case err != nil:
			return nil, err
		}
		b := watcher.Backup{
			ContainerID: c.ID, Name: engine.Name(c), Image: c.Image, Created: sdk.TimeOf(time.Unix(c.Created, 0)), Size: -1,
		}
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
