package kubernetes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/sdk"
)

// fieldManager is the name under which images are applied. It must never change: fields belong to it.
const fieldManager = "dogwatch"

// updatable are the kinds of workloads whose images can be changed, with their types.
var updatable = map[string]cluster.Resource{
	"deployment":  {Group: "apps", Version: "v1", Name: "deployments"},
	"statefulset": {Group: "apps", Version: "v1", Name: "statefulsets"},
	"daemonset":   {Group: "apps", Version: "v1", Name: "daemonsets"},
	"cronjob":     {Group: "batch", Version: "v1", Name: "cronjobs"},
}

// objectKinds are those kinds as manifests name them.
var objectKinds = map[string]string{
	"deployment": "Deployment", "statefulset": "StatefulSet", "daemonset": "DaemonSet", "cronjob": "CronJob",
}

// target is a container of a workload, as its id names it.
type target struct{ namespace, kind, workload, container string }

// target reads the id of a container, which must be of a namespace that is watched.
func (k *Kubernetes) target(id string) (target, error) {
	parts := strings.Split(id, "_") // which no name of these has
	if len(parts) != 4 {
		return target{}, sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("%.100q is no container of this watcher", id))
	}
	t := target{parts[0], parts[1], parts[2], parts[3]}
	names := k.options.namespaces()
	if len(names) > 0 && !slices.Contains(names, t.namespace) || slices.Contains(k.options.Exclude, t.namespace) {
		return target{}, sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("the namespace %.70q is not watched", t.namespace))
	}
	return t, nil
}

// name is that of the row.
func (t target) name() string {
	if t.container == t.workload {
		return t.namespace + "_" + t.workload
	}
	return t.namespace + "_" + t.workload + "_" + t.container
}

func (t target) owner() owner { return owner{t.namespace, t.kind, t.workload} }

// live is a workload as the cluster has it, with the container that is updated.
type live struct {
	target
	*cluster.Workload
	resource cluster.Resource
	template cluster.Template
	image    string // of the container
}

// live reads a workload. The error is an sdk.ErrNotFound where it, or its container, does not exist any more.
func (k *Kubernetes) live(ctx context.Context, t target) (live, error) {
	r := updatable[t.kind]
	r.Namespace, r.Labels = t.namespace, k.options.Selector
	w, err := k.client.Workload(ctx, r, t.workload)
	if err != nil {
		return live{}, denial(err)
	}
	l := live{target: t, Workload: w, resource: r}
	if err := json.Unmarshal(l.source(), &l.template); err != nil {
		return live{}, sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("read the template of %s: %w", t.name(), err))
	}
	for _, list := range l.lists() {
		for _, c := range list.containers {
			if c.Name == t.container {
				l.image = c.Image
				return l, nil
			}
		}
	}
	return live{}, sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("%s has no container %s any more", t.workload, t.container))
}

// source is the template of the pods, as the cluster has it.
func (l live) source() json.RawMessage {
	if l.kind == "cronjob" {
		return l.Spec.JobTemplate.Spec.Template
	}
	return l.Spec.Template
}

// list is a list of containers with the name of its field.
type list struct {
	field      string
	containers []cluster.Container
}

func (l live) lists() []list {
	return []list{{"containers", l.template.Spec.Containers}, {"initContainers", l.template.Spec.InitContainers}}
}

// path leads to the template.
func (l live) path() []string {
	if l.kind == "cronjob" {
		return []string{"spec", "jobTemplate", "spec", "template", "spec"}
	}
	return []string{"spec", "template", "spec"}
}

// setters are the managers that have set the image of a container, but for Dogwatch.
func (l live) setters() (all []cluster.ManagedField) {
	for _, m := range l.Metadata.ManagedFields {
		if l.owns(m, l.container) && !isOurs(m) {
			all = append(all, m)
		}
	}
	return all
}

func isOurs(m cluster.ManagedField) bool { return m.Manager == fieldManager && m.Operation == "Apply" }

// owns reports whether a manager has set the image of a container.
func (l live) owns(m cluster.ManagedField, container string) bool {
	for _, list := range l.lists() {
		var path []string
		for _, name := range append(l.path(), list.field) {
			path = append(path, "f:"+name)
		}
		if m.Has(append(path, fmt.Sprintf(`k:{"name":%q}`, container), "f:image")...) {
			return true
		}
	}
	return false
}

// state identifies what a plan was made from: the pods that the workload makes, how it replaces them, and who set the
// image. How many there are does not count, which an autoscaler changes.
func (l live) state() string {
	var managers []string
	for _, m := range l.setters() {
		managers = append(managers, m.Operation+" "+m.Manager)
	}
	text, _ := json.Marshal(struct {
		UID, Strategy string
		Template      json.RawMessage
		Paused        bool
		Managers      []string
	}{l.Metadata.UID, l.Spec.UpdateStrategy.Type, l.source(), l.Spec.Paused, managers})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// application is what Dogwatch applies so that the container has an image. It has the images of other containers that
// Dogwatch has set before: what an application leaves out is removed.
func (l live) application(image string) cluster.Application {
	spec := map[string]any{}
	for _, list := range l.lists() {
		var all []map[string]string
		for _, c := range list.containers {
			ours := slices.ContainsFunc(l.Metadata.ManagedFields, func(m cluster.ManagedField) bool {
				return isOurs(m) && l.owns(m, c.Name)
			})
			switch {
			case c.Name == l.container:
				all = append(all, map[string]string{"name": c.Name, "image": image})
			case ours:
				all = append(all, map[string]string{"name": c.Name, "image": c.Image})
			}
		}
		if len(all) > 0 {
			spec[list.field] = all
		}
	}
	var nested any = spec
	path := l.path()
	for _, name := range slices.Backward(path) {
		nested = map[string]any{name: nested}
	}
	object := nested.(map[string]any)
	object["apiVersion"], object["kind"] = l.resource.Group+"/"+l.resource.Version, objectKinds[l.kind]
	object["metadata"] = map[string]string{
		"name": l.workload, "namespace": l.namespace, "resourceVersion": l.Metadata.ResourceVersion,
	}
	text, _ := json.Marshal(object) // strings in maps
	return cluster.Application{Manager: fieldManager, Config: text, Force: len(l.setters()) > 0}
}

// pods returns how many pods run the newest template and are available, and how many shall.
func (l live) pods() (current, wanted int) {
	s := l.Status
	if l.kind == "daemonset" {
		return min(s.UpdatedNumberScheduled, s.NumberAvailable), s.DesiredNumberScheduled
	}
	wanted = 1
	if l.Spec.Replicas != nil {
		wanted = *l.Spec.Replicas
	}
	if l.kind == "statefulset" {
		wanted = max(0, wanted-l.Spec.UpdateStrategy.RollingUpdate.Partition)
		return min(s.UpdatedReplicas, s.ReadyReplicas), wanted
	}
	return min(s.UpdatedReplicas, s.AvailableReplicas), wanted
}

// gaveUp is what the cluster says when it has given up a rollout; nil while it has not.
func (l live) gaveUp() *cluster.Condition {
	for i, c := range l.Status.Conditions {
		if c.Type == "Progressing" && c.Status == "False" && c.Reason == "ProgressDeadlineExceeded" {
			return &l.Status.Conditions[i]
		}
	}
	return nil
}

// rolledOut reports whether all pods run the newest template, as kubectl rollout status does; the error means that the
// cluster has given up. That it had given up the rollout before does not count: it says so until there is progress.
func (l live) rolledOut(before *cluster.Condition) (bool, error) {
	s := l.Status
	if s.ObservedGeneration < l.Metadata.Generation {
		return false, nil
	}
	current, wanted := l.pods()
	switch l.kind {
	case "deployment":
		if c := l.gaveUp(); c != nil && (before == nil || c.Updated != before.Updated) {
			return false, errors.New(cmp.Or(c.Message, "the cluster gave up: "+c.Reason))
		}
		return current >= wanted && s.Replicas <= s.UpdatedReplicas, nil
	case "statefulset":
		all := l.Spec.Replicas == nil || s.ReadyReplicas >= *l.Spec.Replicas
		isPartial := l.Spec.UpdateStrategy.RollingUpdate.Partition > 0
		return all && current >= wanted && (isPartial || s.UpdateRevision == s.CurrentRevision), nil
	}
	return current >= wanted, nil
}

// denial is an error whose remedy names the rule that the role lacks, where the account may not do something.
func denial(err error) error {
	var denied *cluster.DeniedError
	if errors.As(err, &denied) {
		return cluster.Denied([]*cluster.DeniedError{denied})
	}
	return err
}
