//go:build unix

package heldfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/internal/unprivileged"
)

// TestOpenNeedsNoRightToListFoldersAbove reaches a folder through one that may be passed and not be read.
func TestOpenNeedsNoRightToListFoldersAbove(t *testing.T) {
	if unprivileged.Rerun(t) {
		return
	}
	dir := tree(t)
	path := filepath.Join(dir, "sub/deep/compose.yml")
	check(t, os.Chmod(filepath.Join(dir, "sub"), 0o300))
	defer os.Chmod(filepath.Join(dir, "sub"), 0o700)
	f := open(t, path)
	check(t, f.Check())
	if in, err := f.Write([]byte("new"), 0); err != nil || in {
		t.Errorf("written in place %t, %v", in, err)
	}
	check(t, f.Check())
	holds(t, path, "new")
	check(t, os.Chmod(filepath.Join(dir, "sub/deep"), 0o300))
	defer os.Chmod(filepath.Join(dir, "sub/deep"), 0o700)
	if _, err := Open(path, nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a folder that may not be read: %v", err)
	}
}

// TestOpenDoesNotWaitForAPipe puts a pipe where the file is looked for.
func TestOpenDoesNotWaitForAPipe(t *testing.T) {
	dir := tree(t)
	path := filepath.Join(dir, "sub/deep/compose.yml")
	f := open(t, path)
	check(t, os.Remove(path))
	check(t, syscall.Mkfifo(path, 0o600))
	done := make(chan error, 1)
	go func() {
		_, err := Open(path, nil)
		// As if the pipe came after the look at the file.
		f.info, _ = os.Lstat(path)
		piped, err2 := f.same(os.O_RDONLY)
		if err2 == nil {
			piped.Close()
		}
		done <- errors.Join(err, err2)
	}()
	select {
	case err := <-done:
		if !errors.Is(err, ErrNotRegular) {
			t.Errorf("a pipe: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still waiting for a writer of the pipe")
	}
}
