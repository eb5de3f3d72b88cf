package kubernetes

import (
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
)

// pod is what is kept of a pod.
type pod struct {
	of      owner
	created time.Time
	node    string
	// ended is true once its containers do not run any more.
	ended bool
	runs  []run
}

// owner names a workload.
type owner struct{ namespace, kind, name string }

// run is a container of a pod, with what the runtime of its node names its image.
type run struct{ name, image, imageID string }

func (p pod) equal(o pod) bool {
	return p.of == o.of && p.created.Equal(o.created) && p.node == o.node && p.ended == o.ended &&
		slices.Equal(p.runs, o.runs)
}

// reducePod returns what is kept of a pod. One that is being removed, or whose images are not known, says nothing.
func reducePod(o *cluster.Object) (pod, bool) {
	p := pod{
		of: ownerOf(o), created: o.Metadata.CreationTimestamp, node: o.Spec.NodeName,
		ended: o.Status.Phase == "Succeeded" || o.Status.Phase == "Failed",
	}
	if p.of.kind == "" || o.Metadata.DeletionTimestamp != nil {
		return p, false
	}
	ids := map[string]string{}
	for _, s := range slices.Concat(o.Status.ContainerStatuses, o.Status.InitContainerStatuses) {
		ids[s.Name] = s.ImageID
	}
	for _, c := range containersOf(o.Spec.PodSpec) {
		if id := ids[c.name]; id != "" {
			p.runs = append(p.runs, run{c.name, c.image, id})
		}
	}
	return p, len(p.runs) > 0 || p.node != ""
}

// ownerOf returns the workload that a pod belongs to, by the names that the controllers of Kubernetes give: a
// Deployment makes ReplicaSets called after itself and the hash of its template, which is a label of their pods, and a
// CronJob Jobs called after itself and the minute. Neither has to be read for that.
func ownerOf(o *cluster.Object) owner {
	if len(o.Metadata.OwnerReferences) == 0 {
		return owner{o.Metadata.Namespace, podKind, o.Metadata.Name}
	}
	for _, by := range o.Metadata.OwnerReferences {
		if !by.Controller {
			continue
		}
		switch by.Kind {
		case "StatefulSet", "DaemonSet":
			return owner{o.Metadata.Namespace, strings.ToLower(by.Kind), by.Name}
		case "ReplicaSet":
			if hash := o.Metadata.Labels["pod-template-hash"]; hash != "" {
				if name, has := strings.CutSuffix(by.Name, "-"+hash); has {
					return owner{o.Metadata.Namespace, "deployment", name}
				}
			}
		case "Job":
			i := strings.LastIndexByte(by.Name, '-')
			if i > 0 && strings.Trim(by.Name[i+1:], "0123456789") == "" {
				return owner{o.Metadata.Namespace, "cronjob", by.Name[:i]}
			}
		}
	}
	return owner{}
}
