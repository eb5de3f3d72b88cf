package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// inContainer is Dogwatch in a container of its image, with a volume that starts empty.
type inContainer struct {
	t      *testing.T
	engine string
	env    []string
}

// docker runs the client of the engine, and returns what it wrote.
func (c inContainer) docker(args ...string) (string, error) {
	cmd := exec.CommandContext(c.t.Context(), "docker", args...)
	cmd.Env = append(os.Environ(), "DOCKER_HOST="+c.engine, "DOCKER_BUILDKIT=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c inContainer) must(args ...string) string {
	c.t.Helper()
	out, err := c.docker(args...)
	if err != nil {
		c.t.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// start replaces the container by one with another plugins.install; the volume stays.
func (c inContainer) start(declared string) {
	c.t.Helper()
	_, _ = c.docker("rm", "--force", "dog") // the first time there is none
	args := []string{"run", "--detach", "--name", "dog", "--network", "host", "--read-only", "--tmpfs",
		"/tmp:mode=1777", "--cap-drop", "ALL",
		"--security-opt", "no-new-privileges", "--volume", "dogstore:/store", "--env", "DOGWATCH_PLUGINS_INSTALL=" + declared}
	for _, v := range c.env {
		args = append(args, "--env", v)
	}
	c.must(append(args, "dogwatch:test")...)
}

// runs waits until the plugin runs, and then wants its file to be that of a version.
func (c inContainer) runs(version string) {
	c.t.Helper()
	said := ""
	eventually(c.t, "the plugin runs in its container", func() bool {
		said, _ = c.docker("exec", "dog", "dogwatch", "plugin", "list")
		for line := range strings.Lines(said) {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "trigger-file" && fields[1] == "running" {
				return true
			}
		}
		return false
	})
	if list := c.must("exec", "dog", "dogwatch", "plugin", "outdated"); !strings.Contains(list, "trigger-file  "+version) {
		c.t.Errorf("the version is not %s: %s\n%s", version, list, said)
	}
}

// TestContainerThatStartsEmpty: a container of the image with an empty volume fetches its
// plugin from a real registry with a login. It is updated by another plugins.install,
// goes back, and what another key signed is refused.
func TestContainerThatStartsEmpty(t *testing.T) {
	t.Parallel()
	require(t, "docker", "docker")
	host := startLockedRegistry(t)
	key, public := newKey(t)
	stranger, _ := newKey(t)
	login := []string{"DOGWATCH_REGISTRY_CUSTOM_HOME_URL=http://" + host, "DOGWATCH_REGISTRY_CUSTOM_HOME_LOGIN=ann",
		"DOGWATCH_REGISTRY_CUSTOM_HOME_PASSWORD=" + lockedPassword}
	p := publisher{install(t, login...), host + "/me/trigger-file"}
	p.publish(t, "1.0.0", key)
	p.publish(t, "2.0.0", key)
	declared := func(version string) string {
		return fmt.Sprintf("name=trigger-file ref=%s:%s key=%s", p.repo, version, public)
	}

	binary, err := built()
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	must(t, err)
	l.Close()
	c := inContainer{t, dockertest.Start(t).Host,
		append(login, "DOGWATCH_SERVER_PORT="+port, "DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET=/nowhere",
			"DOGWATCH_TRIGGER_FILE_MAIN_PATH=/store/updates.log")}
	image := exec.CommandContext(t.Context(), "sh", "../dogwatch/image.sh", "dogwatch:test")
	image.Env = append(os.Environ(), "DOCKER_HOST="+c.engine, "DOCKER_BUILDKIT=0", "BINARY="+binary)
	if out, err := image.CombinedOutput(); err != nil {
		t.Fatalf("image.sh: %v\n%s", err, out)
	}

	c.start(declared("1.0.0"))
	c.runs("1.0.0")
	c.start(declared("2.0.0"))
	c.runs("2.0.0")
	if out := c.must("exec", "dog", "dogwatch", "plugin", "rollback", "trigger-file"); !strings.Contains(out,
		"trigger-file is 1.0.0 again") {
		t.Error(out)
	}
	c.runs("1.0.0")

	p.publish(t, "3.0.0", stranger)
	c.start(declared("3.0.0"))
	c.runs("1.0.0")
	log := c.must("logs", "dog")
	if !strings.Contains(log, "trigger-file is not installed as it says") ||
		!strings.Contains(log, "it is signed by another key") {
		t.Errorf("the log does not say that the signature is by another key:\n%s", log)
	}
	if strings.Contains(log, lockedPassword) {
		t.Error("the log shows the password")
	}
}
