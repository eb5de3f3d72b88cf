package core

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/testrun"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestMemory(t *testing.T) {
	m := newMemory()
	var wait sync.WaitGroup
	for _, id := range []string{"c", "a", "b"} {
		wait.Go(func() {
			change := event.Change{Put: []sdk.Container{{ID: id, Watcher: "w", Name: "n-" + id}, {ID: "gone-" + id}}, Remove: []string{}}
			if err := m.Commit(t.Context(), change); err != nil {
				t.Error(err)
			}
			if err := m.Commit(t.Context(), event.Change{Remove: []string{"gone-" + id, "unknown"}}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	found, err := m.Containers(t.Context())
	if err != nil || len(found) != 3 || found[0].ID != "a" || found[2].ID != "c" {
		t.Errorf("%+v %v", found, err)
	}
}

// TestRecordedTrust: a command honours what the installation trusts, and leaves no trace of its own.
func TestRecordedTrust(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dogwatch.db")
	trust := recordedTrust{path}
	if _, known, err := trust.Checksum(t.Context(), "file"); known || err != nil {
		t.Errorf("without a database: %v %v", known, err)
	}
	if err := trust.Trust(t.Context(), "file", []byte("sum")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("it made a database: ", err)
	}
	s, err := store.Open(context.Background(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Trust(t.Context(), "file", bytes.Repeat([]byte{7}, 32)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sum, known, err := trust.Checksum(t.Context(), "file")
	if err != nil || !known || !bytes.Equal(sum, bytes.Repeat([]byte{7}, 32)) {
		t.Errorf("%x %v %v", sum, known, err)
	}
	if _, known, err := trust.Checksum(t.Context(), "other"); known || err != nil {
		t.Errorf("of another: %v %v", known, err)
	}
}

// TestSample: both containers of the sample differ in what identifies them.
func TestSample(t *testing.T) {
	sample := testrun.Sample()
	if len(sample) != 2 || sample[0].ID == sample[1].ID || sample[0].Name == sample[1].Name {
		t.Errorf("%+v", sample)
	}
	for _, c := range sample {
		if !c.UpdateAvailable || c.Result == nil || c.Result.Tag != c.UpdateKind.RemoteValue || len(c.ID) != 64 {
			t.Errorf("%+v", c)
		}
	}
}
