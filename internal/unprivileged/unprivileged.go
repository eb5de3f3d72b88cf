//go:build unix

// Package unprivileged lets tests of file permissions run as root, to whom none apply.
package unprivileged

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dogwatch/dogwatch/internal/program"
)

// user is the customary number of a user, and of a group, without rights.
const user = 65534

// Rerun runs the test that calls it in a process of a user without rights, and
// fails it with what that process printed if it fails there. It returns false, and
// does nothing, when this process is not root's: the test goes on then. The
// other process has a folder of its own as TMPDIR, HOME and working directory.
func Rerun(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	as(t, user)
	return true
}

// Also runs the test that calls it in a process of another user, too, as Rerun does, when this
// process is root's. The test goes on as root afterwards.
func Also(t *testing.T, uid uint32) {
	t.Helper()
	if os.Geteuid() == 0 {
		as(t, uid)
	}
}

// as runs the test in a process of a user, and of the group of the same number.
func as(t *testing.T, user uint32) {
	t.Helper()
	dir, err := os.MkdirTemp("", "dogwatch-unprivileged-") // below T.TempDir no other user may go
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	test := filepath.Join(dir, "test") // the folder in which go test builds it is closed to other users
	if err := errors.Join(program.Copy(own, test), os.Chown(dir, int(user), int(user))); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), test, "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("as user %d: %v\n%s", user, err, out)
	}
}
