package kubernetes

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// Annotations and labels by which tools mark what is theirs.
const (
	helmRelease   = "meta.helm.sh/release-name" // https://helm.sh/docs/topics/advanced/#storage-backends
	managedBy     = "app.kubernetes.io/managed-by"
	fluxKustomize = "kustomize.toolkit.fluxcd.io/" // https://fluxcd.io/flux/components/kustomize/kustomizations/
	fluxHelm      = "helm.toolkit.fluxcd.io/"      // https://fluxcd.io/flux/components/helm/helmreleases/
	// argoTracking is "APP:GROUP/KIND:NAMESPACE/NAME": https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/
	argoTracking = "argocd.argoproj.io/tracking-id"
	argoInstance = "app.kubernetes.io/instance"
	// kustomizeOrigin is YAML with the path of the manifest:
	// https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/buildmetadata/
	kustomizeOrigin = "config.kubernetes.io/origin"
)

// keeper says what keeps a workload as it is, so that it would return to its own image; "" for nothing that is known.
func (l live) keeper() string {
	labels, annotations, name, clean := l.Metadata.Labels, l.Metadata.Annotations, l.name(), httpclient.Clean
	for _, o := range l.Metadata.OwnerReferences {
		if o.Controller {
			return fmt.Sprintf("%s belongs to the %s %s, which would replace it again: change the image there", name, clean(o.Kind), clean(o.Name))
		}
	}
	source, values := "change the image in its source", "change the image in its values"
	if file := l.manifest(); file != "" {
		source, values = "change the image in "+file, "change the image in "+file
	}
	within := func(prefix string) string {
		if of := labels[prefix+"name"]; of != "" {
			return strings.TrimPrefix(labels[prefix+"namespace"]+"/"+of, "/")
		}
		for label := range labels {
			if strings.HasPrefix(label, prefix) {
				return "(" + strings.TrimSuffix(prefix, "/") + ")"
			}
		}
		return ""
	}
	if of := within(fluxHelm); of != "" {
		return fmt.Sprintf("%s belongs to the HelmRelease %s of Flux: %s", name, of, values)
	}
	if of := within(fluxKustomize); of != "" {
		return fmt.Sprintf("%s belongs to the Kustomization %s of Flux: %s", name, of, source)
	}
	if of, _, _ := strings.Cut(clean(annotations[argoTracking]), ":"); of != "" {
		return fmt.Sprintf("%s belongs to the application %s of Argo CD: %s", name, of, source)
	}
	if of := labels[argoInstance]; of != "" && l.isManagedBy("argocd") {
		return fmt.Sprintf("%s belongs to the application %s of Argo CD: %s", name, of, source)
	}
	if of := clean(annotations[helmRelease]); of != "" {
		return fmt.Sprintf("%s belongs to the release %s of Helm: %s", name, of, values)
	}
	if labels[managedBy] == "Helm" {
		return fmt.Sprintf("%s belongs to the release %s of Helm: %s",
			name, cmp.Or(labels[argoInstance], "("+managedBy+")"), values)
	}
	return ""
}

// isManagedBy reports whether a manager of fields is a tool: "argocd" for argocd-controller.
func (l live) isManagedBy(tool string) bool {
	return slices.ContainsFunc(l.Metadata.ManagedFields, func(m cluster.ManagedField) bool {
		return m.Manager == tool || strings.HasPrefix(m.Manager, tool+"-")
	})
}

// Labels that say in which file of which repository the image of a container is written.
const (
	sourceFile       = "dogwatch.source.file"
	sourceRepository = "dogwatch.source.repository"
)

// manifest names the file that the image comes from: the one that a setting names, with its repository, or the path
// that Kustomize notes; "" where neither is known. Addresses of repositories are shown without a login.
func (l live) manifest() string {
	template := newSettings(l.Metadata.Labels, l.template.Metadata.Annotations, l.Metadata.Annotations)
	set := template.of(l.container, containersOf(l.template.Spec))
	if file := httpclient.Clean(set[sourceFile]); file != "" {
		repository := set[sourceRepository]
		if u, err := url.Parse(repository); err == nil {
			u.User = nil
			repository = u.String()
		}
		return strings.TrimSuffix(file+" of "+httpclient.Clean(repository), " of ")
	}
	for line := range strings.Lines(l.Metadata.Annotations[kustomizeOrigin]) {
		if path, has := strings.CutPrefix(line, "path:"); has {
			return httpclient.Clean(strings.Trim(strings.TrimSpace(path), `"'`))
		}
	}
	return ""
}
