//go:build unix

package plugin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/wireplugin"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// memoryRecords are Records for tests.
type memoryRecords struct {
	mu     sync.Mutex
	owners map[string][2]string
	docs   map[string][]byte
	broken error // of every write
}

func newMemoryRecords() *memoryRecords {
	return &memoryRecords{owners: map[string][2]string{}, docs: map[string][]byte{}}
}

func (m *memoryRecords) TypeOwners(_ context.Context, each func(typ, bundle, key string)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for typ, o := range m.owners {
		each(typ, o[0], o[1])
	}
	return nil
}

func (m *memoryRecords) SetTypeOwner(_ context.Context, typ, bundle, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owners[typ] = [2]string{bundle, key}
	if bundle == "" {
		delete(m.owners, typ)
	}
	return m.broken
}

func (m *memoryRecords) PluginDescription(_ context.Context, sum []byte, build string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.docs[fmt.Sprintf("%x %s", sum, build)], nil
}

func (m *memoryRecords) SavePluginDescription(_ context.Context, sum []byte, build string, doc []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.docs[fmt.Sprintf("%x %s", sum, build)] = doc
	return m.broken
}

func (m *memoryRecords) owner(typ string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owners[typ][0]
}

// folderOf is a folder of plugins that hosts with the same store look after, one after the other.
type folderOf struct {
	opt      Options
	records  *memoryRecords
	signed   map[string]Installed
	launches string // a file with a line for each start of a counted plugin
}

func newFolder(t *testing.T) *folderOf {
	f := &folderOf{opt: testOptions(t), records: newMemoryRecords(), signed: map[string]Installed{}}
	f.opt.Builtins, f.opt.Dir, f.opt.Records, f.opt.Isolation.Off = nil, shortDir(t), f.records, true
	f.opt.Installed = func() map[string]Installed { return maps.Clone(f.signed) }
	f.launches = filepath.Join(t.TempDir(), "launches")
	return f
}

// put puts a plugin with the type trigger.wire into the folder, whose starts are counted.
func (f *folderOf) put(t *testing.T, name, how string) {
	t.Helper()
	path := wireplugin.Write(t, f.opt.Dir, name, how)
	text, err := os.ReadFile(path)
	must(t, err)
	counted := strings.Replace(string(text), "\n", fmt.Sprintf("\necho %s >> '%s'\n", name, f.launches), 1)
	must(t, os.WriteFile(path, []byte(counted), 0o755))
}

// hang puts a file into the folder that never shakes hands.
func (f *folderOf) hang(t *testing.T, name string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(f.opt.Dir, name), []byte("#!/bin/sh\nexec sleep 600\n"), 0o755))
}

// sign has a file count as installed with a signature.
func (f *folderOf) sign(t *testing.T, name string) {
	t.Helper()
	sum, err := Checksum(filepath.Join(f.opt.Dir, name))
	must(t, err)
	const key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
	f.signed[name] = Installed{SHA256: fmt.Sprintf("%x", sum), Key: key, Types: []string{"trigger.wire"}}
}

// started counts the starts of a plugin.
func (f *folderOf) started(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile(f.launches)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if line == name+"\n" {
			n++
		}
	}
	return n
}

// start is the next start of Dogwatch; the one before has ended when it returns.
func (f *folderOf) start(t *testing.T, before *Host) *Host {
	t.Helper()
	if before != nil {
		before.Close()
	}
	h := newHost(t, f.opt)
	must(t, h.Discover(t.Context()))
	return h
}

// holds fails unless trigger.wire is held by a bundle, and others are rejected with both named.
func holds(t *testing.T, h *Host, name string, others ...string) {
	t.Helper()
	s, _, known := h.Find(kind.Trigger, "wire")
	if !known || s.bundle.name != name {
		t.Fatalf("trigger.wire is not held by %s: %+v", name, h.Bundles())
	}
	for _, other := range others {
		s, _ := h.Bundle(other)
		st := s.Status()
		if st.State != Rejected || !strings.Contains(st.Error, "plugin "+other) ||
			!strings.Contains(st.Error, "is held by "+name) {
			t.Errorf("%s: %+v", other, st)
		}
	}
}

// TestKnownFileIsNotStartedToDescribeIt: each start of Dogwatch starts a plugin once, for
// its components, and not at all without any.
func TestKnownFileIsNotStartedToDescribeIt(t *testing.T) {
	f := newFolder(t)
	f.put(t, "alpha", "x")
	h := f.start(t, nil)
	_, first, _ := h.Find(kind.Trigger, "wire")
	if n := f.started(t, "alpha"); n != 1 {
		t.Fatalf("it was started %d times at first sight", n)
	}
	h = f.start(t, h)
	_, again, _ := h.Find(kind.Trigger, "wire")
	if n := f.started(t, "alpha"); n != 1 {
		t.Errorf("it was started %d times more to describe it", n-1)
	}
	if fmt.Sprint(first.Options) == "" || len(first.Options) != len(again.Options) || first.Summary != again.Summary {
		t.Errorf("it says %+v, and is remembered as %+v", first, again)
	}
	w := &wired{h: h}
	must(t, w.set(t, nil))
	if n := f.started(t, "alpha"); n != 2 {
		t.Errorf("it was started %d times for its component", n-1)
	}
}

// TestDescriptionIsOfTheFileAndTheProgram: another file, and another version of Dogwatch,
// are asked anew, and so is a file of which something is remembered that cannot be read.
func TestDescriptionIsOfTheFileAndTheProgram(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, f *folderOf){
		"another version": func(_ *testing.T, f *folderOf) { f.opt.Version = "2.0.0" },
		"another name": func(t *testing.T, f *folderOf) {
			must(t, os.Rename(filepath.Join(f.opt.Dir, "alpha"), filepath.Join(f.opt.Dir, "beta")))
		},
		"damaged": func(_ *testing.T, f *folderOf) {
			for key := range f.records.docs {
				f.records.docs[key] = []byte("{")
			}
		},
		"another file": func(t *testing.T, f *folderOf) {
			f.put(t, "alpha", "x y")
			sum, err := Checksum(filepath.Join(f.opt.Dir, "alpha"))
			must(t, err)
			must(t, f.opt.Trust.Trust(t.Context(), "alpha", sum))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			f.put(t, "alpha", "x")
			h := f.start(t, nil)
			change(t, f)
			h = f.start(t, h)
			if n := f.started(t, "alpha"); n != 2 {
				t.Errorf("it was started %d times", n)
			}
			if _, _, known := h.Find(kind.Trigger, "wire"); !known {
				t.Errorf("%+v", h.Bundles())
			}
		})
	}
	t.Run("not trusted", func(t *testing.T) { // what is remembered lets no file in
		f := newFolder(t)
		f.put(t, "alpha", "x")
		h := f.start(t, nil)
		f.opt.Pinned = true
		h = f.start(t, h)
		if s, _ := h.Bundle("alpha"); s.Status().State != Untrusted || len(s.Status().Types) > 0 {
			t.Errorf("%+v", s.Status())
		}
	})
}

// TestFileThatPassesForTheOneReadDoesNotRun: its content is compared when it is launched,
// although its size, its time and its place are those of the file that was trusted.
func TestFileThatPassesForTheOneReadDoesNotRun(t *testing.T) {
	f := newFolder(t)
	f.put(t, "alpha", "x")
	h := f.start(t, nil)
	path := filepath.Join(f.opt.Dir, "alpha")
	before, err := os.Stat(path)
	must(t, err)
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, []byte(strings.Replace(string(text), "'x'", "'y'", 1)), 0o755)) // in place
	must(t, os.Chtimes(path, before.ModTime(), before.ModTime()))
	s, _, _ := h.Find(kind.Trigger, "wire")
	spec := pluginclient.Instance{ID: "trigger.wire.main", Kind: kind.Trigger, Type: "wire"}
	s.Configure(spec, func(_ pluginclient.Configured, err error) {
		if err == nil {
			t.Error("it is configured")
		}
	})
	eventually(t, "untrusted", func() bool { return s.Status().State == Untrusted })
	sum, err := Checksum(path)
	must(t, err)
	if n := f.started(t, "alpha"); n != 1 || s.Status().SHA256 != fmt.Sprintf("%x", sum) {
		t.Errorf("it was started %d times more, and shows the checksum %s; it is %x", n-1, s.Status().SHA256, sum)
	}
}

// TestHangingFileHoldsUpNoOther: files that are new, and whose types no file holds, settle
// while one before them in the alphabet says nothing.
func TestHangingFileHoldsUpNoOther(t *testing.T) {
	f := newFolder(t)
	f.hang(t, "aaa")
	f.put(t, "zeta", "x")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := newHost(t, f.opt)
	h.turn = turnTime
	described, done := make(chan State, 1), make(chan error, 1)
	go func() {
		done <- h.DiscoverEach(ctx, func() {
			if _, _, known := h.Find(kind.Trigger, "wire"); known {
				s, _ := h.Bundle("aaa")
				described <- s.Status().State
			}
		})
	}()
	select {
	case other := <-described:
		if other != Starting {
			t.Errorf("zeta was described when aaa was %s", other)
		}
	case err := <-done:
		t.Fatalf("discovered all before zeta was known: %v", err)
	}
	must(t, (&wired{h: h}).set(t, nil)) // its component is configured
	if s, _ := h.Bundle("aaa"); s.Status().State != Starting {
		t.Errorf("aaa is %s", s.Status().State)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestFollowDoesNotWaitForAHangingFile: of two that come together one hangs.
func TestFollowDoesNotWaitForAHangingFile(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	h := newHost(t, f.opt)
	h.turn = turnTime
	changes := follow(t, h)
	f.hang(t, "aaa")
	f.put(t, "zeta", "x")
	await(t, changes)
	if _, _, known := h.Find(kind.Trigger, "wire"); !known {
		t.Fatalf("%+v", h.Bundles())
	}
	if s, _ := h.Bundle("aaa"); s.Status().State != Starting {
		t.Errorf("aaa is %s", s.Status().State)
	}
	f.put(t, "beta", "x") // is noticed, too
	eventually(t, "another file is judged", func() bool {
		s, there := h.Bundle("beta")
		return there && s.Status().State == Rejected
	})
}
