package packaging_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// debian is the variable of the environment that names an archive of the files of Debian 13, as mmdebstrap makes it.
const debian = "DOGWATCH_TEST_DEBIAN"

// TestFullImage builds the image with Python, Node, git and compose, which takes packages of Debian from the network,
// and runs what is in it: unprivileged, read-only and without a network.
func TestFullImage(t *testing.T) {
	t.Parallel()
	archive := os.Getenv(debian)
	if archive == "" {
		plugintest.Skip(t, "debian", debian+" is not set")
	}
	engine := dockertest.Start(t)
	command := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Env = append(os.Environ(), "DOCKER_HOST="+engine.Host, "DOCKER_BUILDKIT=0", "VERSION="+version)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	command("docker", "import", archive, "debian:13-slim")
	command("sh", filepath.Join("..", "cmd", "dogwatch", "image.sh"))
	command("docker", "build", "--network", "host", "--tag", "dogwatch:full", "docker")

	confined := []string{"run", "--rm", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--network", "none", "--tmpfs", "/tmp:mode=1777", "--volume", "/store", "--entrypoint"}
	for _, test := range []struct {
		want string
		args []string
	}{
		{"dogwatch " + version, []string{"dogwatch", "version"}},
		{"uid=1000 gid=1000", []string{"id"}},
		{"grpc works", []string{"python3", "-c", "import grpc, google.protobuf; print('grpc works')"}},
		{"v", []string{"node", "--version"}},
		{"git version 2.", []string{"git", "--version"}},
		{"Docker Compose version", []string{"docker", "compose", "version"}},
		{"Docker version", []string{"docker", "--version"}},
		{"curl ", []string{"curl", "--version"}},
		{"jq-", []string{"jq", "--version"}},
		{"both are writable", []string{"sh", "-c", "touch /tmp/a /store/a && echo both are writable"}},
	} {
		args := append(append(confined[:len(confined):len(confined)], test.args[0], "dogwatch:full"), test.args[1:]...)
		if got := command("docker", args...); !strings.HasPrefix(got, test.want) {
			t.Errorf("%q: want %q, got %s", test.args, test.want, got)
		}
	}
	if got := command("docker", "run", "--rm", "--network", "none", "dogwatch:full", "version"); !strings.HasPrefix(got, "dogwatch "+version) {
		t.Errorf("its own command is another program: %s", got)
	}
}
