package update

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// healthWindow is how long it may take to become healthy, if nothing else is set.
	healthWindow = 2 * time.Minute
	// healthInterval is the time between two looks at it.
	healthInterval = 500 * time.Millisecond
)

// healthy waits until the new container works: until it is healthy, or a probe
// succeeds, and in any case until it has been up for some time.
func (r *replacement) healthy(ctx context.Context, name string) error {
	var gate watcher.HealthGate // dependents have their own health check, or none
	if name == r.op.Plan.Name {
		gate = r.op.Request.Rules.Health
	}
	window, interval := gate.Window, gate.Interval
	if window <= 0 {
		window = healthWindow
	}
	if interval <= 0 {
		interval = healthInterval
	}
	began := time.Now()
	for probes := int64(1); ; probes++ {
		ready, why, err := r.works(ctx, name, gate)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && (!unanswered(err) || time.Since(began) >= window):
			return err
		case err != nil: // that the engine hangs, or is restarted, does not mean that the container fails
			why = err.Error()
		case ready && time.Since(began) >= r.Liveness, time.Since(began) >= window && r.unwell(name, gate):
			if !ready || why == unhealthy || why == exited {
				text := name + " works no better than before: " + why
				r.warnings = append(r.warnings, watcher.Reason{Code: replace.WarnUnwell, Text: text})
			}
			return nil
		case !ready && time.Since(began) >= window:
			return &coded{"unhealthy", fmt.Sprintf("%s was not healthy within %s: %s", name, window, why)}
		}
		r.journal.Progress(watcher.StepProgress{Message: why, Current: probes})
		if err := pause(ctx, interval); err != nil {
			return err
		}
	}
}

// works looks once whether the new container works, and what it waits for otherwise.
func (r *replacement) works(ctx context.Context, name string, gate watcher.HealthGate) (bool, string, error) {
	c, err := r.present(ctx, name)
	if err != nil {
		return false, "", err
	}
	r.downtime(ctx, name, c)
	if err := alive(c); err != nil {
		if r.loops(name) {
			return true, exited, nil
		}
		if restarted(c) {
			if code, known := r.engine.LastExit(ctx, c); known {
				err = endedAgain(code)
			}
		}
		return false, "", err
	}
	if err := published(r.old[name].InspectResponse, c); err != nil {
		return false, "", err
	}
	ready, why := r.probe(ctx, c, gate)
	if why == unhealthy && r.unwell(name, gate) {
		return true, why, nil
	}
	if why == unhealthy {
		return false, "", &coded{"unhealthy", name + " became unhealthy" + lastOutput(c)}
	}
	return ready, why, nil
}

// loops reports whether a container that is recreated with another one kept restarting
// before: whether it stays up is nothing that the update is about.
func (r *replacement) loops(name string) bool {
	return name != r.op.Plan.Name && r.old[name].Status() == replace.Restarting
}

// unwell reports whether the old container was unhealthy, and nothing but its own health check
// says whether the new one works: that is held to no more than the old one then.
func (r *replacement) unwell(name string, gate watcher.HealthGate) bool {
	return replace.Unwell(r.old[name], gate)
}

// unanswered reports whether an error is that the engine, or a proxy, did not respond.
func unanswered(err error) bool {
	var failed *coded
	return !errors.As(err, &failed) && !engine.IsResponse(err)
}

// downtime measures by the engine's clock for how long the container did not run.
func (r *replacement) downtime(ctx context.Context, name string, c container.InspectResponse) {
	if r.health > 0 || c.State == nil {
		return
	}
	old, err := r.engine.Container(ctx, r.old[name].ID)
	if err != nil || old.State == nil {
		return
	}
	stopped, err := time.Parse(time.RFC3339Nano, old.State.FinishedAt)
	started, other := time.Parse(time.RFC3339Nano, c.State.StartedAt)
	if err == nil && other == nil && started.After(stopped) {
		r.health = started.Sub(stopped)
	}
}

// alive reports a container that ended or was restarted.
func alive(c container.InspectResponse) error {
	switch {
	case c.State == nil:
		return nil
	case c.State.Restarting:
		return endedAgain(c.State.ExitCode)
	case c.RestartCount > 0:
		return &coded{exited, "the new container ended and the engine restarted it"}
	case !c.State.Running:
		text := fmt.Sprintf("the new container ended with exit code %d", c.State.ExitCode)
		if c.State.Error != "" {
			text += ": " + c.State.Error
		}
		return &coded{exited, text}
	}
	return nil
}

// endedAgain is the error of a container that the engine restarts, with the code with which it ended last.
func endedAgain(code int) error {
	return &coded{exited, fmt.Sprintf("the new container ended with exit code %d and the engine restarted it", code)}
}

// The codes of new containers that do not work.
const (
	unhealthy = "unhealthy"
	exited    = "exited"
)

// probe reports whether a container works, and what it waits for otherwise.
func (r *replacement) probe(ctx context.Context, c container.InspectResponse, gate watcher.HealthGate) (bool, string) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var err error
	switch {
	case gate.HTTP != "":
		err = r.probeHTTP(ctx, gate.HTTP, c)
	case gate.TCP != "":
		err = r.probeTCP(ctx, gate.TCP, c)
	case len(gate.Command) > 0:
		err = r.execute(ctx, "the probe", c.ID, gate.Command)
	case c.State != nil && c.State.Health != nil && c.State.Health.Status != container.NoHealthcheck &&
		c.State.Health.Status != "": // as Podman says that there is none
		if c.State.Health.Status == container.Healthy && flaps(c.State.Health.Log) {
			return false, "healthy, but its last check failed a moment ago"
		}
		return c.State.Health.Status == container.Healthy, string(c.State.Health.Status)
	}
	if err != nil {
		return false, err.Error()
	}
	return true, "stays up"
}

// lastOutput is what the last health check wrote, shortened.
func lastOutput(c container.InspectResponse) string {
	if c.State == nil || c.State.Health == nil || len(c.State.Health.Log) == 0 {
		return ""
	}
	output := strings.Join(strings.Fields(c.State.Health.Log[len(c.State.Health.Log)-1].Output), " ")
	if output == "" {
		return ""
	}
	return ": " + output[:min(len(output), 200)]
}

// flaps reports whether a health check failed less than the time that a container has to stay up
// before its last one. A look between two failures would take it for healthy.
func flaps(log []*container.HealthcheckResult) bool {
	if len(log) == 0 {
		return false
	}
	last := log[len(log)-1].End
	return slices.ContainsFunc(log, func(r *container.HealthcheckResult) bool {
		return r.ExitCode != 0 && last.Sub(r.End) < defaultLiveness
	})
}

// lostNew is the code of a new container that another client has removed.
const lostNew = "new.missing"

func removedMeanwhile(name string) *coded {
	return &coded{lostNew, "another client has removed the new " + name}
}

// present returns the new container in the place of the one called name, whatever its name is
// by now. A coded error says that it was removed.
func (r *replacement) present(ctx context.Context, name string) (container.InspectResponse, error) {
	c, err := r.engine.Container(ctx, r.new(name))
	switch {
	case engine.HasStatus(err, http.StatusNotFound) && r.files.Unit != "": // which removes what has ended
		return c, &coded{exited, "it ended, and systemd may start it again: see journalctl -u " + r.files.Unit}
	case engine.HasStatus(err, http.StatusNotFound):
		return c, removedMeanwhile(name)
	}
	return c, err
}

// stays looks at a new container a last time before the old one is removed. A coded error says
// that it was removed, or that it does not run any more.
func (r *replacement) stays(ctx context.Context, name string) error {
	c, err := r.present(ctx, name)
	if err != nil || replace.Statuses(r.op.Plan)[name] == replace.Stopped || r.loops(name) {
		return err
	}
	return alive(c)
}

// restarted reports whether a container runs after it had ended and was restarted: its state tells nothing of that.
func restarted(c container.InspectResponse) bool {
	return c.RestartCount > 0 && c.State.Running && !c.State.Restarting
}
