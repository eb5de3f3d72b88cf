package compose

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCompose1IsRecognized tests a docker-compose of either version, and what follows from it.
func TestCompose1IsRecognized(t *testing.T) {
	for version, first := range map[string]bool{
		"1.29.2": true, "2.38.2": false, "v2.1.0": false, "10.0.0": false, "": false,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "docker-compose"), []byte("#!/bin/sh\necho "+version+"\n"),
			0o700); err != nil {
			t.Fatal(err)
		}
		tool := []string{filepath.Join(dir, "docker-compose")}
		c := Command{Tool: tool, Service: "web", First: IsFirst(t.Context(), tool)}
		if c.First != first {
			t.Errorf("%q: first %t", version, c.First)
		}
		if pull := slices.Contains(c.Up(true), "--pull"); pull == first {
			t.Errorf("%q: up has --pull: %t", version, pull)
		}
		if c.Misfit(false) != "" || strings.Contains(c.Misfit(true), "install Compose 2") != first {
			t.Errorf("%q: %q, on an old engine %q", version, c.Misfit(true), c.Misfit(false))
		}
	}
	if IsFirst(t.Context(), []string{"docker", "compose"}) ||
		IsFirst(t.Context(), []string{filepath.Join(t.TempDir(), "docker-compose")}) {
		t.Error("only a docker-compose that says so is Compose 1")
	}
}
