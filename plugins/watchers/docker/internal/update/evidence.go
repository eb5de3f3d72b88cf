package update

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/secrets"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// evidenceTime is how long the return to the old container waits at most for what the engine knows of the new one.
	evidenceTime = 5 * time.Second
	// evidenceLines is how many lines of the end of a log are read.
	evidenceLines = 50
)

// evidence is what the engine knows of the new container that did not work, before that is
// removed; nil for one that was never started, or that works. What the engine does not tell is left out.
func (r *replacement) evidence(ctx context.Context, failed watcher.Step, cause error) *watcher.Evidence {
	if errors.Is(cause, watcher.ErrStop) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, evidenceTime)
	defer cancel()
	name := cmp.Or(failed.Container, r.op.Plan.Name)
	id := r.newOf(ctx, name)
	if id == "" {
		return nil
	}
	c, err := r.engine.Container(ctx, id)
	switch {
	case err != nil || c.ContainerJSONBase == nil || c.State == nil || c.Config == nil:
		return nil
	case c.State.Status == container.StateCreated && c.State.Error == "":
		return nil
	case failed.Code == watcher.ReasonInterrupted && alive(c) == nil:
		return nil
	}
	hide := secrets.Hiding(slices.Concat(c.Config.Env, c.Config.Entrypoint, c.Config.Cmd))
	e := &watcher.Evidence{
		Container: name, Status: string(c.State.Status), ExitCode: c.State.ExitCode, Error: hide(c.State.Error),
	}
	if restarted(c) {
		e.Status += ", restarted"
		if code, known := r.engine.LastExit(ctx, c); known {
			e.Status, e.ExitCode = string(container.StateRestarting), code
		}
	}
	if c.State.OOMKilled {
		e.Error = strings.TrimSpace("it was killed since it had no memory left. " + e.Error)
	}
	if c.State.Health != nil && c.State.Health.Status != container.NoHealthcheck && c.State.Health.Status != "" {
		e.Status += ", " + string(c.State.Health.Status)
		for _, check := range c.State.Health.Log {
			e.Health = append(e.Health, watcher.HealthResult{
				At: sdk.TimeOf(check.End), ExitCode: check.ExitCode, Output: hide(check.Output),
			})
		}
	}
	e.Log = secrets.EndOfLog(func(to io.Writer) error {
		return r.engine.LastLines(ctx, engine.LogRequest{Container: id, Lines: evidenceLines}, c.Config.Tty, to)
	}, hide)
	return e
}

// newOf is the id of the container that took the place of the one called name; "" for none.
func (r *replacement) newOf(ctx context.Context, name string) string {
	old, known := r.old[name]
	if !known || old.ContainerJSONBase == nil {
		return ""
	}
	if id := r.created[old.ID]; id != "" || r.files.Command == nil {
		return id
	}
	c := r.files.Command // which failed before it said what it had created
	found, err := r.slot(ctx, map[string]string{
		compose.LabelProject: c.Project, compose.LabelService: c.Service, compose.LabelNumber: r.files.Number,
	})
	found = slices.DeleteFunc(found, func(s container.Summary) bool { return s.ID == old.ID })
	if err != nil || len(found) != 1 {
		return ""
	}
	return found[0].ID
}
