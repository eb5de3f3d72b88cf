package containerlog

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/docker/docker/api/types/swarm"
	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/secrets"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// maxTasks is of how many tasks of a service the logs are read, each of which costs a request.
const maxTasks = 10

// ReadService returns the end of what the tasks of a service wrote, by time; see watcher.LogReader. Where there are
// several, each line begins with which of them wrote it. Those on nodes that do not answer are left out, unless all
// are.
func ReadService(ctx context.Context, e *engine.Engine, service engine.Service, lines int) (watcher.Log, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	lines = min(max(lines, 1), watcher.MaxLogLines)
	if d := service.Spec.TaskTemplate.LogDriver; d != nil && d.Name == "none" {
		return watcher.Log{UnreadableDriver: d.Name}, nil
	}
	tasks, err := e.Tasks(ctx, service.ID)
	if err != nil {
		return watcher.Log{}, err
	}
	tasks = latest(tasks)
	logs, errs := make([][]watcher.LogLine, len(tasks)), make([]error, len(tasks))
	var group errgroup.Group
	group.SetLimit(engine.Concurrency)
	for i, task := range tasks {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, taskTimeout)
			defer cancel()
			logs[i], errs[i] = readTask(ctx, e, task, lines)
			return nil
		})
	}
	_ = group.Wait()
	if len(tasks) > 0 && !slices.Contains(errs, nil) {
		return watcher.Log{}, errs[0]
	}
	if len(tasks) > 1 {
		for i, task := range tasks {
			for n := range logs[i] {
				logs[i][n].Text = nameOf(task) + " | " + logs[i][n].Text
			}
		}
	}
	all := slices.Concat(logs...)
	slices.SortStableFunc(all, func(a, b watcher.LogLine) int { return a.At.Compare(b.At.Time) })
	return watcher.Log{Lines: end(all, lines)}, nil
}

// latest returns the tasks that have had a container: those that are to run, and then the newest.
func latest(tasks []swarm.Task) []swarm.Task {
	tasks = slices.DeleteFunc(tasks, func(t swarm.Task) bool {
		return t.Spec.ContainerSpec == nil || t.Status.ContainerStatus == nil || t.Status.ContainerStatus.ContainerID == ""
	})
	ended := func(t swarm.Task) int {
		if t.DesiredState == swarm.TaskStateRunning {
			return 0
		}
		return 1
	}
	slices.SortFunc(tasks, func(a, b swarm.Task) int {
		return cmp.Or(cmp.Compare(ended(a), ended(b)), b.CreatedAt.Compare(a.CreatedAt))
	})
	return tasks[:min(len(tasks), maxTasks)]
}

// readTask returns the end of what a task wrote.
func readTask(ctx context.Context, e *engine.Engine, task swarm.Task, lines int) ([]watcher.LogLine, error) {
	spec := task.Spec.ContainerSpec
	t, err := read(ctx, e, engine.LogRequest{Task: task.ID, Lines: lines}, spec.TTY)
	if err != nil {
		return nil, err
	}
	return t.finish(secrets.Hiding(slices.Concat(spec.Env, spec.Command, spec.Args))), nil
}

// nameOf tells a task from the others of its service: by its slot, or its node where there is one on each, and by its
// id, as one that has ended has the slot of the next.
func nameOf(t swarm.Task) string {
	slot := engine.Short(t.NodeID)
	if t.Slot > 0 {
		slot = strconv.Itoa(t.Slot)
	}
	return slot + "." + t.ID[:min(len(t.ID), 5)]
}
