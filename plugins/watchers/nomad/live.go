package nomad

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/watchers/nomad/internal/api"
	"github.com/dogwatch/dogwatch/sdk"
)

// target is a task with an image.
type target struct {
	job         key
	group, task string
	name        string // that of its container
}

// target returns the task that a container is of, which must be of a namespace that is watched. While Watch runs and
// knows the jobs, it costs no request.
func (n *Nomad) target(ctx context.Context, id string) (target, error) {
	all, err := n.known(ctx)
	if err != nil {
		return target{}, err
	}
	for _, r := range rows(all) {
		if r.ID == id {
			r.target.name = r.Name
			return r.target, nil
		}
	}
	return target{}, sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("%.100q is no container of this watcher", id))
}

// live is a job as the cluster has it, with the task that is updated.
type live struct {
	target
	api.Version
	group api.VersionGroup
	// written is the image as the job has it, image that without its transport.
	written, image string
}

// live reads a job. The error is an sdk.ErrNotFound where it, or its task, does not exist any more.
func (n *Nomad) live(ctx context.Context, t target) (live, error) {
	v, err := n.client.Read(ctx, t.job.namespace, t.job.id)
	if err != nil {
		return live{}, err
	}
	l, is := t.in(v)
	if !is {
		return live{}, sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("the job %s has no task %s with an image any more", t.job.id, t.task))
	}
	return l, nil
}

// in returns the task as a version of its job has it.
func (t target) in(v api.Version) (live, bool) {
	for _, group := range v.TaskGroups {
		for _, task := range group.Tasks {
			if image, is := imageOf(task); is && group.Name == t.group && task.Name == t.task {
				return live{t, v, group, image, withoutTransport(image)}, true
			}
		}
	}
	return live{}, false
}

// withoutTransport returns an image without the transport that both drivers take before its name:
// https://developer.hashicorp.com/nomad/plugins/drivers/podman#image.
func withoutTransport(image string) string {
	return strings.TrimPrefix(strings.TrimPrefix(image, "docker://"), "https://")
}

// with returns the job with another image in the task.
func (l live) with(image string) (json.RawMessage, error) {
	return l.WithImage(l.target.group, l.task, strings.TrimSuffix(l.written, l.image)+image)
}

// isWatched reports whether allocations run the new image at once, so that the cluster shows whether it works.
func (l live) isWatched() bool {
	return l.Periodic == nil && l.ParameterizedJob == nil && (l.group.Count > 0 || strings.HasPrefix(l.Type, "sys"))
}

// Image implements orchestrated.Live.
func (l live) Image() string { return l.image }

// Setter implements orchestrated.Live. Nomad does not tell who has changed a job.
func (l live) Setter() string { return "another client" }
