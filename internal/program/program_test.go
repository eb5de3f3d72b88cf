package program

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

func TestCopyMakesAnExecutableOfANewFile(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	if err := os.WriteFile(from, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Copy(from, to); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(to)
	if err != nil || string(text) != "#!/bin/sh\n" {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := os.Stat(to); err != nil || info.Mode() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := Copy(from, to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
}

// TestCopyRunsAtOnce although other processes are started all the time.
func TestCopyRunsAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("another way to start processes")
	}
	exe, err := exec.LookPath("true")
	if err != nil {
		plugintest.Skip(t, "true", err)
	}
	dir := t.TempDir()
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for i := range 50 {
				to := filepath.Join(dir, strconv.Itoa(worker)+"-"+strconv.Itoa(i))
				if err := Copy(exe, to); err != nil {
					t.Error(err)
					return
				}
				if err := exec.Command(to).Run(); err != nil {
					t.Errorf("run the copy: %v", err)
					return
				}
			}
		})
	}
	wait.Wait()
}
