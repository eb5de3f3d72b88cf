package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// TestStoreOnDiskWithoutRoom fills a real file system of 640 KiB, in a
// namespace of its own, until the kernel refuses; then makes room.
func TestStoreOnDiskWithoutRoom(t *testing.T) {
	cmd := childCommand(t, "fill", t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit) && strings.Contains(stderr.String(), errNoMount.Error()),
		errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EINVAL):
		plugintest.Skip(t, "mount", fmt.Sprintf("this machine lets no test mount a file system: %v %s", err, stderr.String()))
	default:
		t.Fatalf("%v: %s", err, stderr.String())
	}
}

var errNoMount = errors.New("cannot mount")

func fillSmallDisk(dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=640k"); err != nil {
		return fmt.Errorf("%w: %w", errNoMount, err)
	}
	ctx := context.Background()
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 200_000), 0o600); err != nil {
		return err
	}
	path := filepath.Join(dir, "store.db")
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	var stored []string
	var full error
	add := func(i int) error {
		c := container("local", fmt.Sprintf("n%03d", i), fmt.Sprint(i))
		err := s.Commit(ctx, event.Change{Put: []sdk.Container{c}, Events: happenings(1)})
		if err == nil {
			stored = append(stored, event.Subject(c)+"="+c.ID)
		}
		return err
	}
	for i := 0; full == nil && i < 1000; i++ {
		full = add(i)
	}
	if !errors.Is(full, ErrFull) {
		return fmt.Errorf("stored %d containers on a small disk, then: %w", len(stored), full)
	}
	check := func(when string) error {
		events, err := s.Events(ctx, 0, 1000)
		if err != nil || len(events) != len(stored) || !slices.Equal(ids(s), stored) {
			return fmt.Errorf("%s: %d containers and %d events, want %d: %w", when, len(ids(s)), len(events), len(stored), err)
		}
		return nil
	}
	if err := check("while full"); err != nil {
		return err
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	if err := add(999); err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	if err := check("with room again"); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	if s, err = Open(ctx, path, Options{}); err != nil {
		return err
	}
	return errors.Join(check("after a restart"), s.Close())
}
