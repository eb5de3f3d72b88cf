//go:build unix

package plugin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/internal/program"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// copyPlugin puts this executable into dir under a name, as an operator would.
func copyPlugin(t testing.TB, dir, name string) string {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	path := filepath.Join(dir, name)
	must(t, program.Copy(exe, path))
	return path
}

func thirdParty(t testing.TB) (Options, string) {
	opt := testOptions(t)
	opt.Builtins = nil
	opt.Dir = shortDir(t)
	return opt, copyPlugin(t, opt.Dir, "mine")
}

func TestThirdPartyTrustedOnFirstUseAndRefusedWhenChanged(t *testing.T) {
	opt, path := thirdParty(t)
	h := newHost(t, opt)
	if err := h.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, _ := h.Bundle("mine")
	if st := s.Status(); st.State != Stopped || st.Version != "1.2.3" || len(st.Types) != 4 || st.SHA256 == "" {
		t.Fatalf("after discovery: %+v", st)
	}
	i, err := configureWatcher(t, h, "watcher.probe.a", nil)
	if err != nil {
		t.Fatal(err)
	}
	pidOf(t, i)

	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := os.ReadFile(path)
	fmt.Fprintf(f, "%sswapped", body)
	f.Close()
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	s.Restart()
	eventually(t, "untrusted", func() bool { return s.Status().State == Untrusted })
	if reason := s.Status().Error; !strings.Contains(reason, "changed since it was trusted") ||
		!strings.Contains(reason, "dogwatch plugin trust mine") {
		t.Fatalf("reason is %q", reason)
	}
	if _, err := i.List(t.Context()); !errors.Is(err, sdk.ErrUnavailable) {
		t.Fatalf("a call to an untrusted plugin: %v", err)
	}
	shown := s.Status().SHA256
	if sum, err := Checksum(path); err != nil || hex.EncodeToString(sum) != shown {
		t.Fatalf("shows the checksum %s, the file has %x (%v)", shown, sum, err)
	}
	if err := h.Trust(t.Context(), "mine", shown); err != nil {
		t.Fatal(err)
	}
	eventually(t, "running", func() bool { return s.Status().State == Running })
	pidOf(t, i)
}

// TestTrustAcceptsOnlyTheFileThatWasShown: a file that was swapped since the user
// read its checksum is not trusted, and what is there now is shown.
func TestTrustAcceptsOnlyTheFileThatWasShown(t *testing.T) {
	opt, path := thirdParty(t)
	h := newHost(t, opt)
	must(t, h.Discover(t.Context()))
	s, _ := h.Bundle("mine")
	first := s.Status().SHA256
	body, err := os.ReadFile(path)
	must(t, err)
	swap := func(with string) {
		must(t, os.WriteFile(path+".new", append(slices.Clip(body), with...), 0o755))
		must(t, os.Rename(path+".new", path))
	}
	swap("seen")
	s.Restart()
	eventually(t, "untrusted", func() bool { return s.Status().State == Untrusted && s.Status().SHA256 != first })
	seen := s.Status().SHA256
	swap("not seen")
	for given, want := range map[string]string{
		seen: "it is ", first: "it is ", "": "is required", "xyz": "want a SHA-256", "00ff": "want a SHA-256",
	} {
		err := h.Trust(t.Context(), "mine", given)
		var invalid *sdk.InvalidError
		if err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &invalid) != (len(given) != len(seen)) {
			t.Errorf("trust %q: %v", given, err)
		}
	}
	// One snapshot: each refused checksum makes the supervisor look again.
	var now string
	eventually(t, "the checksum of what is there now, and how to trust it", func() bool {
		st := s.Status()
		now = st.SHA256
		return st.State == Untrusted && now != seen && strings.Contains(st.Error, "dogwatch plugin trust mine "+now)
	})
	must(t, h.Trust(t.Context(), "mine", "sha256:"+strings.ToUpper(now)))
	eventually(t, "accepted", func() bool { return s.Status().State == Stopped })
}

// brokenTrust cannot record a checksum.
type brokenTrust struct{ TrustStore }

func (brokenTrust) Trust(context.Context, string, []byte) error {
	return errors.New("the disk is full")
}

// TestUnrecordedFileDoesNotRun: what cannot be recorded when it is first seen
// could be swapped before the next start unnoticed.
func TestUnrecordedFileDoesNotRun(t *testing.T) {
	opt, _ := thirdParty(t)
	opt.Trust = brokenTrust{opt.Trust}
	h := newHost(t, opt)
	h.after = func(time.Duration) <-chan time.Time { return nil } // no further try
	must(t, h.Discover(t.Context()))
	s, _ := h.Bundle("mine")
	if st := s.Status(); st.State != Backoff || st.PID != 0 || len(st.Types) > 0 ||
		!strings.Contains(st.Error, "record the trusted checksum: the disk is full") {
		t.Errorf("an unrecorded file: %+v", st)
	}
	if err := h.Trust(t.Context(), "mine", s.Status().SHA256); err == nil {
		t.Error("trusting it says nothing of the failure")
	}
}

// TestDiscoverMissingFolder: most installations have none.
func TestDiscoverMissingFolder(t *testing.T) {
	opt, _ := thirdParty(t)
	opt.Dir = filepath.Join(opt.Dir, "none")
	h := newHost(t, opt)
	must(t, h.Discover(t.Context()))
	if n := len(h.Bundles()); n != 0 {
		t.Errorf("%d plugins", n)
	}
	opt.Dir = copyPlugin(t, shortDir(t), "file")
	if err := newHost(t, opt).Discover(t.Context()); err == nil {
		t.Error("a file passes for a folder of plugins")
	}
}

func TestDiscoverRefusesThirdParty(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(t *testing.T, opt *Options, path string)
		state   State
		reason  string
	}{
		"writable by others": {func(t *testing.T, _ *Options, path string) {
			must(t, os.Chmod(path, 0o777))
		}, Untrusted, "can be changed by others"},
		"folder writable by others": {func(t *testing.T, opt *Options, _ string) {
			must(t, os.Chmod(opt.Dir, 0o777))
		}, Untrusted, "can be changed by others"},
		"a link": {func(t *testing.T, _ *Options, path string) {
			must(t, os.Rename(path, path+"x"))
			must(t, os.Chmod(path+"x", 0o644))
			must(t, os.Symlink(path+"x", path))
		}, Untrusted, "not a regular file"},
		"not pinned": {func(_ *testing.T, opt *Options, _ string) {
			opt.Pinned = true
		}, Untrusted, "plugins.checksums.mine"},
		"another checksum": {func(_ *testing.T, opt *Options, _ string) {
			opt.Checksums = map[string]string{"mine": "00ff"}
		}, Untrusted, "is not the one in plugins.checksums.mine"},
		"a type that is taken": {func(_ *testing.T, opt *Options, _ string) {
			opt.Builtins = []Builtin{{Name: "watcher", Args: []string{"serve"}, Types: testBundle().Types()}}
		}, Rejected, "which is built in (watcher)"},
		"no plugin": {func(t *testing.T, _ *Options, path string) {
			must(t, os.WriteFile(path, []byte("#!/bin/sh\nexit 0\n"), 0o755))
		}, Broken, "crashed 5 times in a row and is stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			opt, path := thirdParty(t)
			c.arrange(t, &opt, path)
			h := newHost(t, opt)
			if err := h.Discover(t.Context()); err != nil {
				t.Fatal(err)
			}
			s, found := h.Bundle("mine")
			if !found {
				t.Fatal("not found")
			}
			eventually(t, string(c.state), func() bool { return s.Status().State == c.state })
			if got := s.Status().Error; !strings.Contains(got, c.reason) {
				t.Fatalf("reason is %q, want %q in it", got, c.reason)
			}
		})
	}
}

func TestMissingGrants(t *testing.T) {
	for name, c := range map[string]struct {
		grants map[string][]string
		want   int
	}{"no grant": {nil, 1}, "granted": {map[string][]string{"mine": {"credentials"}}, 0}} {
		t.Run(name, func(t *testing.T) {
			opt, _ := thirdParty(t)
			opt.Grants = func() map[string][]string { return c.grants }
			h := newHost(t, opt)
			must(t, h.Discover(t.Context()))
			s, typ, found := h.Find(kind.Trigger, "act")
			if !found || len(s.MissingGrants(typ)) != c.want {
				t.Fatalf("missing grants: %v (found %v)", s.MissingGrants(typ), found)
			}
		})
	}
}

// A silent plugin whose child holds its output open must not keep the host from stopping.
func TestCloseDoesNotWaitForSilentPlugin(t *testing.T) {
	opt, path := thirdParty(t)
	must(t, os.WriteFile(path, []byte("#!/bin/sh\nsleep 600 &\nsleep 600\n"), 0o755))
	h, err := New(opt)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _ = h.Discover(ctx) }()
	eventually(t, "starting", func() bool { s, found := h.Bundle("mine"); return found && s.Status().State == Starting })
	cancel()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		h.Close()
	}()
	select {
	case <-closed:
	case <-time.After(startTimeout - 2*time.Second):
		t.Fatal("the host waits for a plugin that says nothing")
	}
}
