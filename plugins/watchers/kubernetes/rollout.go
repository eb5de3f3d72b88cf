package kubernetes

import (
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// rollout is an update of a workload that is carried out.
type rollout struct {
	*Kubernetes
	orchestrated.Task
	target target
}

// Read implements orchestrated.Workload.
func (r *rollout) Read(ctx context.Context) (live, error) {
	t, err := r.Kubernetes.target(r.Op.Request.ContainerID)
	if err == nil && objectKinds[t.kind] == "" {
		err = sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("%s is no workload", t.name()))
	}
	if err != nil {
		return live{}, err
	}
	r.target = t
	return r.live(ctx, t)
}

// Plan implements orchestrated.Workload.
func (r *rollout) Plan(l live) watcher.Plan { return r.plan(l, r.Op.Request) }

// patchTries is how often a change is tried of a workload to whose status the cluster writes meanwhile.
const patchTries = 10

// Set implements orchestrated.Workload: it patches the workload, again with its newest version where nothing that
// counts has changed since it was read.
func (r *rollout) Set(ctx context.Context, l live, image string) error {
	if !r.options.Update {
		return errors.New("this watcher only reads: set its option update to true to let it update workloads")
	}
	for try := 1; ; try++ {
		err := denial(r.client.Apply(ctx, l.resource, l.workload, l.application(image)))
		if !errors.Is(err, cluster.ErrConflict) || try == patchTries {
			return err
		}
		if err := backoff.Wait(ctx, r.poll/4); err != nil {
			return err
		}
		now, failed := r.live(ctx, r.target)
		if failed != nil {
			return failed
		}
		if now.state() != l.state() || now.keeper() != l.keeper() {
			return fmt.Errorf("%s was changed at the same time by %s: plan again", r.Op.Plan.Name, now.Setter())
		}
		l = now
	}
}

// Image implements orchestrated.Live.
func (l live) Image() string { return l.image }

// Setter implements orchestrated.Live.
func (l live) Setter() string {
	if all := l.setters(); len(all) > 0 {
		return all[len(all)-1].Manager
	}
	return "another client"
}
