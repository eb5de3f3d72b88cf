package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
)

// TestDocsUseShortVariables: variables of Docker watchers are written without their type, and the reference says
// once that both are the same.
func TestDocsUseShortVariables(t *testing.T) {
	const long, short = "DOGWATCH_WATCHER_DOCKER_LOCAL_CRON", "DOGWATCH_WATCHER_LOCAL_CRON"
	if got := config.ShortEnvName("watcher.docker.local.cron"); got != short {
		t.Errorf("%s, want %s", got, short)
	}
	const reference = "../../docs/configuration.md"
	check := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if path == reference {
			want = 1
		}
		n := strings.Count(string(text), "DOGWATCH_WATCHER_DOCKER_LOCAL_") + strings.Count(string(text),
			"DOGWATCH_WATCHER_DOCKER_{")
		if n != want {
			t.Errorf("%s has %d long variables of watchers, want %d", path, n, want)
		}
		if path == reference && !strings.Contains(string(text), "`"+short+"` and `"+long+"` are the same") {
			t.Errorf("%s does not say that both are the same", path)
		}
	}
	check("../../README.md")
	for _, folder := range []string{"../../docs", "../../examples"} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				check(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
