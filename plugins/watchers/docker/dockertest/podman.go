package dockertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// podmanConfig is containers.conf(5): nothing needs a capability, an init system or a
// journal that a machine of tests may lack.
const podmanConfig = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
`

// podmanRegistries is registries.conf(5): like a dockerd, it speaks plain HTTP to
// registries on the loopback interface.
const podmanRegistries = `[[registry]]
location = "127.0.0.1"
insecure = true
`

// StartPodman starts Podman's service of the Docker API, as Start does with a Docker
// Engine. The word in DOGWATCH_TEST_REQUIRE is "podman".
func StartPodman(t testing.TB) *Daemon {
	t.Helper()
	need(t, "podman", "podman", "conmon", "runc")
	d := prepare(t)
	config, registries := filepath.Join(d.dir, "containers.conf"), filepath.Join(d.dir, "registries.conf")
	check(t, os.WriteFile(config, []byte(podmanConfig), 0o600))
	check(t, os.WriteFile(registries, []byte(podmanRegistries), 0o600))
	d.cli = func(args ...string) *exec.Cmd {
		command := exec.Command("podman", append([]string{
			"--root", filepath.Join(d.dir, "data"), "--runroot", filepath.Join(d.dir, "run"), "--tmpdir",
			filepath.Join(d.dir, "tmp"), "--network-config-dir", filepath.Join(d.dir, "networks"), "--storage-driver", "vfs",
		}, args...)...)
		command.Env = append(os.Environ(), "CONTAINERS_CONF="+config, "CONTAINERS_REGISTRIES_CONF="+registries)
		return command
	}
	d.serve = func() *exec.Cmd { return d.cli("system", "service", "--time", "0", d.Host) }
	d.run(t)
	return d
}

// Podman returns the podman command over the data of an engine of StartPodman.
func (d *Daemon) Podman(args ...string) *exec.Cmd { return d.cli(args...) }
