package e2e

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// sdk1 is the last commit whose SDK is 1.0.0, sdk2 the first with 2.0.0. Their plugins
// speak protocol 1.
const (
	sdk1 = "4a6dbcf0c4ed3cf782f301c452107533e339eeac"
	sdk2 = "aff43ed8bee4f6fb7d9e7369a8e81d7f3cc2b03e"
)

// TestPluginOfSDK1 uses plugins that were built with SDK 1.0.0: they are
// configured, run, restarted, and accepted again after their file has changed.
func TestPluginOfSDK1(t *testing.T) {
	t.Parallel()
	source := checkout(t, sdk1, "go.mod", "go.sum", "sdk", "examples/trigger-file", "cmd/e2e/testdata/acts")
	plugins, lines := shortDir(t), filepath.Join(openDir(t), "updates.log")
	for name, dir := range map[string]string{
		"trigger-file": "examples/trigger-file", "trigger-acts": "cmd/e2e/testdata/acts",
	} {
		compiled, err := build(filepath.Join(source, dir), name)
		must(t, err)
		copyFile(t, compiled, filepath.Join(plugins, name))
	}
	f := newFleet(t, 1, registrysim.Options{})
	f.registry(0).Push(f.repo(0), "2.0.0")
	d := install(t, append(f.env(), "DOGWATCH_PLUGINS_DIR="+plugins, "DOGWATCH_PLUGINS_GRANTS=trigger-acts=engine",
		"DOGWATCH_TRIGGER_FILE_MAIN_PATH="+lines, "DOGWATCH_TRIGGER_ACTS_MAIN_NOTE=careful",
		"DOGWATCH_TRIGGER_ACTS_MAIN_AUTO=false")...).start()
	written := func(want int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d lines are written", want), func() bool {
			text, err := os.ReadFile(lines)
			return err == nil && strings.Count(string(text), "\n") == want
		})
	}
	run := func(trigger string) {
		t.Helper()
		id := d.containers()[0].ID
		if status, body := d.request(http.MethodPost, "/api/containers/"+id+"/triggers/"+trigger,
			""); status != http.StatusOK {
			t.Fatalf("run %s: %d %s", trigger, status, body)
		}
	}
	written(1)
	run("acts/main")
	run("file/main")
	written(2)

	change := func(what, body string) {
		t.Helper()
		if status, body := d.request(http.MethodPost, "/api/plugins/trigger-file/"+what, body); status/100 != 2 {
			t.Fatalf("%s: %d %s", what, status, body)
		}
	}
	change("restart", "")
	d.pluginIs("trigger-file", "running")
	run("file/main")
	written(3)

	replacePlugin(t, filepath.Join(plugins, "trigger-file"))
	change("restart", "")
	d.pluginIs("trigger-file", "untrusted")
	file, err := os.ReadFile(filepath.Join(plugins, "trigger-file"))
	must(t, err)
	change("trust", fmt.Sprintf(`{"sha256": "%x"}`, sha256.Sum256(file)))
	d.pluginIs("trigger-file", "running")
	run("file/main")
	written(4)
}

// TestPluginsOfOtherSDKs has a watcher and a registry that were built with SDK 1.0.0 find
// an update, of which triggers are notified that were built with SDK 2.0.0 and with one that does
// not exist yet. Where it matters, the API says how their SDK relates to ours.
func TestPluginsOfOtherSDKs(t *testing.T) {
	t.Parallel()
	plugins, work := shortDir(t), openDir(t)
	source := checkout(t, sdk1, "go.mod", "go.sum", "sdk")
	shelf := filepath.Join(source, "shelf")
	must(t, os.Mkdir(shelf, 0o755))
	copyFile(t, filepath.Join("testdata", "sdk1", "main.go.txt"), filepath.Join(shelf, "main.go"))
	use := func(name, dir string, flags ...string) {
		t.Helper()
		compiled, err := build(dir, name, flags...)
		must(t, err)
		copyFile(t, compiled, filepath.Join(plugins, name))
	}
	use("shelf", shelf)
	use("second",
		filepath.Join(checkout(t, sdk2, "go.mod", "go.sum", "sdk", "internal", "examples/trigger-file"), "examples",
			"trigger-file"))
	use("future", filepath.Join("..", "..", "examples", "trigger-file"), "-overlay", overlay(t, map[string][2]string{
		"sdk/version.go":                {`Version = "` + sdk.Version, `Version = "99.1.0`},
		"examples/trigger-file/main.go": {`Define("file"`, `Define("newfile"`},
	}))
	config := fmt.Sprintf(`{"plugins": {"dir": %q},
		"watcher": {"oldshelf": {"main": {"host": "images.example.com", "jitter": "0"}}},
		"registry": {"oldfeed": {"main": {"host": "images.example.com"}}},
		"trigger": {"file": {"main": {"path": %q}}, "newfile": {"main": {"path": %q}}}}`, plugins,
		filepath.Join(work, "second"), filepath.Join(work, "future"))
	must(t, os.WriteFile(filepath.Join(work, "dogwatch.yaml"), []byte(config), 0o600))
	d := install(t, "DOGWATCH_CONFIG="+filepath.Join(work, "dogwatch.yaml")).start()
	for _, name := range []string{"second", "future"} {
		eventually(t, name+" is notified", func() bool {
			line, err := os.ReadFile(filepath.Join(work, name))
			return err == nil && strings.HasSuffix(string(line), "main/oldweb team/app: 1.0.0 -> 1.1.0\n")
		})
	}
	type plugin struct{ Name, SDK, Note string }
	want := map[string]plugin{
		"shelf": {"shelf", "1.0.0", "older than this Dogwatch"}, "second": {"second", "2.0.0", ""},
		"future": {"future", "99.1.0", "newer than this Dogwatch"},
	}
	for _, got := range get[[]plugin](d, http.MethodGet, "/api/plugins") {
		w, third := want[got.Name]
		if third && (got.SDK != w.SDK || !strings.Contains(got.Note, w.Note) || w.Note == "" && got.Note != "") {
			t.Errorf("got %+v, want %+v", got, w)
		}
		delete(want, got.Name)
	}
	if len(want) > 0 {
		t.Errorf("the API lacks %v", want)
	}
}

// overlay returns a file that has the go command see changed files of this
// checkout: in each, the first text is replaced by the second.
func overlay(t *testing.T, changes map[string][2]string) string {
	t.Helper()
	dir := t.TempDir()
	var files struct{ Replace map[string]string }
	files.Replace = map[string]string{}
	for name, change := range changes {
		path, err := filepath.Abs(filepath.Join("..", "..", filepath.FromSlash(name)))
		must(t, err)
		text, err := os.ReadFile(path)
		must(t, err)
		changed := strings.Replace(string(text), change[0], change[1], 1)
		if changed == string(text) {
			t.Fatalf("%s has no %s", name, change[0])
		}
		files.Replace[path] = filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		must(t, os.WriteFile(files.Replace[path], []byte(changed), 0o644))
	}
	list, err := json.Marshal(files)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o644))
	return filepath.Join(dir, "overlay.json")
}

// pluginIs waits until a plugin is in a state.
func (d *daemon) pluginIs(name, state string) {
	d.t.Helper()
	type plugin struct{ Name, State string }
	eventually(d.t, name+" is "+state, func() bool {
		for _, p := range get[[]plugin](d, http.MethodGet, "/api/plugins") {
			if p.Name == name {
				return p.State == state
			}
		}
		return false
	})
}

// checkout writes paths of a commit to a new folder. It skips the test when the
// clone does not have that commit.
func checkout(t *testing.T, commit string, paths ...string) string {
	t.Helper()
	root := filepath.Join("..", "..")
	git := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = root
		return cmd.Output()
	}
	if _, err := git("cat-file", "-e", commit+"^{commit}"); err != nil {
		plugintest.Skip(t, "history",
			fmt.Sprintf("this clone has no commit %.7s, as when it is shallow: git fetch --unshallow brings it", commit))
	}
	archive, err := git(append([]string{"archive", "--format=tar", commit}, paths...)...)
	must(t, err)
	dir := t.TempDir()
	for files := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		must(t, err)
		if h.Typeflag != tar.TypeReg {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		text, err := io.ReadAll(files)
		must(t, err)
		must(t, os.WriteFile(path, text, 0o644))
	}
}
