package store

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestReplaceKeepsLogsApart: a store that was killed has a log beside it, which belongs to it and not to the one that
// takes its place.
func TestReplaceKeepsLogsApart(t *testing.T) {
	add := func(s *Store, name string) {
		must(t, s.Commit(t.Context(), event.Change{Put: []sdk.Container{{ID: name, Watcher: "local", Name: name}}}))
	}
	dir := t.TempDir()
	running, err := Open(t.Context(), filepath.Join(dir, "running.db"), Options{})
	must(t, err)
	add(running, "earlier")
	path, with, kept := filepath.Join(dir, "dogwatch.db"), filepath.Join(dir, "with.db"), filepath.Join(dir, "kept.db")
	for _, side := range []string{"", "-wal"} {
		must(t, copyFile(filepath.Join(dir, "running.db"+side), path+side))
	}
	must(t, running.Close())
	other, err := Open(t.Context(), filepath.Join(dir, "other.db"), Options{})
	must(t, err)
	add(other, "restored")
	reader, err := Read(t.Context(), filepath.Join(dir, "other.db"))
	must(t, err)
	must(t, reader.Backup(t.Context(), with)) // while it is open
	must(t, reader.Close())
	must(t, other.Close())
	if _, err := Verify(t.Context(), with); err != nil {
		t.Fatal(err)
	}
	// Its log cannot be brought into it while somebody reads what was there before that.
	reading, err := connect(path, 1, readOnly(path))
	must(t, err)
	transaction, err := reading.Begin()
	must(t, err)
	_, err = transaction.Exec("SELECT count(*) FROM containers")
	must(t, err)
	must(t, Replace(t.Context(), path, with, kept))
	must(t, errors.Join(transaction.Rollback(), reading.Close()))
	for path, want := range map[string]string{path: "restored", kept: "earlier"} {
		s, err := Open(t.Context(), path, Options{})
		must(t, err)
		found, err := s.Containers(t.Context())
		must(t, err)
		if len(found) != 1 || found[0].Name != want {
			t.Errorf("%s has %+v, want %s", path, found, want)
		}
		must(t, s.Close())
	}
}
