//go:build unix

package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDoctorAsAnotherUser: the socket and the folder of the database belong to
// another user, as in a container that is not run as root.
func TestDoctorAsAnotherUser(t *testing.T) {
	const unprivileged, engines = 65534, 4242
	dir, err := os.MkdirTemp("", "dogwatch-doctor-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket, store := filepath.Join(dir, "engine.sock"), filepath.Join(dir, "store")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	cmd := exec.CommandContext(t.Context(), filepath.Join(binaries, "dogwatch"), "doctor", "--quiet")
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET=" + socket, "DOGWATCH_STORE_PATH=" + store,
		"DOGWATCH_SERVER_PORT=1", "HTTPS_PROXY=http://127.0.0.1:1"}
	wanted := []string{
		"fail watcher.docker.local docker engine at unix://" + socket + ": permission denied",
		"fail store " + store + " cannot be written: permission denied",
	}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
		wanted = append(wanted, "→ "+socket+" belongs to group 4242, of which user 65534 is not: add group_add: [\"4242\"]",
			"→ dogwatch runs as user 65534, group 65534: chown -R 65534:65534 "+store)
		err = errors.Join(os.Chmod(dir, 0o755), os.Mkdir(store, 0o700), os.Chown(socket, 0, engines), os.Chmod(socket, 0o660))
	} else {
		wanted = append(wanted, "→ chmod u+w "+socket)
		err = errors.Join(os.Mkdir(store, 0o500), os.Chmod(socket, 0))
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitFailure {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range wanted {
		if !strings.Contains(strings.Join(strings.Fields(string(out)), " "), want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}
