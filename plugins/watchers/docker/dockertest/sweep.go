package dockertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// ownerFile is the file in the folder of an engine with the id of the process whose test it serves.
const ownerFile = "owner"

func own(dir string) error {
	return os.WriteFile(filepath.Join(dir, ownerFile), []byte(strconv.Itoa(os.Getpid())), 0o600)
}

// sweep removes what the engines of tests left that were killed before their cleanup:
// the devices of their networks would take up the machine's addresses.
func sweep(t testing.TB) {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), "dw*"))
	check(t, err)
	for _, dir := range dirs {
		if owner := idIn(dir, ownerFile); owner == 0 || lives(owner) || lives(idIn(dir, "pid")) {
			continue
		}
		removeBridges(t, dir)
		unmount(t, dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Logf("remove what a killed test left: %v", err)
		}
	}
}

// idIn returns the process id that a file holds; 0 when there is none.
func idIn(dir, file string) int {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return id
}

func lives(id int) bool { return id > 0 && syscall.Kill(id, 0) != syscall.ESRCH }

var bridge = regexp.MustCompile(`br-[0-9a-f]{12}`)

// removeBridges removes the devices of the networks that an engine with this folder had,
// and could not remove itself: it was killed, or its test was.
func removeBridges(t testing.TB, dir string) {
	known, err := os.ReadFile(filepath.Join(dir, "data", "network", "files", "local-kv.db"))
	if err != nil {
		return // it has never had any
	}
	for _, name := range bridge.FindAllString(string(known), -1) {
		if _, err := os.Stat(filepath.Join("/sys/class/net", name)); err != nil {
			continue
		}
		if out, err := exec.Command("ip", "link", "delete", name).CombinedOutput(); err != nil {
			t.Logf("remove the network device %s: %v: %s", name, err, out)
		}
	}
}

// unmount removes the mounts that a killed engine has left.
func unmount(t testing.TB, dir string) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	check(t, err)
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], dir+"/") {
			if err := syscall.Unmount(fields[1], syscall.MNT_DETACH); err != nil {
				t.Logf("unmount %s: %v", fields[1], err)
			}
		}
	}
}
