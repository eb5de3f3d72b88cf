//go:build unix

package plugin

import (
	"os"
	"testing"
)

func TestSocketsAreInTheRunDir(t *testing.T) {
	h := newHost(t, testOptions(t))
	i, err := configureWatcher(t, h, "watcher.probe.a", nil)
	must(t, err)
	pidOf(t, i)
	entries, err := os.ReadDir(h.runDir)
	must(t, err)
	sockets := 0
	for _, e := range entries {
		if e.Type()&os.ModeSocket != 0 && e.Name() != "probe" {
			sockets++
		}
	}
	info, err := os.Stat(h.runDir)
	must(t, err)
	if sockets == 0 || info.Mode().Perm()&^0o011 != 0o700 {
		t.Fatalf("%d sockets in %v, a folder of mode %v", sockets, entries, info.Mode())
	}
}
