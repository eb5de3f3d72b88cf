package kubernetes

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
)

// podKind is the kind of a workload that is a pod of its own.
const podKind = "pod"

// workload is what is kept of a workload.
type workload struct {
	// kind is the name of its type in small letters: "deployment".
	kind, namespace, name string
	created               time.Time
	status                string
	settings              settings
	containers            []container
	// account is the service account of its pods, and secrets what they name to pull images with; "" and none where the
	// watcher does not use them.
	account string
	secrets []string
}

// container is a container of a workload.
type container struct{ name, image string }

func (w workload) equal(o workload) bool {
	return w.kind == o.kind && w.namespace == o.namespace && w.name == o.name && w.created.Equal(o.created) &&
		w.status == o.status && w.settings.equal(o.settings) && slices.Equal(w.containers, o.containers) &&
		w.account == o.account && slices.Equal(w.secrets, o.secrets)
}

// reduceWorkload returns what is kept of a workload of a kind. Pods that belong to another object are none.
func reduceWorkload(kind string, pulls bool) func(*cluster.Object) (workload, bool) {
	return func(o *cluster.Object) (workload, bool) {
		if kind == podKind && len(o.Metadata.OwnerReferences) > 0 {
			return workload{}, false
		}
		template := o.Spec.Template
		switch kind {
		case "cronjob":
			template = o.Spec.JobTemplate.Spec.Template
		case podKind:
			template = cluster.Template{Spec: o.Spec.PodSpec}
		}
		w := workload{
			kind: kind, namespace: o.Metadata.Namespace, name: o.Metadata.Name, created: o.Metadata.CreationTimestamp,
			status: statusOf(kind, o), containers: containersOf(template.Spec),
			settings: newSettings(o.Metadata.Labels, template.Metadata.Annotations, o.Metadata.Annotations),
		}
		if pulls {
			w.account = template.Spec.ServiceAccount
			for _, s := range template.Spec.PullSecrets {
				w.secrets = append(w.secrets, s.Name)
			}
		}
		return w, true
	}
}

// containersOf returns the containers that run as long as the pod: those of its list, and sidecars.
func containersOf(spec cluster.PodSpec) (all []container) {
	for _, c := range spec.Containers {
		all = append(all, container{c.Name, c.Image})
	}
	for _, c := range spec.InitContainers {
		if c.RestartPolicy == "Always" { // https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/
			all = append(all, container{c.Name, c.Image})
		}
	}
	return all
}

// settings are the labels of a workload and those of its annotations that are settings. Others are not kept: the
// annotation in which kubectl apply has the whole manifest may have secrets.
type settings struct{ labels, template, own map[string]string }

func newSettings(labels, template, own map[string]string) settings {
	only := func(annotations map[string]string) map[string]string {
		var kept map[string]string
		for name, value := range annotations {
			if _, is := labelOf(name); is {
				if kept == nil {
					kept = map[string]string{}
				}
				kept[name] = value
			}
		}
		return kept
	}
	return settings{labels, only(template), only(own)}
}

func (s settings) equal(o settings) bool {
	return maps.Equal(s.labels, o.labels) && maps.Equal(s.template, o.template) && maps.Equal(s.own, o.own)
}

// prefixes are those of annotations that are settings, with the prefix of the labels that they mean. Of two that mean
// the same label the later counts. Those of What's Up Docker 9 are from
// https://getwud.app/docs/configuration/watchers/kubernetes.
var prefixes = [...]struct{ annotation, label string }{
	{"keel.sh/", "keel.sh/"}, {"diun.", "diun."},
	{"wud.", "wud."}, {"wud.getwud.io/", "wud."}, {"wud/", "wud."}, {"getwud.app/", "wud."},
	{"dogwatch.", "dogwatch."}, {"dogwatch/", "dogwatch."},
}

// labelOf returns the label that an annotation means; false for none.
func labelOf(annotation string) (label string, is bool) {
	rank := rankOf(annotation)
	if rank < 0 {
		return "", false
	}
	p := prefixes[rank]
	return p.label + strings.TrimPrefix(annotation, p.annotation), true
}

// rankOf returns the place of the prefix of an annotation; -1 for none.
func rankOf(annotation string) int {
	for i := len(prefixes) - 1; i >= 0; i-- { // the longer of two comes later
		rest, has := strings.CutPrefix(annotation, prefixes[i].annotation)
		if has && rest != "" && !(prefixes[i].annotation == "wud." && strings.HasPrefix(rest, "getwud.io/")) {
			return i
		}
	}
	return -1
}

// lastWords are the last words of the names of settings: a container with such a name has no annotations of its own,
// since dogwatch/tag.include is not meant for the container include alone.
var lastWords = []string{
	"acknowledge", "auto", "delay", "digest", "exclude", "file", "freeze", "http", "icon", "implausible", "include",
	"interval", "keep", "major", "minage", "name", "ondigest", "post", "pre", "prerelease", "repository", "security", "skip",
	"stopsignal", "tcp", "template", "threshold", "timeout", "transform", "window", "zone", "command",
}

// of returns the labels of one container of a workload that has these containers: those of the workload, over them the
// annotations of the template, of the workload, and of both those that end with the name of the container, as
// dogwatch/tag.include.nginx.
func (s settings) of(name string, containers []container) map[string]string {
	labels := maps.Clone(s.labels)
	if labels == nil {
		labels = map[string]string{}
	}
	shared, own := map[string]string{}, map[string]string{}
	for _, annotations := range []map[string]string{s.template, s.own} {
		names := slices.SortedFunc(maps.Keys(annotations), func(a, b string) int { return rankOf(a) - rankOf(b) })
		for _, annotation := range names {
			label, _ := labelOf(annotation)
			switch whole, suffix := cutContainer(label, containers); suffix {
			case "":
				shared[label] = annotations[annotation]
			case name:
				own[whole] = annotations[annotation]
			}
		}
	}
	maps.Copy(labels, shared)
	maps.Copy(labels, own)
	return labels
}

// cutContainer takes the name of a container off the end of a label; "" where it ends with none.
func cutContainer(label string, containers []container) (whole, name string) {
	i := strings.LastIndexByte(label, '.')
	if strings.Count(label, ".") < 2 || slices.Contains(lastWords, label[i+1:]) {
		return label, ""
	}
	for _, c := range containers {
		if c.name == label[i+1:] {
			return label[:i], c.name
		}
	}
	return label, ""
}
