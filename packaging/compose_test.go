package packaging_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// TestComposeFiles: compose itself accepts each compose file, those to copy from pages included.
func TestComposeFiles(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("docker-compose"); err != nil {
		plugintest.Skip(t, "docker-compose", err)
	}
	files, err := filepath.Glob("../examples/compose/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("%q %v", files, err)
	}
	for _, page := range []string{"../README.md", "../docs/portainer.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		block := regexp.MustCompile("(?s)```yaml\n(services:.*?)```").FindSubmatch(text)
		if block == nil {
			t.Fatalf("%s has no compose file", page)
		}
		own := filepath.Join(t.TempDir(), filepath.Base(page)+".yaml")
		if err := os.WriteFile(own, block[1], 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, own)
	}
	for _, file := range files {
		if out, err := exec.CommandContext(t.Context(), "docker-compose", "-f", file, "config", "-q").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}
