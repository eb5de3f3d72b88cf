package label

import (
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

// TestStackOf: the stack is what the operator's labels say, and where Compose has created
// the container, its project and service may be those of the image that it has built.
func TestStackOf(t *testing.T) {
	const project, service, needs = "com.docker.compose.project", "com.docker.compose.service",
		"com.docker.compose.depends_on"
	const hash, number = "com.docker.compose.config-hash", "com.docker.compose.container-number"
	const swarm, podman = "com.docker.stack.namespace", "io.podman.compose.project"
	for about, c := range map[string]struct {
		labels map[string]string
		image  []string
		want   Stack
	}{
		"none":          {map[string]string{service: "web"}, nil, Stack{Service: "web"}},
		"project first": {map[string]string{project: "shop", podman: "pod"}, nil, Stack{Name: "shop"}},
		"swarm":         {map[string]string{project: "", swarm: "swarm"}, nil, Stack{Name: "swarm"}},
		"podman":        {map[string]string{podman: "pod"}, nil, Stack{Name: "pod"}},
		"compose": {map[string]string{project: "shop", service: "web", hash: "1", number: "1",
			needs: "db:service_healthy:true, cache"}, nil, Stack{"shop", "web", []string{"db", "cache"}}},
		"built by compose": {map[string]string{project: "shop", service: "web", hash: "1"}, []string{project,
			service}, Stack{Name: "shop", Service: "web"}},
		"numbered": {map[string]string{project: "shop", service: "web", number: "1"}, []string{project,
			service}, Stack{Name: "shop", Service: "web"}},
		"run from built": {map[string]string{project: "shop", service: "web"}, []string{project, service}, Stack{}},
		"intruder": {map[string]string{project: "shop", service: "web", hash: "1", number: "1"},
			[]string{project, service, hash, number}, Stack{}},
		"swarm of an image":  {map[string]string{swarm: "shop"}, []string{swarm}, Stack{}},
		"podman of an image": {map[string]string{podman: "shop", hash: "1"}, []string{podman}, Stack{}},
		"needs of an image": {map[string]string{project: "shop", hash: "1", needs: "db"}, []string{needs},
			Stack{Name: "shop"}},
		"not known": {map[string]string{project: "shop", hash: "1"}, []string{Unattributed}, Stack{}},
	} {
		got := StackOf(sdk.Container{Labels: c.labels, ImageLabels: c.image})
		if got.Name != c.want.Name || got.Service != c.want.Service || !slices.Equal(got.Needs, c.want.Needs) {
			t.Errorf("%s: %+v, want %+v", about, got, c.want)
		}
	}
}

// TestLabelsOfComposeInImages: those that do not count are named, and those that Compose writes into
// the images that it builds are not, where they do no harm.
func TestLabelsOfComposeInImages(t *testing.T) {
	labels := map[string]string{
		"com.docker.compose.project": "shop", "com.docker.compose.service": "web", "com.docker.compose.version": "2.30",
		"com.docker.compose.project.config_files": "/etc/evil.yaml", "com.docker.compose.config-hash": "1",
	}
	image := []string{"com.docker.compose.project", "com.docker.compose.project.config_files",
		"com.docker.compose.service", "com.docker.compose.version"}
	r := Read(Of(sdk.Container{Labels: labels, ImageLabels: image}), Options{})
	if len(r.Ignored) != 1 || r.Ignored[0].Label != "com.docker.compose.project.config_files" {
		t.Errorf("ignored: %v", r.Ignored)
	}
	delete(labels, "com.docker.compose.config-hash")
	if r := Read(Of(sdk.Container{Labels: labels, ImageLabels: image}), Options{Image: ImageAll}); len(r.Ignored) != 4 {
		t.Errorf("without Compose: %v", r.Ignored)
	}
}
