package e2e

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestDiskIsFullDuringPull has the disk of the engine become full while it pulls the new
// image: the container is left as it is, and the update works once there is room.
func TestDiskIsFullDuringPull(t *testing.T) {
	registry := startRegistry(t)
	disk, err := os.MkdirTemp("", "fu")
	must(t, err)
	must(t, syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=256m"))
	t.Cleanup(func() {
		must(t, syscall.Unmount(disk, syscall.MNT_DETACH))
		must(t, os.Remove(disk))
	})
	temp := os.Getenv("TMPDIR")
	t.Setenv("TMPDIR", disk) // for the data of the engine
	engine := dockertest.Start(t)
	t.Setenv("TMPDIR", temp)
	a := act(t, engine, registry, "full", nil)
	noise := make([]byte, 32<<20) // which cannot be compressed
	_, err = rand.Read(noise)
	must(t, err)
	a.new = engine.ImageWith(t, a.repo+":1.2.0", map[string][]byte{"noise": noise}, "LABEL version=1.2.0")
	engine.Push(t, a.repo+":1.2.0")
	a.forget(t)
	a.d.watch()

	filler := filepath.Join(disk, "filler")
	file, err := os.Create(filler)
	must(t, err)
	var space syscall.Statfs_t
	must(t, syscall.Statfs(disk, &space))
	must(t, syscall.Fallocate(int(file.Fd()), 0, 0, int64(space.Bavail)*space.Bsize-16<<20))
	must(t, file.Close())
	a.g.take()
	op := a.d.ended(a.d.begin("update", a.name).ID)
	t.Logf("the operation is %s", says(op))
	if op.State != operation.Failed || op.Outcome == nil || op.Outcome.State != watcher.Unchanged ||
		op.Outcome.Reason.Code != "step.pull" || !strings.Contains(op.Error, "no space left on device") {
		t.Errorf("the operation is %s", says(op))
	}
	if all := a.g.take(); len(all) != 1 {
		t.Errorf("changes %v, want the pull alone", steps(all))
	}
	only(t, engine, a.name, a.old)

	must(t, os.Remove(filler))
	succeeded(t, a.d.ended(a.d.begin("update", a.name).ID))
	only(t, engine, a.name, a.new)
	a.d.stop()
}
