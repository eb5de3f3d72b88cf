package plugin

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

func loggedHost(t testing.TB, opt Options, log *logBuffer) *Host {
	t.Helper()
	opt.Log = hclog.New(&hclog.LoggerOptions{Output: log})
	return newHost(t, opt)
}

// fill writes 64 MB into the temporary folder, as a plugin, and goes on.
func fill(how string) error {
	dir := os.TempDir()
	if how == "closed" {
		dir = filepath.Join(dir, "a")
		if err := os.Mkdir(dir, 0o300); err != nil {
			return err
		}
	}
	for n := range 64 {
		f, err := os.Create(filepath.Join(dir, strconv.Itoa(n)))
		if err != nil {
			return err
		}
		if _, err := f.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		if how == "removed" {
			defer f.Close()
			err = os.Remove(f.Name())
		} else {
			err = f.Close()
		}
		if err != nil {
			return err
		}
	}
	time.Sleep(20 * time.Second)
	return nil
}

// allocate uses a gigabyte, as a plugin.
func allocate() error {
	var kept [][]byte
	for range 1024 {
		piece := make([]byte, 1<<20)
		for i := range piece {
			piece[i] = 1
		}
		kept = append(kept, piece)
	}
	runtime.KeepAlive(kept)
	return nil
}

// bomb starts programs in sessions of their own, as a plugin, until that fails, and goes on.
func bomb() error {
	for range 400 {
		if err := exec.Command("/bin/sh", "-c", "setsid sleep 617 & exit 0").Run(); err != nil {
			break
		}
	}
	time.Sleep(20 * time.Second)
	return nil
}

// leaveOrphans ends at once, and leaves programs that end a little later.
func leaveOrphans() error {
	var all []error
	for range 20 {
		all = append(all, exec.Command("/bin/sh", "-c", "sleep 0.05 & exit 0").Run())
	}
	return errors.Join(all...)
}
