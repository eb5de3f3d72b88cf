package packaging_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// TestComposeFiles: compose itself accepts each compose file, that of the README included.
func TestComposeFiles(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("docker-compose"); err != nil {
		plugintest.Skip(t, "docker-compose", err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(services:.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("the README has no compose file")
	}
	own := filepath.Join(t.TempDir(), "compose.yaml")
	if err := os.WriteFile(own, block[1], 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../examples/compose/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("%q %v", files, err)
	}
	for _, file := range append(files, own) {
		if out, err := exec.CommandContext(t.Context(), "docker-compose", "-f", file, "config", "-q").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}
