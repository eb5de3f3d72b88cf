package plugin

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dogwatch/dogwatch/internal/unprivileged"
)

// TestFilesOfOptionsAreMadeWhereTheyAreNamed: a plugin may put a link in the place of a folder.
func TestFilesOfOptionsAreMadeWhereTheyAreNamed(t *testing.T) {
	dir := resolved(t.TempDir())
	log, foreign := filepath.Join(dir, "own", "log"), filepath.Join(dir, "foreign")
	must(t, os.MkdirAll(log, 0o755))
	must(t, os.Mkdir(foreign, 0o755))
	first, second := filepath.Join(log, "first"), filepath.Join(log, "second")
	c := new(confinement)
	c.see(first, first)
	_, err := os.Lstat(first)
	must(t, err)
	must(t, os.RemoveAll(log))
	must(t, os.Symlink(foreign, log))
	c.see(second, second)
	if made, _ := os.ReadDir(foreign); len(made) > 0 {
		t.Errorf("%v was made in a foreign folder", made)
	}
}

// TestClosedFoldersAreOpenedWithoutLinks: a folder that a plugin has closed is opened to be measured. The plugin may
// put a link in its place meanwhile, as a process here does over and over again.
func TestClosedFoldersAreOpenedWithoutLinks(t *testing.T) {
	if unprivileged.Rerun(t) { // nothing is closed to root
		return
	}
	dir := t.TempDir()
	own, foreign := filepath.Join(dir, "own"), filepath.Join(dir, "foreign")
	closed, link := filepath.Join(own, "closed"), filepath.Join(own, "link")
	must(t, os.MkdirAll(closed, 0o755))
	must(t, os.Mkdir(foreign, 0o755))
	must(t, os.Symlink(foreign, link))
	folder, err := os.Open(closed)
	must(t, err)
	defer folder.Close()
	modes := func(what string, want, wantForeign os.FileMode) {
		t.Helper()
		info, err := folder.Stat()
		must(t, err)
		other, err := os.Stat(foreign)
		must(t, err)
		if got := info.Mode().Perm(); want != 0 && got != want || other.Mode().Perm() != wantForeign {
			t.Fatalf("%s: its folder has mode %o, a foreign one %o", what, got, other.Mode().Perm())
		}
	}
	must(t, folder.Chmod(0))
	usage(own, nil)
	modes("at rest", 0o700, 0o755)

	stop, exchanged := make(chan bool), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				exchanged <- n
				return
			default: // atomic, see renameat2(2)
				_ = unix.Renameat2(unix.AT_FDCWD, closed, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}
	}()
	for range 2000 {
		must(t, folder.Chmod(0))
		usage(own, nil)
		modes("while the names are exchanged", 0, 0o755)
	}
	stop <- true
	if n := <-exchanged; n < 100 {
		t.Errorf("the names were exchanged %d times", n)
	}
}
