package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// TestContainerImage builds the image without a network and runs it as the unprivileged
// user that it names, with a root file system that cannot be written.
func TestContainerImage(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("docker"); err != nil {
		plugintest.Skip(t, "docker", err)
	}
	engine := dockertest.Start(t)
	docker := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "docker", args...)
		cmd.Env = append(os.Environ(), "DOCKER_HOST="+engine.Host, "DOCKER_BUILDKIT=0")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(args ...string) string {
		t.Helper()
		out, err := docker(args...)
		if err != nil {
			t.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return out
	}
	build := exec.CommandContext(t.Context(), "sh", "image.sh", "dogwatch:test")
	build.Env = append(os.Environ(), "DOCKER_HOST="+engine.Host, "DOCKER_BUILDKIT=0",
		"BINARY="+filepath.Join(binaries, "dogwatch"))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("image.sh: %v\n%s", err, out)
	}

	if out := must("run", "--rm", "dogwatch:test", "version"); !strings.HasPrefix(out, "dogwatch dev\n") {
		t.Error(out)
	}
	if out := must("run", "--rm", "--env", "TZ=Europe/Paris", "dogwatch:test", "config", "show"); !strings.Contains(out,
		"nothing is configured") {
		t.Error(out)
	}

	if out := must("inspect", "--format", "{{.Config.User}}", "dogwatch:test"); out != "1000:1000\n" {
		t.Errorf("it runs as %q", out)
	}

	// A volume of root's, as a program that ran as root leaves it.
	must("run", "--rm", "--user", "0:0", "--volume", "rootstore:/store", "dogwatch:test", "token", "create", "x")
	if out, err := docker("run", "--rm", "--volume", "rootstore:/store", "dogwatch:test", "token", "create",
		"y"); err == nil || !strings.Contains(out, "chown -R 1000:1000") {
		t.Errorf("on a volume of root's it says %s (%v)", out, err)
	}

	must("run", "--detach", "--name", "dog", "--read-only", "--tmpfs", "/tmp:mode=1777", "--network", "none",
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--volume", "dogstore:/store",
		"--health-interval", "1s", "--health-start-period", "0s", "dogwatch:test", "demo")
	deadline := time.Now().Add(time.Minute)
	for health := ""; health != "healthy\n"; health = must("inspect", "--format", "{{.State.Health.Status}}", "dog") {
		if time.Now().After(deadline) {
			t.Fatalf("it is %s\n%s\n%s", health, must("logs", "dog"),
				must("inspect", "--format", "{{json .State.Health}}", "dog"))
		}
		time.Sleep(200 * time.Millisecond)
	}
	if out := must("top", "dog", "-o", "pid,uid,gid"); !strings.Contains(out, "1000") || strings.Contains(out, " 0 ") {
		t.Errorf("its processes are\n%s", out)
	}
	if out := must("exec", "dog", "curl", "--fail", "http://localhost:3000/api/app"); !strings.Contains(out,
		`"dogwatch"`) {
		t.Error(out)
	}
	must("exec", "dog", "sh", "-c", "curl --fail http://localhost:${WUD_SERVER_PORT:-3000}/health || exit 1")
	if out, err := docker("exec", "dog", "sh", "-c", "curl --fail http://localhost:3000/nowhere || exit 1"); err == nil {
		t.Error("a failed health check succeeded: ", out)
	}
	if out := must("exec", "dog", "dogwatch", "plugin", "list"); !strings.Contains(out, "running") {
		t.Error(out)
	}
	if out := must("stop", "-t", "20", "dog"); out != "dog\n" {
		t.Error(out)
	}
	if out := must("inspect", "--format", "{{.State.ExitCode}}", "dog"); out != "0\n" {
		t.Errorf("exit code %s%s", out, must("logs", "dog"))
	}
}
