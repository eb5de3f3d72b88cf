//go:build unix

package doctor

import (
	"os"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/unprivileged"
)

func TestStoreUnwritable(t *testing.T) {
	if unprivileged.Rerun(t) {
		return
	}
	_, opt := healthy(t)
	if err := os.Chmod(opt.Config.Store.Path, 0o500); err != nil {
		t.Fatal(err)
	}
	got := text(Examine(t.Context(), opt), opt.Config.Store.Path)
	if !strings.Contains(got, "fail store: DIR cannot be written: permission denied > dogwatch runs as user ") {
		t.Error(got)
	}
}
