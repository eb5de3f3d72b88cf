package compose

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

const (
	webText = "services:\n  web:\n    image: nginx:1.25 # c\n"
	webNew  = "services:\n  web:\n    image: nginx:1.26 # c\n"
)

// changeOf returns the change of a compose file in a directory of its own.
func changeOf(t *testing.T, dir, text, old, target string) Change {
	t.Helper()
	path := filepath.Join(dir, "compose.yml")
	writeFile(t, path, text)
	c, err := Edit(Project{Service: "web", Files: []string{path}, WorkingDir: dir}, old, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func partial(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".dogwatch")
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v, want %q", path, got, err, want)
	}
}

func TestApplyWritesABackup(t *testing.T) {
	c := changeOf(t, t.TempDir(), webText, "nginx:1.25", "nginx:1.26")
	result, err := c.Apply(true, nil)
	if err != nil || result.InPlace || result.Backup != c.File+".back" {
		t.Fatalf("got %+v, %v", result, err)
	}
	wantFile(t, c.File, webNew)
	wantFile(t, result.Backup, webText)
	if _, err := c.Apply(true, nil); err != nil {
		t.Fatal(err)
	}
	wantFile(t, result.Backup, webText) // not that of the second time
}

func TestApplyKeepsOwnerAndMode(t *testing.T) {
	c := changeOf(t, t.TempDir(), webText, "nginx:1.25", "nginx:1.26")
	if os.Getuid() == 0 {
		if err := os.Chown(c.File, 1234, 4321); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(c.File, 0o640); err != nil {
		t.Fatal(err)
	}
	before := ownerOf(t, c.File)
	result, err := c.Apply(true, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{c.File, result.Backup} {
		if after := ownerOf(t, path); after != before {
			t.Errorf("%s has the owner and mode %s, want %s", path, after, before)
		}
	}
}

func ownerOf(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command("ls", "-ln", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(out))
	return strings.Join([]string{f[0], f[2], f[3]}, " ")
}

func TestApplyFollowsASymbolicLink(t *testing.T) {
	c := changeOf(t, t.TempDir(), webText, "nginx:1.25", "nginx:1.26")
	target := filepath.Join(t.TempDir(), "real.yml")
	if err := os.Rename(c.File, target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, c.File); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(false, nil); err != nil {
		t.Fatal(err)
	}
	wantFile(t, target, webNew)
	if info, err := os.Lstat(c.File); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
}

func TestApplyWritesAFileOfTwoNamesInPlace(t *testing.T) {
	c := changeOf(t, t.TempDir(), webText, "nginx:1.25", "nginx:1.26")
	second := filepath.Join(filepath.Dir(c.File), "second")
	if err := os.Link(c.File, second); err != nil {
		t.Fatal(err)
	}
	if result, err := c.Apply(false, nil); err != nil || !result.InPlace {
		t.Fatalf("got %+v, %v", result, err)
	}
	wantFile(t, second, webNew)
}

// TestApplyWritesAMountedFileInPlace uses a real mount of one file, as Docker makes for -v FILE:FILE.
func TestApplyWritesAMountedFileInPlace(t *testing.T) {
	c := changeOf(t, t.TempDir(), webText, "nginx:1.25", "nginx:1.250")
	source := filepath.Join(t.TempDir(), "host.yml")
	writeFile(t, source, webText)
	mount := func(args ...string) {
		if out, err := exec.Command("mount", append(args, source, c.File)...).CombinedOutput(); err != nil {
			plugintest.Skip(t, "mount", string(out))
		}
	}
	mount("--bind")
	t.Cleanup(func() { _ = exec.Command("umount", c.File).Run() })
	if result, err := c.Apply(false, nil); err != nil || !result.InPlace {
		t.Fatalf("got %+v, %v", result, err)
	}
	wantFile(t, source, strings.Replace(webText, "1.25", "1.250", 1))
	if err := c.Undo(nil); err != nil {
		t.Fatal(err)
	}
	wantFile(t, source, webText)
	if out, err := exec.Command("mount", "-o", "remount,bind,ro", c.File).CombinedOutput(); err != nil {
		plugintest.Skip(t, "mount", string(out))
	}
	if _, err := c.Apply(false, nil); codeOf(err) != FileReadonly {
		t.Errorf("read-only: got %v", err)
	}
	if _, err := c.Prepared(nil); codeOf(err) != FileReadonly {
		t.Errorf("read-only: got %v", err)
	}
	wantFile(t, source, webText)
}

func TestApplyRefusesAFileThatWasChanged(t *testing.T) {
	c := changeOf(t, t.TempDir(), webText, "nginx:1.25", "nginx:1.26")
	writeFile(t, c.File, webText+"# more\n")
	if _, err := c.Apply(false, nil); codeOf(err) != FileChanged {
		t.Errorf("apply: %v", err)
	}
	if err := c.Undo(nil); codeOf(err) != FileChanged {
		t.Errorf("undo: %v", err)
	}
	wantFile(t, c.File, webText+"# more\n")
	if err := os.Remove(c.File); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(false, nil); codeOf(err) != FileMissing {
		t.Errorf("a removed file: %v", err)
	}
}

// TestApplyAndUndoGoOnAfterACrash puts the directory into every state that a kill can leave.
func TestApplyAndUndoGoOnAfterACrash(t *testing.T) {
	long, short := webText, strings.Replace(webText, "nginx:1.25", "nginx:9", 1)
	for name, c := range map[string]struct {
		old, target, before, after string
	}{
		"longer text":  {"nginx:9", "nginx:1.25", short, long},
		"shorter text": {"nginx:1.25", "nginx:9", long, short},
	} {
		t.Run(name, func(t *testing.T) {
			states := map[string]func(path string){
				"nothing done":       func(string) {},
				"backup written":     func(path string) { writeFile(t, path+".back", c.before) },
				"half of a new file": func(path string) { writeFile(t, partial(path), c.after[:10]) },
				"whole new file":     func(path string) { writeFile(t, partial(path), c.after) },
				"renamed":            func(path string) { writeFile(t, path, c.after) },
				"written, not cut": func(path string) {
					writeFile(t, path, c.after+c.before[min(len(c.after), len(c.before)):])
				},
				"taken back, not cut": func(path string) {
					writeFile(t, path, c.before+c.after[min(len(c.after), len(c.before)):])
				},
			}
			for state, leave := range states {
				change := changeOf(t, t.TempDir(), c.before, c.old, c.target)
				stored, err := json.Marshal(change) // as an operation stores it
				if err != nil || strings.Contains(string(stored), "services") {
					t.Fatalf("stored as %s, %v", stored, err)
				}
				var read Change
				if err := json.Unmarshal(stored, &read); err != nil {
					t.Fatal(err)
				}
				leave(read.File)
				if _, err := read.Apply(true, nil); err != nil {
					t.Errorf("%s: apply: %v", state, err)
				}
				wantFile(t, read.File, c.after)
				leave(read.File)
				if err := read.Undo(nil); err != nil {
					t.Errorf("%s: undo: %v", state, err)
				}
				wantFile(t, read.File, c.before)
				if _, err := os.Stat(partial(read.File)); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s: a partial file is left over: %v", state, err)
				}
			}
		})
	}
}

// TestApplyRefusesAPathThatLeadsElsewhere puts a link to a folder with the same file where the folder was planned.
func TestApplyRefusesAPathThatLeadsElsewhere(t *testing.T) {
	dir, foreign := filepath.Join(t.TempDir(), "stack"), t.TempDir()
	writeFile(t, filepath.Join(foreign, "compose.yml"), webText)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c, err := changeOf(t, dir, webText, "nginx:1.25", "nginx:1.26").Prepared(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(dir, dir+".aside"), os.Symlink(foreign, dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(true, nil); codeOf(err) != FileChanged || !strings.Contains(err.Error(), foreign) {
		t.Errorf("apply: %v", err)
	}
	if err := c.Undo(nil); codeOf(err) != FileChanged {
		t.Errorf("undo: %v", err)
	}
	wantFile(t, filepath.Join(foreign, "compose.yml"), webText)
	if found, err := os.ReadDir(foreign); err != nil || len(found) != 1 {
		t.Errorf("the foreign folder has %v, %v", found, err)
	}
}
