package install_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/plugin/install"
)

// TestInstallWritesThroughNoLink plants links where a command writes, to files and folders elsewhere.
func TestInstallWritesThroughNoLink(t *testing.T) {
	for _, planted := range []string{
		".installed.json.new", ".installed.lock", ".install", ".install/lamp", ".install/lamp.old", ".lamp.previous", "lamp",
	} {
		for _, target := range []string{"file", "folder", "missing"} {
			for _, later := range []bool{false, true} { // before the folder is opened, or after that
				t.Run(fmt.Sprintf("%s to %s, later %t", planted, target, later), func(t *testing.T) {
					base := t.TempDir()
					dir, foreign := filepath.Join(base, "plugins"), filepath.Join(base, "foreign")
					must(t, os.MkdirAll(filepath.Join(foreign, "folder"), 0o755))
					must(t, os.WriteFile(filepath.Join(foreign, "file"), []byte("foreign"), 0o600))
					must(t, os.WriteFile(filepath.Join(foreign, "folder", "lamp"), []byte("foreign"), 0o600))
					before := treeOf(t, foreign)
					plant := func() {
						path := filepath.Join(dir, planted)
						must(t, os.MkdirAll(filepath.Dir(path), 0o755))
						_ = os.Remove(path)
						must(t, os.Symlink(filepath.Join(foreign, target), path))
					}
					if !later {
						plant()
					}
					f, err := install.Open(t.Context(), dir)
					if err == nil && later {
						plant()
					}
					if err == nil {
						for _, version := range []string{"1", "2"} { // what cannot be written is refused
							s, err := stage(t.Context(), f, request(release(t, "lamp", version, nil)))
							if err == nil {
								err = f.Install(s)
							}
							t.Log(err)
						}
						_, err = f.Rollback("lamp")
						t.Log(err, f.Remove("lamp"))
						f.Close()
					}
					if got := treeOf(t, foreign); got != before {
						t.Errorf("the foreign folder has\n%s\nwant\n%s", got, before)
					}
				})
			}
		}
	}
}

// treeOf lists a folder with modes and contents.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		must(t, err)
		info, err := e.Info()
		must(t, err)
		data, _ := os.ReadFile(path) // of folders there is none
		_, err = fmt.Fprintf(&b, "%s %s %q\n", info.Mode(), path, data)
		return err
	}))
	return b.String()
}
