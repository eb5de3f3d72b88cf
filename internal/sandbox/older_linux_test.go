package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dogwatch/dogwatch/internal/sandbox/sandboxtest"
)

// started runs a program on a thread that prepare has restricted, and returns whether it ended well.
func started(prepare func() error, program string, args ...string) (ended, prepared error) {
	cmd := exec.Command(program, args...)
	done := make(chan struct{})
	defer close(done)
	prepared = Thread(func() error {
		if err := prepare(); err != nil {
			return err
		}
		return cmd.Start()
	}, func() { <-done })
	if prepared == nil {
		ended = cmd.Wait()
	}
	return ended, prepared
}

// TestWithoutLandlock: on a kernel without it, and where an engine forbids it, a program
// runs all the same, without the rest of what is restricted being lost, and that is said.
func TestWithoutLandlock(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	whole := sandboxtest.Landlock()
	for name, test := range map[string]struct {
		errno unix.Errno
		calls []uint32
		says  string
	}{
		"older kernel":       {unix.ENOSYS, whole, "files: not available: kernel without Landlock"},
		"not started":        {unix.EOPNOTSUPP, whole, "files: not available: the kernel was started without Landlock"},
		"forbidden":          {unix.EPERM, whole, "files: not available: the container engine forbids Landlock"},
		"forbidden in part":  {unix.EPERM, whole[2:], "files: not available: the container engine forbids Landlock"},
		"rules not possible": {unix.ENOSYS, whole[1:], "files: not available: kernel without Landlock"},
	} {
		t.Run(name, func(t *testing.T) {
			var held Held
			var probed Support
			ended, err := started(func() (err error) {
				if err := sandboxtest.Forbid(test.errno, test.calls...); err != nil {
					return err
				}
				probed = Probe()
				held, err = Enter(Rules{Read: []string{"/usr", "/bin", "/lib", "/lib64"}, KeepCapabilities: true})
				return err
			}, "/bin/cat", secret)
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skip(err)
			}
			if err != nil || ended != nil {
				t.Fatalf("the program does not run: %v, %v", err, ended)
			}
			if held.Files != 0 || !held.Calls || !strings.Contains(fmt.Sprint(held.Lacks), test.says) {
				t.Errorf("it says %+v, want %q", held, test.says)
			}
			if len(test.calls) == len(whole) &&
				(probed.Landlock != 0 || !strings.Contains("files: "+probed.NoLandlock, test.says)) {
				t.Errorf("the kernel is said to have %+v", probed)
			}
		})
	}
}

// TestWithoutFilters: an engine that forbids further filters leaves what Landlock restricts.
func TestWithoutFilters(t *testing.T) {
	var held Held
	ended, err := started(func() (err error) {
		if err := sandboxtest.Forbid(unix.EPERM, sandboxtest.Filters); err != nil {
			return err
		}
		held, err = Enter(Rules{Read: []string{"/"}, Write: []string{"/dev/null"}, KeepCapabilities: true})
		return err
	}, "/bin/true")
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	version, _ := landlockVersion()
	if err != nil || ended != nil || held.Calls || held.Files != version ||
		!strings.Contains(fmt.Sprint(held.Lacks), "system calls: the container engine forbids further seccomp filters") {
		t.Errorf("%+v, %v, %v", held, err, ended)
	}
}

// TestEachVersionOfLandlock that this kernel has restricts files: those before know fewer rights.
func TestEachVersionOfLandlock(t *testing.T) {
	latest, err := landlockVersion()
	if err != nil {
		t.Skip(whyNoLandlock(err))
	}
	dir := t.TempDir()
	for _, name := range []string{"secret", "open"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for version := 1; version <= latest; version++ {
		for name, works := range map[string]bool{"secret": false, "open": true} {
			ended, err := started(func() error {
				if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
					return err
				}
				return restrictFiles(version,
					[]string{"/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", filepath.Join(dir, "open")}, []string{"/dev/null"})
			}, "/bin/cat", filepath.Join(dir, name))
			if err != nil || (ended == nil) != works {
				t.Errorf("version %d, %s: %v, %v", version, name, err, ended)
			}
		}
	}
}
