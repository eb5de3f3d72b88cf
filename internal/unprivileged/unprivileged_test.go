//go:build unix

package unprivileged

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRerunDropsRights(t *testing.T) {
	if Rerun(t) {
		return
	}
	file := filepath.Join(t.TempDir(), "closed")
	if err := os.WriteFile(file, []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(file); !os.IsPermission(err) {
		t.Errorf("user %d reads a file without permissions: %v", os.Geteuid(), err)
	}
}
