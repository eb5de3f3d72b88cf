package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Converge implements orchestrated.Workload: it waits until all pods of the workload run an image and are available.
// The error says why they do not: that the cluster gave up, that nothing changed for too long, or who gave it another
// one.
func (r *rollout) Converge(ctx context.Context, image string, before *live) error {
	var failure *cluster.Condition // of the rollout before
	if before != nil {
		failure = before.gaveUp()
	}
	err := r.converge(ctx, image, failure)
	if err != nil && image == r.Old && r.target.kind == "statefulset" {
		return fmt.Errorf("%w; delete the pod that does not start, which a StatefulSet does not replace by itself", err)
	}
	return err
}

func (r *rollout) converge(ctx context.Context, image string, before *cluster.Condition) error {
	var best int
	var seen int64 // the newest generation that the cluster has begun to roll out
	since := time.Now()
	for {
		l, err := r.live(ctx, r.target)
		var current, wanted int
		var slack time.Duration
		switch {
		case errors.Is(err, sdk.ErrNotFound), ctx.Err() != nil:
			return err
		case err != nil: // the server may be restarting
			r.log.Debug("a rollout cannot be watched, trying again", "workload", r.Op.Plan.Name, "error", err)
		case l.image != image:
			return &orchestrated.OvertakenError[live]{By: l, Name: l.name()}
		case !l.isWatched():
			return nil
		default:
			current, wanted = l.pods()
			if l.Status.ObservedGeneration < l.Metadata.Generation {
				current = 0 // the counts are of before
			}
			r.Journal.Progress(watcher.StepProgress{
				Message: fmt.Sprintf("%d of %d pods run the image", current, wanted), Current: int64(current), Total: int64(wanted),
			})
			done, err := l.rolledOut(before)
			if err != nil {
				return errors.New(cmp.Or(problem(r.failing(ctx, image)), err.Error()))
			}
			if done {
				return nil
			}
			slack = time.Duration(l.Spec.MinReadySeconds) * time.Second
		}
		if err == nil && (current > best || l.Status.ObservedGeneration > seen) {
			best, seen, since = max(best, current), l.Status.ObservedGeneration, time.Now()
		}
		deadline := cmp.Or(r.Op.Request.Rules.Health.Window, r.progressDeadline) + slack
		if time.Since(since) > deadline {
			return cmp.Or(err, fmt.Errorf("nothing changed for %s, and %d of %d pods of %s run the image: %s", deadline,
				current, wanted, r.Op.Plan.Name, cmp.Or(problem(r.failing(ctx, image)), "the cluster does not say why")))
		}
		if err := backoff.Wait(ctx, r.poll); err != nil {
			return err
		}
	}
}

// failing returns the newest pod of the workload that has an image and does not run it; nil where there is none, or the
// pods cannot be read.
func (r *rollout) failing(ctx context.Context, image string) (newest *cluster.Object) {
	pods := cluster.Resource{Version: "v1", Name: "pods", Namespace: r.target.namespace}
	_, err := r.client.List(ctx, pods, func(o *cluster.Object) {
		has := slices.ContainsFunc(slices.Concat(o.Spec.Containers, o.Spec.InitContainers), func(c cluster.Container) bool {
			return c.Name == r.target.container && c.Image == image
		})
		if has && ownerOf(o) == r.target.owner() && problem(o) != "" &&
			(newest == nil || o.Metadata.CreationTimestamp.After(newest.Metadata.CreationTimestamp)) {
			newest = o
		}
	})
	if err != nil {
		return nil
	}
	return newest
}

// problem says why a pod does not run, or is not ready; "" where that is not known.
func problem(o *cluster.Object) string {
	if o == nil {
		return ""
	}
	for _, s := range slices.Concat(o.Status.InitContainerStatuses, o.Status.ContainerStatuses) {
		if w := s.State.Waiting; w.Reason != "" && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			return fmt.Sprintf("the pod %s: %s", o.Metadata.Name, joined(w.Reason, w.Message))
		}
	}
	for _, c := range o.Status.Conditions {
		if c.Status == "False" && (c.Type == "PodScheduled" || c.Type == "Ready") {
			return fmt.Sprintf("the pod %s: %s", o.Metadata.Name, joined(c.Reason, c.Message))
		}
	}
	return ""
}

func joined(reason, message string) string {
	if message == "" {
		return reason
	}
	return reason + ": " + message
}
