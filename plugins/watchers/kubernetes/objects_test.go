package kubernetes_test

import (
	"fmt"
	"strings"
)

// deployment is a Deployment with one container, of its name, whose pods are ready.
func deployment(namespace, name, spec, image string) string {
	return workload("Deployment", namespace, name, "", spec, `"readyReplicas": 1`, "", image)
}

// workload is an object that makes pods with one container each, of its name. metadata, spec and status are the insides
// of objects, template is what annotations are in.
func workload(kind, namespace, name, metadata, spec, status, annotations, image string) string {
	template := fmt.Sprintf(`"template": {"metadata": {"annotations": {%s}}, "spec": {"containers": [{"name": %q, "image": %q}]}}`,
		annotations, name, image)
	if kind == "CronJob" {
		template = `"jobTemplate": {"spec": {` + template + `}}`
	}
	return fmt.Sprintf(`{"kind": %q, "metadata": {%s}, "spec": {%s}, "status": {%s}}`, kind,
		inside(fmt.Sprintf(`"namespace": %q, "name": %q`, namespace, name), metadata), inside(template, spec), status)
}

// pod is a pod of an owner, "ReplicaSet/web-abc", whose only container has the name of the workload; "" for none.
func pod(namespace, name, owner, image, imageID string) string {
	kind, of, _ := strings.Cut(owner, "/")
	metadata, container := "", name
	if of != "" {
		i := strings.LastIndex(of, "-")
		container = of
		labels := "{}"
		if kind == "ReplicaSet" || kind == "Job" {
			container = of[:i]
		}
		if kind == "ReplicaSet" {
			labels = fmt.Sprintf(`{"pod-template-hash": %q}`, of[i+1:])
		}
		metadata = fmt.Sprintf(`"labels": %s, "ownerReferences": [{"kind": %q, "name": %q, "controller": true}]`, labels, kind, of)
	}
	return fmt.Sprintf(`{"kind": "Pod", "metadata": {%s},
		"spec": {"nodeName": "one", "containers": [{"name": %q, "image": %q}]},
		"status": {"phase": "Running", "containerStatuses": [{"name": %[2]q, "imageID": %[4]q}]}}`,
		inside(fmt.Sprintf(`"namespace": %q, "name": %q`, namespace, name), metadata), container, image, imageID)
}

func inside(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, ", ")
}
