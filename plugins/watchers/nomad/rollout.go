package nomad

import (
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/plugins/watchers/nomad/internal/api"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// rollout is an update of a job that is carried out.
type rollout struct {
	*Nomad
	orchestrated.Task
	target *target // nil until it is read
}

// Read implements orchestrated.Workload.
func (r *rollout) Read(ctx context.Context) (live, error) {
	if r.target == nil {
		t, err := r.Nomad.target(ctx, r.Op.Request.ContainerID)
		if err != nil {
			return live{}, err
		}
		r.target = &t
	}
	return r.live(ctx, *r.target)
}

// Plan implements orchestrated.Workload.
func (r *rollout) Plan(l live) watcher.Plan { return r.plan(l, r.Op.Request) }

// setTries is how often a change is tried of a job that an autoscaler changes meanwhile.
const setTries = 10

// Set implements orchestrated.Workload: it registers the job with the image, or reverts it, and again as it is now
// where nothing that counts has changed since it was read.
func (r *rollout) Set(ctx context.Context, l live, image string) error {
	if !r.update {
		return errors.New(readOnly)
	}
	for try := 1; ; try++ {
		err := r.set(ctx, l, image)
		if err == nil || ctx.Err() != nil || errors.Is(err, sdk.ErrUnavailable) {
			return err
		}
		if errors.Is(err, api.ErrConflict) && backoff.Wait(ctx, r.poll/4) != nil {
			return ctx.Err()
		}
		now, failed := r.live(ctx, l.target)
		switch {
		case failed != nil:
			return failed
		case now.image == image: // the leader lost its office while it answered, or Nomad has reverted the job by itself
			return nil
		case !errors.Is(err, api.ErrConflict) || try == setTries:
			return err
		case now.State() != l.State():
			return fmt.Errorf("%s was changed at the same time by %s: plan again", l.name, now.Setter())
		}
		l = now
	}
}

// set changes a job that is as it was read. It reverts to the version before where that has the image; where somebody
// has changed more since, only the image is.
func (r *rollout) set(ctx context.Context, l live, image string) error {
	if image == r.Old {
		versions, err := r.client.Versions(ctx, l.job.namespace, l.job.id)
		if err != nil {
			return err
		}
		for _, v := range versions {
			if before, is := l.in(v); is && before.image == image && v.Version+1 == l.Version.Version {
				return r.client.Revert(ctx, l.Version, v.Version)
			}
		}
	}
	job, err := l.with(image)
	if err != nil {
		return err
	}
	return r.client.Register(ctx, l.Version, job)
}
