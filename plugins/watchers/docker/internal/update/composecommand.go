package update

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// composeLimit bounds one call of the compose command, apart from the container's own timeout to stop.
const composeLimit = 5 * time.Minute

// up has compose recreate the container from the new image.
func (r *replacement) up(ctx context.Context, name string) (map[string]string, error) {
	old := r.old[name]
	if err := r.tag(ctx, r.target, r.imageID); err != nil {
		return nil, err
	}
	status := replace.Statuses(r.op.Plan)[name]
	if err := r.callUp(ctx, status != replace.Stopped, stopTimeout(old), r.secrets(old)); err != nil {
		return nil, err
	}
	found, err := r.slot(ctx, old.Labels)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(c container.Summary) bool { return c.ID == old.ID })
	if len(found) != 1 {
		return nil, fmt.Errorf("compose left %d new containers of %s: see its output", len(found), name)
	}
	r.created[old.ID] = found[0].ID
	r.downtimeOf(ctx, old, found[0].ID)
	facts := map[string]string{factNew: found[0].ID}
	if found[0].ImageID != r.imageID {
		return facts,
			fmt.Errorf("compose started another image than %s: is its pull policy always?",
				engine.Short(strings.TrimPrefix(r.imageID, "sha256:")))
	}
	return facts, nil
}

// downtimeOf finds out by the engine's events how long no container ran. The old one
// is gone by now. It stays unknown where a proxy hides the events.
func (r *replacement) downtimeOf(ctx context.Context, old replace.Container, id string) {
	c, err := r.engine.Container(ctx, id)
	if err != nil || c.State == nil || old.State == nil {
		return
	}
	since, err := time.Parse(time.RFC3339Nano, old.State.StartedAt)
	started, other := time.Parse(time.RFC3339Nano, c.State.StartedAt)
	if err != nil || other != nil || !started.After(since) {
		return
	}
	if ended, known := r.engine.LastEnd(ctx, old.ID, since, started); known {
		r.health = started.Sub(ended)
	}
}

func (r *replacement) callUp(ctx context.Context, start bool, extra time.Duration, secrets []string) error {
	host, err := r.engine.Endpoint.DockerHost()
	if err != nil {
		return err
	}
	if err := r.files.Command.Check(compose.Guarded(r.files.Guard)); err != nil {
		return withCode(err)
	}
	ctx, cancel := context.WithTimeout(ctx, composeLimit+extra)
	defer cancel()
	output, err := r.files.Command.Run(ctx, host, secrets, r.files.Command.Up(start)...)
	for line := range strings.Lines(output) {
		r.log.Info("compose", "service", r.files.Command.Service, "output", strings.TrimSpace(line))
	}
	return err
}

// stopTimeout is how long a container may take to stop, if that is set.
func stopTimeout(c replace.Container) time.Duration {
	if c.Config == nil || c.Config.StopTimeout == nil {
		return 0
	}
	return time.Duration(max(0, *c.Config.StopTimeout)) * time.Second
}

// secrets are values that the output of compose may hold.
func (r *replacement) secrets(c replace.Container) []string {
	all := compose.Project{EnvFiles: r.files.Command.EnvFiles}.Values(nil)
	all = append(all, compose.Project{EnvFiles: []string{r.files.Command.WorkingDir + "/.env"}}.Values(nil)...)
	if c.Config != nil {
		for _, e := range c.Config.Env {
			_, value, _ := strings.Cut(e, "=")
			all = append(all, value)
		}
	}
	// The longest first: one may be part of another.
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// rollBackByCommand returns to the old image. The old container is used if compose left
// it; otherwise compose, or systemd, makes it anew from the old file and the old image.
func (r *replacement) rollBackByCommand(ctx context.Context, out watcher.Outcome) (watcher.Outcome, error) {
	if err := r.unedit(ctx, &out); err != nil {
		return watcher.Outcome{}, err
	}
	plan := r.op.Plan
	s := watcher.Step{
		ID: rollBackPrefix + plan.Name, Code: watcher.StepStart, Container: plan.Name,
		Text: "return to the old image of " + plan.Name,
	}
	if err := r.journal.Begin(ctx, s); err != nil && !errors.Is(err, watcher.ErrStop) {
		return watcher.Outcome{}, &journalError{err}
	}
	restore := r.restoreByCommand
	if r.files.Unit != "" {
		restore = r.restoreByUnit
	}
	id, failed := restore(ctx)
	if err := r.journal.End(ctx, s, nil, failed); err != nil {
		return watcher.Outcome{}, &journalError{err}
	}
	if ctx.Err() != nil || errors.Is(failed, sdk.ErrUnavailable) { // Recover tries again
		return watcher.Outcome{}, errors.Join(failed, context.Cause(ctx))
	}
	if failed != nil {
		out.State, out.Warnings = watcher.Broken, r.warnings
		out.Reason.Text += fmt.Sprintf("; and the old image of %s could not be started again: %v: %s",
			plan.Name, failed, r.files.Remedy())
		return out, nil
	}
	out.ContainerID = id
	return out, nil
}

// restoreByCommand makes a container of the old image run, and returns its id. Every
// step of it may have been taken already.
func (r *replacement) restoreByCommand(ctx context.Context) (string, error) {
	plan := r.op.Plan
	status := replace.Statuses(plan)[plan.Name]
	if !strings.HasPrefix(plan.From.Reference, "sha256:") {
		if err := r.tag(ctx, plan.From.Reference, plan.From.ID); err != nil {
			return "", err
		}
	}
	c := r.files.Command
	labels := map[string]string{
		compose.LabelProject: c.Project, compose.LabelService: c.Service, compose.LabelNumber: r.files.Number,
	}
	found, err := r.slot(ctx, labels)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(found, func(s container.Summary) bool { return s.ID == plan.ContainerID }) {
		for _, s := range found {
			if s.ID == plan.ContainerID {
				continue
			}
			if err := r.discard(ctx, s.ID); err != nil {
				return "", err
			}
		}
		return plan.ContainerID, r.restore(ctx, plan.Name, plan.ContainerID, status)
	}
	if err := r.callUp(ctx, status != replace.Stopped, 0, r.secrets(replace.Container{})); err != nil {
		return "", err
	}
	if found, err = r.slot(ctx, labels); err != nil {
		return "", err
	}
	if len(found) != 1 || found[0].ImageID != plan.From.ID {
		return "", fmt.Errorf("compose did not start the image %s", engine.Short(strings.TrimPrefix(plan.From.ID, "sha256:")))
	}
	if status == replace.Paused && found[0].State == container.StateRunning {
		return found[0].ID, r.engine.Post(ctx, "pause "+plan.Name, "/containers/"+found[0].ID+"/pause", nil, nil, nil)
	}
	return found[0].ID, nil
}
