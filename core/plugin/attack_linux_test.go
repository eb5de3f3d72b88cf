package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dogwatch/dogwatch/internal/program"
	"github.com/dogwatch/dogwatch/internal/unprivileged"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// ordinary is the user of Dogwatch in its image.
const ordinary = 1000

// leaveSetID tries, as a plugin, to leave programs in a folder that run as their owner for
// whoever starts them.
func leaveSetID(dir string) error {
	path := func(name string) string { return filepath.Join(dir, name) }
	var how []string
	note := func(name string, err error) {
		if err == nil {
			how = append(how, name)
		}
	}
	for _, name := range []string{"chmod", "fchmod", "fchmodat2", "link"} {
		if err := program.Copy("/bin/true", path(name)); err != nil {
			return err
		}
	}
	note("chmod", os.Chmod(path("chmod"), 0o755|fs.ModeSetuid))
	if f, err := os.Open(path("fchmod")); err == nil {
		note("fchmod", f.Chmod(0o755|fs.ModeSetgid))
		note("chmod of /proc", syscall.Chmod(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), 0o4755))
		f.Close()
	}
	note("fchmodat2", unix.Fchmodat(unix.AT_FDCWD, path("fchmodat2"), 0o4755, unix.AT_SYMLINK_NOFOLLOW))
	for name, flags := range map[string]int{
		"open": unix.O_CREAT | unix.O_EXCL, "create": unix.O_CREAT | unix.O_TRUNC, "nameless": unix.O_TMPFILE,
	} {
		at := path(name)
		if name == "nameless" {
			at = dir
		}
		fd, err := unix.Open(at, flags|unix.O_RDWR, 0o4755)
		if note(name, err); err == nil && name == "nameless" {
			note("linked",
				unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, path("linked"),
					unix.AT_SYMLINK_FOLLOW))
		}
	}
	_, err := unix.Openat2(unix.AT_FDCWD, path("openat2"), &unix.OpenHow{Flags: unix.O_CREAT | unix.O_RDWR, Mode: 0o6755})
	note("openat2", err)
	note("mknod", unix.Mknod(path("mknod"), unix.S_IFREG|0o4755, 0))
	note("attribute", unix.Setxattr(path("link"), "security.capability", make([]byte, 20), 0))
	if len(how) > 0 {
		return fmt.Errorf("it could by %q", how)
	}
	return nil
}

// changeForeign tries, as a plugin, to open a file to others that it may not reach.
func changeForeign(path string) error {
	var how []string
	note := func(name string, err error) {
		if err == nil {
			how = append(how, name)
		}
	}
	note("chmod", os.Chmod(path, 0o666))
	note("fchmodat2", unix.Fchmodat(unix.AT_FDCWD, path, 0o666, unix.AT_SYMLINK_NOFOLLOW))
	if fd, err := unix.Open(path, unix.O_PATH, 0); err == nil {
		note("fchmod", unix.Fchmod(fd, 0o666))
		note("chmod of /proc", syscall.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), 0o666))
	}
	note("chown", os.Lchown(path, os.Getuid(), ordinary))
	note("attribute", unix.Setxattr(path, "user.seen", []byte("x"), 0))
	if len(how) > 0 {
		return fmt.Errorf("it could by %q", how)
	}
	return nil
}

// typed is what typeForHost types.
const typed = "reboot\n"

// typeForHost tries, as a plugin, to type into whatever terminal it can get.
func typeForHost() error {
	how := []string{}
	into := func(name string, fd int) {
		for i := range len(typed) {
			c := typed[i]
			if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), 1<<32|unix.TIOCSTI,
				uintptr(unsafe.Pointer(&c))); errno == 0 && i == 0 {
				how = append(how, name)
			}
		}
	}
	for fd := range 16 {
		into(fmt.Sprint("descriptor ", fd), fd)
	}
	names, _ := filepath.Glob("/dev/pts/[0-9]*")
	for _, name := range append(names, "/dev/tty", "/dev/console") {
		if fd, err := unix.Open(name, unix.O_RDWR, 0); err == nil { // which may become its own terminal
			into(name, fd)
			unix.Close(fd)
		}
	}
	if len(how) > 0 {
		return fmt.Errorf("it could by %q", how)
	}
	return nil
}

// attack has the plugin mine of a host try something, with what its options name.
func attack(t *testing.T, opt Options, what, path string) {
	t.Helper()
	h := newHost(t, opt)
	must(t, h.Discover(t.Context()))
	i, err := configureTrigger(t, h, "trigger.act.a", map[string]any{"do": "try " + what, "path": path})
	must(t, err)
	if err := i.Run(t.Context(), trigger.Request{}); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// TestPluginLeavesNoSetIDProgram: what a plugin writes where others find it does not give them
// its rights, and so not those of root.
func TestPluginLeavesNoSetIDProgram(t *testing.T) {
	requireKernel(t)
	unprivileged.Also(t, ordinary)
	for name, user := range map[string]*User{"own user": nil, "user of Dogwatch": {}} {
		opt, _ := thirdParty(t)
		opt.Isolation.User = user
		open := shortDir(t)
		if user == nil {
			open = openDir(t, "mine")
		}
		attack(t, opt, "setid "+open, filepath.Join(open, "x"))
		must(t, filepath.WalkDir(open, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if info, err := d.Info(); err != nil || info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
				t.Errorf("%s: %s has mode %v: %v", name, path, info.Mode(), err)
			}
			return nil
		}))
	}
}

// TestPluginKeepsDogwatchsFilesClosed: a plugin changes no mode, owner or attribute of the
// database of Dogwatch, whoever both run as.
func TestPluginKeepsDogwatchsFilesClosed(t *testing.T) {
	requireKernel(t)
	unprivileged.Also(t, ordinary)
	for name, user := range map[string]*User{"own user": nil, "user of Dogwatch": {}} {
		opt, _ := thirdParty(t)
		opt.Isolation.User = user
		store := shortDir(t)
		database := filepath.Join(store, "dogwatch.db")
		must(t, os.WriteFile(database, []byte("x"), 0o600))
		opt.Isolation.Private = []string{store, database}
		before, err := os.Stat(database)
		must(t, err)
		attack(t, opt, "foreign "+database, "")
		after, err := os.Stat(database)
		must(t, err)
		uid, gid := ownerOf(after)
		if had, of := ownerOf(before); after.Mode() != before.Mode() || uid != had || gid != of {
			t.Errorf("%s: the database is %v of %d:%d, was %v of %d:%d", name, after.Mode(), uid, gid, before.Mode(), had, of)
		}
	}
}

// atTerminal makes a run of this test binary the host of TestPluginTypesNothing.
const atTerminal = "DOGWATCH_TEST_AT_TERMINAL"

// TestPluginTypesNothing: a plugin has no terminal, and puts nothing into the one that
// Dogwatch was started from, which its shell would run.
func TestPluginTypesNothing(t *testing.T) {
	if os.Getenv(atTerminal) != "" {
		for _, user := range []*User{nil, {}} {
			opt, _ := thirdParty(t)
			opt.Isolation.User = user
			attack(t, opt, "type", "")
			waiting, err := unix.IoctlGetInt(0, unix.TIOCINQ)
			if must(t, err); waiting > 0 {
				t.Errorf("the terminal has %d bytes that nobody typed", waiting)
			}
		}
		return
	}
	requireKernel(t)
	unprivileged.Also(t, ordinary)
	theirs := terminal(t)
	own, err := os.Executable()
	must(t, err)
	cmd := exec.Command(own, "-test.run=^TestPluginTypesNothing$", "-test.v")
	cmd.Env = append(os.Environ(), atTerminal+"=1")
	var output bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(t, cmd.Start())
	if err := cmd.Wait(); err != nil || !bytes.Contains(output.Bytes(), []byte("--- PASS")) {
		t.Errorf("%v\n%s", err, output.Bytes())
	}
}

// terminal returns the programs' end of a terminal, see pty(7).
func terminal(t *testing.T) *os.File {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		plugintest.Skip(t, "terminal", err)
	}
	t.Cleanup(func() { ours.Close() })
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	must(t, err)
	must(t, unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0))
	theirs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		plugintest.Skip(t, "terminal", err)
	}
	t.Cleanup(func() { theirs.Close() })
	return theirs
}

// TestWatcherIsIsolated: a watcher reaches what its options name, and what it is granted.
func TestWatcherIsIsolated(t *testing.T) {
	requireKernel(t)
	unprivileged.Also(t, ordinary)
	secret := filepath.Join(shortDir(t), "secret")
	must(t, os.WriteFile(secret, nil, 0o600))
	for capability, works := range map[string]bool{"": false, "credentials": false, "files": true, "engine": true} {
		opt, _ := thirdParty(t)
		opt.Grants = func() map[string][]string { return map[string][]string{"mine": {capability}} }
		h := newHost(t, opt)
		must(t, h.Discover(t.Context()))
		i, err := configureWatcher(t, h, "watcher.probe.a", map[string]any{"do": "try read " + secret})
		must(t, err)
		_, err = i.List(t.Context())
		if (err == nil) != works ||
			!works && !strings.Contains(err.Error(), "if it needs an engine, add mine=engine to plugins.grants") {
			t.Errorf("granted %q: %v", capability, err)
		}
		s, _ := h.Bundle("mine")
		st := s.Status().Isolation
		if got := st.String(); strings.Contains(got, "Landlock, version") == works ||
			strings.Contains(got, "seccomp") == (capability == "engine") {
			t.Errorf("granted %q: the status says %s", capability, got)
		}
	}
}

// TestOwnUsers: each plugin has a user of its own, in what this user name space has.
func TestOwnUsers(t *testing.T) {
	all := map[uint32]bool{}
	for n := range 100 {
		u := ownUser(fmt.Sprint("plugin-", n), func(uint32) bool { return true })
		if u == nil || all[u.UID] || u.UID < 1879048192 || u.UID > 2147483647 || u.UID != u.GID {
			t.Fatalf("plugin %d is %+v", n, u)
		}
		all[u.UID] = true
	}
	small := ownUser("mine", func(id uint32) bool { return id < 65536 })
	if small == nil || small.UID < 60578 || small.UID > 61183 ||
		ownUser("mine", func(id uint32) bool { return id < 1000 }) != nil {
		t.Errorf("in a user name space it is %+v", small)
	}
	if *small != *ownUser("mine", func(id uint32) bool { return id < 65536 }) {
		t.Error("another one at the next start")
	}
	if runtime.GOOS == "linux" && (!mapped(0) || os.Geteuid() == 0 && cannotSwitch() != "") {
		t.Errorf("root is mapped: %v; root cannot switch: %q", mapped(0), cannotSwitch())
	}
}

// TestClosedToUser: what keeps a user from a file is found in the modes of all folders on its way.
func TestClosedToUser(t *testing.T) {
	top := resolved(shortDir(t))
	dir, file := filepath.Join(top, "a"), filepath.Join(top, "a", "b")
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.WriteFile(file, nil, 0o600))
	other := &User{UID: 54321, GID: 54321}
	uid, gid := uint32(os.Getuid()), uint32(os.Getgid())
	for _, step := range []struct {
		top, dir, file fs.FileMode
		user           *User
		want           fs.FileMode
		closed         string
	}{
		{0o700, 0o755, 0o644, other, reading, top}, {0o711, 0o755, 0o644, other, reading, ""},
		{0o711, 0o750, 0o644, other, reading, dir},
		{0o711, 0o711, 0o640, other, reading, file}, {0o711, 0o711, 0o644, other, reading | writing, file},
		{0o711, 0o711, 0o666, other, reading | writing, ""},
		{0o710, 0o710, 0o640, &User{UID: 54321, GID: gid}, reading, ""},
		{0o700, 0o700, 0o400, &User{UID: uid, GID: gid}, reading, ""},
	} {
		must(t, errors.Join(os.Chmod(top, step.top), os.Chmod(dir, step.dir), os.Chmod(file, step.file)))
		if got := step.user.closed(file, step.want); got != step.closed {
			t.Errorf("%+v: closed by %q", step, got)
		}
	}
	must(t, os.Chmod(top, 0o700))
}
