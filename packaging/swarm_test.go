package packaging_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// TestSwarmStack: a swarm takes the stack as it is meant.
func TestSwarmStack(t *testing.T) {
	t.Parallel()
	engine := dockertest.Start(t)
	docker := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "docker", args...)
		cmd.Env, cmd.Stdin = append(os.Environ(), "DOCKER_HOST="+engine.Host), strings.NewReader("hash")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	docker("swarm", "init", "--advertise-addr", "127.0.0.1", "--listen-addr", "127.0.0.1:0")
	docker("secret", "create", "dogwatch_hash", "-")
	docker("stack", "deploy", "--resolve-image", "never", "--compose-file", "swarm/stack.yaml", "dogwatch")
	const what = "{{with .Spec.TaskTemplate.ContainerSpec}}{{.User}} {{.ReadOnly}} {{.CapabilityDrop}}{{end}} " +
		"{{.Spec.UpdateConfig.Order}} {{.Spec.TaskTemplate.Placement.Constraints}}"
	got := docker("service", "inspect", "--format", what, "dogwatch_dogwatch")
	if want := "1000:1000 true [ALL] stop-first [node.role == manager]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	docker("service", "inspect", "dogwatch_engine")
}
