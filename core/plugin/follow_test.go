//go:build unix

package plugin

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// follow discovers plugins and follows the folder until the test ends. What it
// returns gets a value after each change.
func follow(t *testing.T, h *Host) <-chan struct{} {
	t.Helper()
	must(t, h.Discover(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	changes, done := make(chan struct{}, 16), make(chan struct{})
	go func() {
		defer close(done)
		h.Follow(ctx, func() { changes <- struct{}{} })
	}()
	t.Cleanup(func() { cancel(); <-done })
	return changes
}

func await(t *testing.T, changes <-chan struct{}) {
	t.Helper()
	select {
	case <-changes:
	case <-time.After(time.Minute):
		t.Fatal("the change was not noticed")
	}
}

// replace puts another program in the place of one, as an operator does while it runs.
func replace(t *testing.T, path string) {
	t.Helper()
	body, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path+".new", append(body, "changed"...), 0o644)) // not executable: no plugin yet
	must(t, os.Chmod(path+".new", 0o755))
	must(t, os.Rename(path+".new", path))
}

func TestFollowNewChangedAndRemovedFiles(t *testing.T) {
	t.Parallel()
	opt := testOptions(t)
	opt.Builtins, opt.Dir = nil, filepath.Join(shortDir(t), "plugins") // which does not exist yet
	h := newHost(t, opt)
	changes := follow(t, h)

	must(t, os.Mkdir(opt.Dir, 0o755))
	path := copyPlugin(t, opt.Dir, "mine")
	await(t, changes)
	s, known := h.Bundle("mine")
	if !known {
		t.Fatalf("a new file is not noticed: %+v", h.Bundles())
	}
	if st := s.Status(); st.State != Stopped || len(st.Types) != 4 {
		t.Fatalf("a new file: %+v", st)
	}
	i, err := configureWatcher(t, h, "watcher.probe.a", nil)
	must(t, err)
	first := pidOf(t, i)

	replace(t, path)
	await(t, changes)
	if st := s.Status(); st.State != Running || st.PID != first ||
		!strings.Contains(st.Error, "dogwatch plugin trust mine "+st.SHA256) {
		t.Fatalf("a file that changed: %+v", st)
	}
	must(t, h.Trust(t.Context(), "mine", s.Status().SHA256))
	eventually(t, "running", func() bool { return s.Status().State == Running })
	if second := pidOf(t, i); second == first {
		t.Error("the process is the one of the file before")
	}

	must(t, os.Remove(path))
	await(t, changes)
	if all := h.Bundles(); len(all) != 0 {
		t.Fatalf("after its file was removed there is %+v", all)
	}
	if _, err := i.List(t.Context()); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("a call to a removed plugin: %v", err)
	}
	if _, _, known := h.Find(kind.Watcher, "probe"); known {
		t.Error("its types are still known")
	}
}

// TestFollowBundleTrustedLater: a file that may not run when it is first seen holds unknown
// types; Follow calls changed when it may.
func TestFollowBundleTrustedLater(t *testing.T) {
	t.Parallel()
	opt, path := thirdParty(t)
	must(t, opt.Trust.Trust(t.Context(), "mine", make([]byte, 32))) // of another file
	h := newHost(t, opt)
	changes := follow(t, h)
	s, _ := h.Bundle("mine")
	if st := s.Status(); st.State != Untrusted || len(st.Types) > 0 {
		t.Fatalf("before it is trusted: %+v", st)
	}
	sum, err := Checksum(path)
	must(t, err)
	must(t, h.Trust(t.Context(), "mine", hex.EncodeToString(sum)))
	await(t, changes)
	if _, _, known := h.Find(kind.Watcher, "probe"); !known {
		t.Errorf("its types are not known: %+v", s.Status())
	}
	s.Restart()
	must(t, s.settled(t.Context()))
	select {
	case <-changes:
		t.Error("a bundle that holds what it held counts as changed")
	case <-time.After(50 * time.Millisecond):
	}
}

// TestProcessOutlivesFileThatMayNotRun: what is configured works until its process ends,
// which is when the new file is needed.
func TestProcessOutlivesFileThatMayNotRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arrange func(t *testing.T, path string)
		reason  string
		then    State // once its process has ended
		trusted bool  // by its checksum
	}{
		"another file": {replace, "changed since it was trusted", Untrusted, true},
		"writable by others": {func(t *testing.T, path string) {
			must(t, os.Chmod(path, 0o777))
		}, "can be changed by others", Untrusted, false},
		"not executable": {func(t *testing.T, path string) { must(t, os.Chmod(path, 0o644)) }, "chmod +x", Rejected, false},
	} {
		t.Run(name, func(t *testing.T) {
			opt, path := thirdParty(t)
			h := newHost(t, opt)
			changes := follow(t, h)
			s, _ := h.Bundle("mine")
			i, err := configureWatcher(t, h, "watcher.probe.a", nil)
			must(t, err)
			pid := pidOf(t, i)
			c.arrange(t, path)
			await(t, changes)
			if st := s.Status(); st.State != Running || !strings.Contains(st.Error, c.reason) || (st.SHA256 != "") != c.trusted {
				t.Errorf("its status: %+v", st)
			}
			if now := pidOf(t, i); now != pid {
				t.Errorf("the process was replaced: %d, then %d", pid, now)
			}
			if c.trusted { // of a file that no user has seen the checksum is shown
				shown := s.Status().SHA256
				replace(t, path)
				if err := h.Trust(t.Context(), "mine", shown); err == nil || s.Status().SHA256 == shown || s.Status().PID != pid {
					t.Errorf("trust in a file that was replaced meanwhile: %v, %+v", err, s.Status())
				}
			}
			must(t, syscall.Kill(pid, syscall.SIGKILL))
			eventually(t, string(c.then), func() bool { return s.Status().State == c.then })
			if st := s.Status(); !strings.Contains(st.Error, c.reason) {
				t.Errorf("after the end of its process: %+v", st)
			}
		})
	}
}

// TestFollowWaitsUntilWritten: a file that is copied into the folder is incomplete at first.
func TestFollowWaitsUntilWritten(t *testing.T) {
	t.Parallel()
	opt, _ := thirdParty(t)
	h := newHost(t, opt)
	follow(t, h)
	exe, err := os.Executable()
	must(t, err)
	body, err := os.ReadFile(exe)
	must(t, err)
	write := func(name string) (paused bool) {
		f, err := os.OpenFile(filepath.Join(opt.Dir, name), os.O_CREATE|os.O_WRONLY, 0o755)
		must(t, err)
		defer f.Close()
		for part := range 8 {
			began := time.Now()
			_, err := f.Write(body[part*len(body)/8 : (part+1)*len(body)/8])
			must(t, err)
			if part < 7 {
				time.Sleep(followEvery / 4)
			}
			_, known := h.Bundle(name)
			if paused = paused || time.Since(began) >= followEvery; known && !paused {
				t.Fatalf("started after part %d of 8", part+1)
			}
		}
		return paused
	}
	name := "slow"
	for write(name) { // on a machine that is too busy to write without a pause
		name += "er"
	}
	eventually(t, "noticed", func() bool { _, known := h.Bundle(name); return known })
	s, _ := h.Bundle(name)
	// Its types are those of the other file, which is how to tell that it was started whole.
	eventually(t, "settled", func() bool { return s.Status().State == Rejected })
	if st := s.Status(); st.Restarts != 0 {
		t.Errorf("the file that was written slowly: %+v", st)
	}
}

func TestFollowLeavesBuiltinsAndTheirProcesses(t *testing.T) {
	t.Parallel()
	opt := testOptions(t)
	opt.Dir = shortDir(t)
	h := newHost(t, opt)
	i, err := configureWatcher(t, h, "watcher.probe.a", nil)
	must(t, err)
	pid := pidOf(t, i)
	changes := follow(t, h)
	must(t, os.WriteFile(filepath.Join(opt.Dir, "broken"), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	await(t, changes)
	if again := pidOf(t, i); again != pid {
		t.Errorf("the built-in process was replaced: %d, then %d", pid, again)
	}
}

func TestConfigureReplacesInstanceOfSameID(t *testing.T) {
	h := newHost(t, testOptions(t))
	_, err := configureWatcher(t, h, "watcher.probe.a", map[string]any{"do": "fail"})
	must(t, err)
	w, err := configureWatcher(t, h, "watcher.probe.a", nil)
	must(t, err)
	pid := pidOf(t, w)
	w.s.Restart()
	if again := pidOf(t, w); again == pid {
		t.Error("the process was not replaced")
	}
	if n := len(w.s.specs()); n != 1 {
		t.Errorf("%d instances of one ID", n)
	}
}

func TestReleaseStopsProcessThatNothingNeeds(t *testing.T) {
	h := newHost(t, testOptions(t))
	one, err := configureWatcher(t, h, "watcher.probe.a", nil)
	must(t, err)
	other, err := configureWatcher(t, h, "watcher.probe.b", nil)
	must(t, err)
	pid := pidOf(t, one)
	s := one.s
	s.Release("watcher.probe.a")
	if _, err := one.List(t.Context()); err == nil {
		t.Error("a released instance responds")
	}
	if again := pidOf(t, other); again != pid {
		t.Errorf("the other instance has another process: %d, then %d", pid, again)
	}
	s.Release("watcher.probe.b")
	eventually(t, "stopped", func() bool { return s.Status().State == Stopped && s.Status().PID == 0 })
	again, err := configureWatcher(t, h, "watcher.probe.b", nil)
	must(t, err)
	pidOf(t, again)
}

// TestFollowGrants: a plugin is started again with what it is granted or no more granted
// while it runs, and no other one is.
func TestFollowGrants(t *testing.T) {
	t.Parallel()
	opt := testOptions(t)
	opt.Builtins, opt.Dir = nil, shortDir(t)
	var mu sync.Mutex
	var granted []string
	opt.Grants = func() map[string][]string {
		mu.Lock()
		defer mu.Unlock()
		return map[string][]string{"mine": granted}
	}
	copyPlugin(t, opt.Dir, "mine")
	h := newHost(t, opt)
	changes := follow(t, h)
	s, _ := h.Bundle("mine")
	i, err := configureWatcher(t, h, "watcher.probe.a", nil)
	must(t, err)
	pid := pidOf(t, i)
	for n, grants := range [][]string{{kind.CapCredentials}, nil} {
		mu.Lock()
		granted = grants
		mu.Unlock()
		must(t, os.WriteFile(filepath.Join(opt.Dir, ".installed.json"), []byte{byte('0' + n)}, 0o644))
		await(t, changes)
		if s.Granted(kind.CapCredentials) != (len(grants) > 0) || len(s.Status().Grants) != len(grants) {
			t.Errorf("granted %v: %+v", grants, s.Status())
		}
		now := pidOf(t, i)
		if now == pid {
			t.Errorf("granted %v: the process goes on with the rights it had", grants)
		}
		pid = now
	}
	must(t, os.WriteFile(filepath.Join(opt.Dir, ".installed.json"), []byte("another plugin's"), 0o644))
	select {
	case <-changes:
		t.Error("it is started again though nothing of it changed")
	case <-time.After(4 * followEvery):
	}
}

// TestDevicesAreForBuiltinsOnly: no grant gives the devices of users to a plugin of a third party.
func TestDevicesAreForBuiltinsOnly(t *testing.T) {
	opt := testOptions(t)
	opt.Builtins, opt.Dir = nil, shortDir(t)
	opt.Grants = func() map[string][]string {
		return map[string][]string{"mine": {kind.CapDevices, kind.CapCredentials}}
	}
	copyPlugin(t, opt.Dir, "mine")
	h := newHost(t, opt)
	follow(t, h)
	s, _ := h.Bundle("mine")
	if !s.Granted(kind.CapCredentials) || s.Granted(kind.CapDevices) {
		t.Errorf("credentials %t, devices %t", s.Granted(kind.CapCredentials), s.Granted(kind.CapDevices))
	}
	needs := kind.Type{Kind: kind.Trigger, Name: "webpush", Capabilities: []string{kind.CapDevices}}
	if missing := s.MissingGrants(needs); len(missing) != 1 {
		t.Errorf("missing %v", missing)
	}
}
