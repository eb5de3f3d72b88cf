package label

import "testing"

func TestStack(t *testing.T) {
	for want, labels := range map[string]map[string]string{
		"":      {"com.docker.compose.service": "web"},
		"shop":  {"com.docker.compose.project": "shop", "io.podman.compose.project": "pod"},
		"swarm": {"com.docker.compose.project": "", "com.docker.stack.namespace": "swarm"},
		"pod":   {"io.podman.compose.project": "pod"},
	} {
		if got := Stack(labels); got != want {
			t.Errorf("stack of %v is %q, want %q", labels, got, want)
		}
	}
}
