package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// TestMistakesOfPluginsNameTheirPlace: an exception that an author did not expect is reported
// with its kind, its text, and the file and line that it comes from.
func TestMistakesOfPluginsNameTheirPlace(t *testing.T) {
	t.Parallel()
	program, err := built()
	must(t, err)
	modules, err := filepath.Abs(filepath.Join("..", "..", "examples", "trigger-node", "node_modules"))
	must(t, err)
	for language, c := range map[string]struct {
		file, before, mistake string
		missing               func() error
		want                  []string
	}{
		"node": {"trigger.js", "    const containers", "    request.titel.trim();\n", func() error {
			_, err := os.Stat(modules)
			return err
		}, []string{"reading 'trim'", "(trigger-lamp:"}}, // it is one bundled file
		"python": {"trigger.py", "    names =", "    request.titel.strip()\n", func() error {
			return exec.Command("/usr/bin/python3", "-c", "import grpc, google.protobuf").Run()
		}, []string{"AttributeError: titel", "(trigger.py:"}},
	} {
		t.Run(language, func(t *testing.T) {
			if err := c.missing(); err != nil {
				plugintest.Skip(t, language, err)
			}
			work := t.TempDir()
			inFolder(t, work, program, "plugin", "new", "trigger", "lamp", "--lang", language)
			dir := filepath.Join(work, "trigger-lamp")
			if language == "node" {
				must(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
			}
			source, err := os.ReadFile(filepath.Join(dir, c.file))
			must(t, err)
			wrong := strings.Replace(string(source), c.before, c.mistake+c.before, 1)
			if wrong == string(source) {
				t.Fatalf("%s has no %q", c.file, c.before)
			}
			must(t, os.WriteFile(filepath.Join(dir, c.file), []byte(wrong), 0o644))
			inFolder(t, dir, "./build.sh")
			command := exec.CommandContext(t.Context(), program, "--config", "dogwatch.yaml", "plugin", "test",
				"trigger.lamp.main")
			command.Dir = dir
			said, err := command.CombinedOutput()
			if err == nil {
				t.Errorf("it works: %s", said)
			}
			for _, want := range c.want {
				if !strings.Contains(string(said), want) {
					t.Errorf("it does not say %q: %s", want, said)
				}
			}
		})
	}
}
