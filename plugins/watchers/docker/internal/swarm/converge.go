package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/swarm"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/secrets"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// overtakenError says that a service has another image than the one that is waited for.
type overtakenError struct{ name, image string }

func (e *overtakenError) Error() string { return fmt.Sprintf("%s was changed to %s", e.name, e.image) }

// isRollback reports whether the swarm returns, or has returned, to the specification before.
func isRollback(s swarm.UpdateState) bool { return strings.HasPrefix(string(s), "rollback_") }

// converge waits until all tasks of the service run an image, and have stayed up as long as the service itself
// monitors them. The error says why they do not: that the swarm gave up, that nothing changed for too long, or an
// *overtakenError.
func (r *rollout) converge(ctx context.Context, image string) error {
	var best progress
	var up uptime
	since := time.Now()
	for {
		service, err := r.engine.Service(ctx, r.op.Request.ContainerID)
		var tasks []swarm.Task
		if err == nil {
			tasks, err = r.engine.Tasks(ctx, service.ID)
		}
		switch {
		case errors.Is(err, sdk.ErrNotFound), ctx.Err() != nil:
			return err
		case err != nil: // the manager may be among what is updated
			r.log.Debug("an update of a service cannot be watched, trying again", "service", r.op.Plan.Name, "error", err)
		default:
			done, err := r.judge(service, tasks, image)
			if err != nil || up.stayed(done, tasks, monitorOf(service)) {
				return err
			}
		}
		if now := progressOf(service, tasks, image); err == nil && now.isAfter(best) {
			best, since = now, time.Now()
		}
		if progressDeadline := r.progressDeadlineOf(service); time.Since(since) > progressDeadline {
			return cmp.Or(err, fmt.Errorf("nothing changed for %s, and not all tasks of %s run the image: %s", progressDeadline,
				r.op.Plan.Name, cmp.Or(problem(tasks, image), "the swarm does not say why")))
		}
		if err := backoff.Wait(ctx, r.poll); err != nil {
			return err
		}
	}
}

// judge reports whether a service runs an image with all of its tasks; the error means that it will not.
func (r *rollout) judge(service engine.Service, tasks []swarm.Task, image string) (done bool, err error) {
	status := swarm.UpdateStatus{}
	if service.UpdateStatus != nil {
		status = *service.UpdateStatus
	}
	switch now := imageIn(service); {
	case now != image && now == r.old && isRollback(status.State): // the service is set to return by itself
		return false, errors.New(cmp.Or(problem(tasks, image), status.Message, "the swarm returned to the old image"))
	case now != image:
		return false, &overtakenError{r.op.Plan.Name, now}
	}
	running, wanted := count(service, tasks, image)
	r.journal.Progress(watcher.StepProgress{
		Message: fmt.Sprintf("%d of %d tasks run the image", running, wanted), Current: int64(running), Total: int64(wanted),
	})
	switch status.State {
	case swarm.UpdateStatePaused, swarm.UpdateStateRollbackPaused:
		return false, errors.New(cmp.Or(problem(tasks, image), status.Message, "the swarm paused the update"))
	case swarm.UpdateStateUpdating, swarm.UpdateStateRollbackStarted:
		return false, nil
	}
	return running >= wanted && progressOf(service, tasks, image).others == 0, nil
}

// uptime is since when the tasks that are wanted run.
type uptime struct {
	tasks string // their ids
	began time.Time
}

// stayed reports whether the same tasks have run for some time; up is whether all do now.
func (u *uptime) stayed(up bool, tasks []swarm.Task, long time.Duration) bool {
	if !up {
		u.tasks, u.began = "", time.Time{}
		return false
	}
	var ids []string
	for _, t := range tasks {
		if t.DesiredState == swarm.TaskStateRunning {
			ids = append(ids, t.ID)
		}
	}
	slices.Sort(ids)
	if now := strings.Join(ids, " "); now != u.tasks || u.began.IsZero() {
		u.tasks, u.began = now, time.Now()
	}
	return len(ids) == 0 || time.Since(u.began) >= long
}

// defaultMonitor is how long a swarm monitors a new task where its service does not say.
const defaultMonitor = 5 * time.Second

func monitorOf(service engine.Service) time.Duration {
	if c := service.Spec.UpdateConfig; c != nil && c.Monitor > 0 {
		return c.Monitor
	}
	return defaultMonitor
}

// count returns how many tasks of a service run an image, and how many shall.
func count(service engine.Service, tasks []swarm.Task, image string) (running, wanted int) {
	for _, t := range tasks {
		if t.DesiredState != swarm.TaskStateRunning {
			continue
		}
		wanted++
		if t.Status.State == swarm.TaskStateRunning && taskImage(t) == image {
			running++
		}
	}
	if mode := service.Spec.Mode.Replicated; mode != nil && mode.Replicas != nil {
		wanted = int(*mode.Replicas)
	}
	return running, wanted
}

// isOther reports whether a task is wanted that runs another image.
func isOther(t swarm.Task, image string) bool {
	return t.DesiredState == swarm.TaskStateRunning && taskImage(t) != image
}

func taskImage(t swarm.Task) string {
	if t.Spec.ContainerSpec == nil {
		return ""
	}
	return t.Spec.ContainerSpec.Image
}

// failed returns the newest task of an image that did not run; nil for none.
func failed(tasks []swarm.Task, image string) *swarm.Task {
	var newest *swarm.Task
	for i, t := range tasks {
		bad := t.Status.Err != "" || t.Status.State == swarm.TaskStateFailed || t.Status.State == swarm.TaskStateRejected
		if bad && taskImage(t) == image && (newest == nil || t.Status.Timestamp.After(newest.Status.Timestamp)) {
			newest = &tasks[i]
		}
	}
	return newest
}

// problem says why tasks of an image do not run; "" where that is not known.
func problem(tasks []swarm.Task, image string) string {
	t := failed(tasks, image)
	if t == nil {
		return ""
	}
	return fmt.Sprintf("a task %s: %s", t.Status.State, cmp.Or(t.Status.Err, t.Status.Message))
}

// progress is how far an update is: of tasks that fail again and again it stays the same.
type progress struct {
	state           swarm.UpdateState
	running, others int // tasks that run the image, and those that are wanted with another
}

func progressOf(service engine.Service, tasks []swarm.Task, image string) (p progress) {
	if service.UpdateStatus != nil {
		p.state = service.UpdateStatus.State
	}
	p.running, _ = count(service, tasks, image)
	for _, t := range tasks {
		if isOther(t, image) {
			p.others++
		}
	}
	return p
}

func (p progress) isAfter(best progress) bool {
	return p.state != best.state || p.running > best.running || p.others < best.others
}

// progressDeadlineOf is how long an update may make no progress: what its rules ask for, or else some minutes, and what
// the service itself waits between two tasks.
func (r *rollout) progressDeadlineOf(service engine.Service) time.Duration {
	progressDeadline := cmp.Or(r.op.Request.Rules.Health.Window, r.progressDeadline)
	for _, c := range []*swarm.UpdateConfig{service.Spec.UpdateConfig, service.Spec.RollbackConfig} {
		if c != nil {
			progressDeadline += c.Delay + c.Monitor
		}
	}
	return progressDeadline
}

const (
	// evidenceTime is how long a rollback waits at most for what the swarm knows of the tasks that failed.
	evidenceTime = 5 * time.Second
	// evidenceLines is how many lines of the end of a log are read.
	evidenceLines = 50
)

// evidence is what the swarm knows of the newest task that did not work; nil where there is none.
func (r *rollout) evidence(ctx context.Context) *watcher.Evidence {
	ctx, cancel := context.WithTimeout(ctx, evidenceTime)
	defer cancel()
	tasks, err := r.engine.Tasks(ctx, r.op.Request.ContainerID)
	t := failed(tasks, r.image)
	if err != nil || t == nil {
		return nil
	}
	spec := t.Spec.ContainerSpec
	hide := secrets.Hiding(slices.Concat(spec.Env, spec.Command, spec.Args))
	e := &watcher.Evidence{
		Container: r.op.Plan.Name, Status: string(t.Status.State), Error: hide(cmp.Or(t.Status.Err, t.Status.Message)),
	}
	if c := t.Status.ContainerStatus; c != nil && c.ContainerID != "" {
		e.ExitCode = c.ExitCode
		e.Log = secrets.EndOfLog(func(to io.Writer) error {
			return r.engine.LastLines(ctx, engine.LogRequest{Task: t.ID, Lines: evidenceLines}, spec.TTY, to)
		}, hide)
	}
	return e
}
