package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/secrets"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Evidence implements orchestrated.Workload.
func (r *rollout) Evidence(ctx context.Context, image string) *watcher.Evidence {
	o := r.failing(ctx, image)
	if o == nil {
		return nil
	}
	hide := hiding(o, r.target.container)
	e := &watcher.Evidence{Container: o.Metadata.Name, Status: o.Status.Phase, Error: hide(problem(o))}
	for _, s := range slices.Concat(o.Status.InitContainerStatuses, o.Status.ContainerStatuses) {
		if s.Name != r.target.container {
			continue
		}
		last := cmp.Or(s.State.Terminated, s.LastState.Terminated)
		if last != nil {
			e.ExitCode = last.ExitCode
		}
		if last == nil && s.State.Running == nil {
			continue // it has written nothing
		}
		e.Log = secrets.EndOfLog(func(to io.Writer) error {
			err := denial(r.client.Log(ctx, cluster.LogRequest{
				Namespace: r.target.namespace, Pod: o.Metadata.Name, Container: s.Name, Lines: orchestrated.EvidenceLines,
				Previous: last != s.State.Terminated,
			}, to))
			if err != nil {
				return errors.New(orchestrated.Sentence(err))
			}
			return nil
		}, hide)
	}
	return e
}

// hiding returns what takes the secrets of a container of a pod out of a text, as far as the pod has them.
func hiding(o *cluster.Object, name string) func(string) string {
	var settings []string
	for _, c := range slices.Concat(o.Spec.Containers, o.Spec.InitContainers) {
		if c.Name == name {
			for _, v := range c.Env {
				settings = append(settings, v.Name+"="+v.Value)
			}
			settings = slices.Concat(settings, c.Command, c.Args)
		}
	}
	return secrets.Hiding(settings)
}
