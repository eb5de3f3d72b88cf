//go:build unix

package plugin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk/kind"
)

// TestSignedOwnerKeepsItsType: an unsigned file whose name comes first does not take the
// type of a signed one, over restarts, whatever state that one is in.
func TestSignedOwnerKeepsItsType(t *testing.T) {
	f := newFolder(t)
	f.put(t, "zeta", "x")
	f.sign(t, "zeta")
	h := f.start(t, nil)
	holds(t, h, "zeta")
	f.put(t, "alpha", "x")
	h = f.start(t, h)
	holds(t, h, "zeta", "alpha")
	s, _ := h.Bundle("alpha")
	got := s.Status().Error
	if !strings.Contains(got, "alpha (not signed)") || !strings.Contains(got, "zeta (signed by minisign ") {
		t.Errorf("who is who: %s", got)
	}
	before := f.started(t, "alpha")
	h = f.start(t, h)
	holds(t, h, "zeta", "alpha")
	if n := f.started(t, "alpha"); n != before {
		t.Errorf("a file that is known to be rejected is started %d times more", n-before)
	}
	// Its file is another one: it may not run, and its type is not free.
	f.put(t, "zeta", "x y")
	h = f.start(t, h)
	if _, _, known := h.Find(kind.Trigger, "wire"); known || f.records.owner("trigger.wire") != "zeta" {
		t.Errorf("the type of a file that is not trusted any more is held by %+v", h.Bundles())
	}
}

// TestFirstOwners: where no owners are recorded, as after an upgrade, signed files come
// before those that were trusted, these before new ones, and then the name counts.
func TestFirstOwners(t *testing.T) {
	for name, c := range map[string]struct {
		known, signed []string
		want          string
	}{
		"by name": {nil, nil, "alpha"},
		"trusted": {[]string{"mid"}, nil, "mid"},
		"signed":  {[]string{"mid"}, []string{"zeta"}, "zeta"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			var others []string
			for _, name := range []string{"alpha", "mid", "zeta"} {
				f.put(t, name, "x")
				if name != c.want {
					others = append(others, name)
				}
			}
			for _, name := range c.known {
				sum, err := Checksum(filepath.Join(f.opt.Dir, name))
				must(t, err)
				must(t, f.opt.Trust.Trust(t.Context(), name, sum))
			}
			for _, name := range c.signed {
				f.sign(t, name)
			}
			h := f.start(t, nil)
			holds(t, h, c.want, others...)
			holds(t, f.start(t, h), c.want, others...)
		})
	}
}

// TestSignedOwnerOfAnotherFile: what is said of a file that was installed holds for no other one.
func TestSignedOwnerOfAnotherFile(t *testing.T) {
	f := newFolder(t)
	f.put(t, "zeta", "x")
	f.sign(t, "zeta")
	f.put(t, "zeta", "x y")
	f.put(t, "alpha", "x")
	holds(t, f.start(t, nil), "alpha", "zeta")
}

// TestRejectedIsJudgedAgain: as soon as the file that holds its type is gone, or holds it no more.
func TestRejectedIsJudgedAgain(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]func(t *testing.T, f *folderOf, h *Host){
		"removed": func(t *testing.T, f *folderOf, _ *Host) { must(t, os.Remove(filepath.Join(f.opt.Dir, "alpha"))) },
		"holds another type": func(t *testing.T, f *folderOf, h *Host) {
			f.put(t, "alpha", "serves watcher")
			sum, err := Checksum(filepath.Join(f.opt.Dir, "alpha"))
			must(t, err)
			must(t, h.Trust(t.Context(), "alpha", fmt.Sprintf("%x", sum)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			f.put(t, "alpha", "x")
			f.put(t, "zeta", "x")
			h := newHost(t, f.opt)
			changes := follow(t, h)
			holds(t, h, "alpha", "zeta")
			give(t, f, h)
			await(t, changes)
			eventually(t, "zeta holds the type", func() bool {
				s, _, known := h.Find(kind.Trigger, "wire")
				return known && s.bundle.name == "zeta" && s.Status().State == Stopped
			})
			if got := f.records.owner("trigger.wire"); got != "zeta" {
				t.Errorf("recorded is %q", got)
			}
			f.put(t, "beta", "x") // what comes later comes too late
			h = f.start(t, h)
			holds(t, h, "zeta", "beta")
		})
	}
}

func TestUnrecordedOwnerDoesNotRun(t *testing.T) {
	f := newFolder(t)
	f.put(t, "alpha", "x")
	f.records.broken = errors.New("the disk is full")
	h := newHost(t, f.opt)
	h.after = func(time.Duration) <-chan time.Time { return nil } // no further try
	must(t, h.Discover(t.Context()))
	s, _ := h.Bundle("alpha")
	if st := s.Status(); st.State != Backoff || len(st.Types) > 0 || !strings.Contains(st.Error, "the disk is full") {
		t.Errorf("%+v", st)
	}
}
