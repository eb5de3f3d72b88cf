package plugin

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFilesOfOptionsAreMadeWhereTheyAreNamed: a plugin may put a link in the place of a folder.
func TestFilesOfOptionsAreMadeWhereTheyAreNamed(t *testing.T) {
	dir := resolved(t.TempDir())
	must(t, os.MkdirAll(filepath.Join(dir, "own", "log"), 0o755))
	must(t, os.Mkdir(filepath.Join(dir, "foreign"), 0o755))
	f, err := makeFile(filepath.Join(dir, "own", "log", "first"))
	must(t, err)
	must(t, f.Close())
	must(t, os.RemoveAll(filepath.Join(dir, "own", "log")))
	must(t, os.Symlink(filepath.Join(dir, "foreign"), filepath.Join(dir, "own", "log")))
	if _, err := makeFile(filepath.Join(dir, "own", "log", "second")); err == nil {
		t.Error("a file was made through a link")
	}
	if made, _ := os.ReadDir(filepath.Join(dir, "foreign")); len(made) > 0 {
		t.Errorf("%v was made in a foreign folder", made)
	}
}

// TestClosedFoldersAreOpenedWithoutLinks: a plugin may put a link in the place of a folder that it has closed.
func TestClosedFoldersAreOpenedWithoutLinks(t *testing.T) {
	dir := t.TempDir()
	own, foreign := filepath.Join(dir, "own"), filepath.Join(dir, "foreign")
	closed, link := filepath.Join(own, "closed"), filepath.Join(own, "link")
	must(t, os.MkdirAll(closed, 0o755))
	must(t, os.Chmod(closed, 0))
	must(t, os.Mkdir(foreign, 0o755))
	must(t, os.Symlink(foreign, link))
	reopen(closed, own)
	reopen(link, own)
	for path, want := range map[string]os.FileMode{closed: 0o700, foreign: 0o755} {
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
		}
	}
}
