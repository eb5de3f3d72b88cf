package e2e

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
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
)

// sdk1 is the last commit whose SDK is 1.0.0. Its plugins speak protocol 1.
const sdk1 = "4a6dbcf0c4ed3cf782f301c452107533e339eeac"

// TestPluginOfSDK1 uses plugins that were built with SDK 1.0.0: they are
// configured, run, restarted, and accepted again after their file has changed.
func TestPluginOfSDK1(t *testing.T) {
	t.Parallel()
	source := checkout(t, sdk1, "go.mod", "go.sum", "sdk", "examples/trigger-file", "cmd/e2e/testdata/acts")
	plugins, lines := shortDir(t), filepath.Join(shortDir(t), "updates.log")
	for name, dir := range map[string]string{"trigger-file": "examples/trigger-file", "trigger-acts": "cmd/e2e/testdata/acts"} {
		compiled, err := build(filepath.Join(source, dir), ".", name)
		must(t, err)
		copyFile(t, compiled, filepath.Join(plugins, name))
	}
	f := newFleet(t, 1, registrysim.Options{})
	f.registry(0).Push(f.repo(0), "2.0.0")
	d := install(t, append(f.env(), "DOGWATCH_PLUGINS_DIR="+plugins, "DOGWATCH_PLUGINS_GRANTS=trigger-acts=engine",
		"DOGWATCH_TRIGGER_FILE_MAIN_PATH="+lines, "DOGWATCH_TRIGGER_ACTS_MAIN_NOTE=careful", "DOGWATCH_TRIGGER_ACTS_MAIN_AUTO=false")...).start()
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
		if status, body := d.request(http.MethodPost, "/api/containers/"+id+"/triggers/"+trigger, ""); status != http.StatusOK {
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
		t.Skipf("this clone has no commit %.7s, as when it is shallow: git fetch --unshallow brings it", commit)
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
