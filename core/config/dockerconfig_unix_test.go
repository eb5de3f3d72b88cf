//go:build unix

package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dogwatch/dogwatch/internal/unprivileged"
)

func TestDockerConfigUnreadable(t *testing.T) {
	if unprivileged.Rerun(t) {
		return
	}
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".docker"), 0); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Input{Environ: []string{"HOME=" + home, "XDG_DATA_HOME=" + home}})
	if err != nil {
		t.Fatal(err)
	}
	checkOneProblem(t, c.Problems, "permission denied to user")
}
