package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// describe makes the containers that the host sees, sorted by id.
func (k *Kubernetes) describe(ctx context.Context, m *mirror) ([]watcher.Container, error) {
	pods, names := map[owner][]pod{}, map[string]struct{}{}
	for _, c := range m.pods {
		c.Each(func(_ string, p pod) {
			pods[p.of] = append(pods[p.of], p)
			if p.node != "" {
				names[p.node] = struct{}{}
			}
		})
	}
	platforms, err := k.nodes.platforms(ctx, names)
	if err != nil {
		return nil, err
	}
	list := []watcher.Container{}
	for _, c := range m.workloads {
		c.Each(func(_ string, w workload) {
			of := pods[owner{w.namespace, w.kind, w.name}]
			for _, c := range w.containers {
				list = append(list, w.describe(c, of, platforms))
			}
		})
	}
	slices.SortFunc(list, func(a, b watcher.Container) int { return cmp.Compare(a.ID, b.ID) })
	distinguish(list)
	return list, nil
}

// describe makes one container. Its id is the one that What's Up Docker 9 gives it.
func (w workload) describe(c container, pods []pod, platforms map[string]sdk.Platform) watcher.Container {
	out := watcher.Container{
		ID:     strings.Join([]string{w.namespace, w.kind, w.name, c.name}, "_"),
		Name:   w.namespace + "_" + w.name,
		Status: w.status, Created: sdk.TimeOf(w.created), Labels: w.settings.of(c.name, w.containers),
	}
	if c.name != w.name {
		out.Name += "_" + c.name
	}
	image, err := watcher.ParseImage(c.image)
	if err != nil {
		out.Error, image.Name = fmt.Sprintf("the image %.100q: %v", c.image, err), c.image
	}
	id, node := running(c, pods)
	image.Platform = platforms[node]
	image.ID = image.Digest
	if repository, digest, has := strings.Cut(id, "@"); has {
		image.ID = digest
		if !image.Pinned {
			image.Digest, image.Digests = digest, []string{repository + "@" + digest}
		}
	} else if id != "" {
		image.ID = id
	}
	out.Image = image
	return out
}

// running returns the image that most pods of a workload run for a container, of equals that of the older pod, and the
// node of such a pod. Pods that run another reference are of before or after a change. Those that have ended count only
// where none runs, the newest of them, as for a CronJob.
func running(c container, pods []pod) (imageID, node string) {
	slices.SortFunc(pods, func(a, b pod) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.node, b.node))
	})
	count, best := map[string]int{}, 0
	for _, p := range pods {
		for _, r := range p.runs {
			if !p.ended && r.name == c.name && r.image == c.image {
				count[r.imageID]++
				best = max(best, count[r.imageID])
			}
		}
	}
	var ended run
	var endedNode, anyNode string
	for _, p := range pods {
		anyNode = cmp.Or(anyNode, p.node)
		for _, r := range p.runs {
			switch {
			case r.name != c.name || r.image != c.image:
			case p.ended:
				ended, endedNode = r, p.node
			case count[r.imageID] == best:
				return trimRuntime(r.imageID), p.node
			}
		}
	}
	return trimRuntime(ended.imageID), cmp.Or(endedNode, anyNode)
}

// trimRuntime takes off what the runtime of Docker puts before an image: "docker-pullable://".
func trimRuntime(imageID string) string {
	if _, rest, has := strings.Cut(imageID, "://"); has {
		return rest
	}
	return imageID
}

// distinguish gives containers of the same name, whose workloads are of different kinds, their ids as names: no two
// containers of a list have the same.
func distinguish(list []watcher.Container) {
	count := make(map[string]int, len(list))
	for _, c := range list {
		count[c.Name]++
	}
	for i := range list {
		if count[list[i].Name] > 1 {
			list[i].Name = list[i].ID
		}
	}
}

// statusOf says how many of the pods of a workload are ready: "running", "running 1/3" or "stopped"; of a CronJob
// whether it runs, is scheduled or suspended, and of a pod its phase.
func statusOf(kind string, o *cluster.Object) string {
	wanted, ready := 1, o.Status.ReadyReplicas
	switch kind {
	case podKind:
		return strings.ToLower(o.Status.Phase)
	case "cronjob":
		switch {
		case len(o.Status.Active) > 0:
			return "running"
		case o.Spec.Suspend:
			return "suspended"
		}
		return "scheduled"
	case "daemonset":
		wanted, ready = o.Status.DesiredNumberScheduled, o.Status.NumberReady
	default:
		if o.Spec.Replicas != nil {
			wanted = *o.Spec.Replicas
		}
	}
	switch {
	case wanted == 0:
		return "stopped"
	case ready >= wanted:
		return "running"
	}
	return fmt.Sprintf("running %d/%d", ready, wanted)
}
