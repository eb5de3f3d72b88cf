package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

func reader(t *testing.T, path string) *Reader {
	t.Helper()
	r, err := Read(t.Context(), path)
	must(t, err)
	t.Cleanup(func() { _ = r.Close() }) // often closed by the test already
	return r
}

// unchanged runs look, after which a folder must have the same files with the
// same bytes, but for the locks that SQLite keeps beside a file that is in use.
func unchanged(t *testing.T, dir string, look func()) {
	t.Helper()
	before := contents(t, dir)
	look()
	after := contents(t, dir)
	for _, all := range []map[string][]byte{before, after} {
		delete(all, "store.db-shm")
	}
	if !maps.EqualFunc(before, after, bytes.Equal) {
		t.Errorf("there were %v, and now there are %v, or with other bytes", slices.Sorted(maps.Keys(before)),
			slices.Sorted(maps.Keys(after)))
	}
}

// TestReadOnlyBesideAWriter: a reader sees what was committed last, neither waits
// for the one who has the store nor holds it up, and changes nothing.
func TestReadOnlyBesideAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	lock, err := Acquire(path)
	must(t, err)
	defer lock.Release()
	s := open(t, path)
	ctx := t.Context()
	must(t, s.Trust(ctx, "file", []byte{1, 2, 3}))
	must(t, s.Commit(ctx, event.Change{
		Put: []sdk.Container{container("local", "web", "1"), container("local", "db", "2")},
	}))
	made, err := s.AddToken(ctx, Token{Name: "home", Hash: []byte{9}, Scope: "read", Created: start})
	must(t, err)
	unchanged(t, filepath.Dir(path), func() {
		r := reader(t, path)
		if sum, trusted, err := r.Checksum(ctx, "file"); err != nil || !bytes.Equal(sum, []byte{1, 2, 3}) || !trusted {
			t.Errorf("%x, %v, %v", sum, trusted, err)
		}
		if _, trusted, err := r.Checksum(ctx, "other"); trusted || err != nil {
			t.Errorf("of another: %v, %v", trusted, err)
		}
		if all, err := r.Tokens(ctx); err != nil || len(all) != 1 || all[0].ID != made.ID {
			t.Errorf("%+v, %v", all, err)
		}
		var names []string
		all, err := r.Containers(ctx)
		for _, c := range all {
			names = append(names, c.Watcher+"/"+c.Name+"="+c.ID)
		}
		if want := []string{"local/db=2", "local/web=1"}; err != nil || !slices.Equal(names, want) {
			t.Errorf("%v, %v", names, err)
		}
		must(t, r.Close())
	})
	r := reader(t, path)
	must(t, s.Commit(ctx, event.Change{Remove: []string{"1"}}))
	if all, err := r.Containers(ctx); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := r.store.reader.Exec("DELETE FROM containers"); err == nil {
		t.Error("a reader can write")
	}
}

// TestReadOnlyChangesNothing: files that no process has open, of every version ever released.
func TestReadOnlyChangesNothing(t *testing.T) {
	released, err := embedded()
	must(t, err)
	for version := 1; version <= len(released); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			saved, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("v%d.db", version)))
			must(t, err)
			path := filepath.Join(t.TempDir(), "store.db")
			must(t, os.WriteFile(path, saved, 0o600))
			unchanged(t, filepath.Dir(path), func() {
				r := reader(t, path)
				if sum, _, err := r.Checksum(t.Context(), "file"); err != nil || !bytes.Equal(sum, []byte{1, 2, 3}) {
					t.Errorf("%x, %v", sum, err)
				}
				if all, err := r.Containers(t.Context()); err != nil || len(all) != 2 {
					t.Errorf("%+v, %v", all, err)
				}
				_, err := r.Tokens(t.Context())
				if version < 3 != errors.Is(err, ErrOlder) {
					t.Errorf("tokens of version %d: %v", version, err)
				}
				if err != nil && !strings.Contains(err.Error(), "dogwatch serve brings it up to date") {
					t.Error(err)
				}
				must(t, r.Close())
				if version < len(released) {
					if s, err := Open(t.Context(), path, Options{AsIs: true}); !errors.Is(err, ErrOlder) {
						t.Errorf("opened as it is: %v, %v", s, err)
					}
				}
			})
		})
	}
}

// TestReadOnlyAfterACrash: what is only in the log of a process that was killed is
// there, and the log stays for the next one to fold in.
func TestReadOnlyAfterACrash(t *testing.T) {
	live := filepath.Join(t.TempDir(), "store.db")
	s := open(t, live)
	must(t, s.Commit(t.Context(), put(container("local", "web", "1"))))
	path := filepath.Join(t.TempDir(), "store.db")
	for _, suffix := range []string{"", "-wal"} { // as the process leaves them
		saved, err := os.ReadFile(live + suffix)
		must(t, err)
		must(t, os.WriteFile(path+suffix, saved, 0o600))
	}
	unchanged(t, filepath.Dir(path), func() {
		r := reader(t, path)
		if all, err := r.Containers(t.Context()); err != nil || len(all) != 1 {
			t.Errorf("%+v, %v", all, err)
		}
		must(t, r.Close())
	})
	if got := ids(open(t, path)); !slices.Equal(got, []string{"local/web=1"}) {
		t.Errorf("the next start finds %v", got)
	}
}

func TestReadOnlyRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, make func(path string)) string {
		path := filepath.Join(dir, name)
		make(path)
		return path
	}
	exec := func(path string, statements ...string) {
		db, err := connect(path, 1, nil)
		must(t, err)
		defer db.Close()
		for _, statement := range statements {
			_, err := db.Exec(statement)
			must(t, err)
		}
	}
	for path, want := range map[string]error{
		filepath.Join(dir,
			"none.db"): fs.ErrNotExist,
		filepath.Join(dir, "nowhere",
			"no.db"): fs.ErrNotExist,
		file("empty.db", func(p string) {
			must(t, os.WriteFile(p, nil, 0o600))
		}): fs.ErrNotExist,
		file("text.db", func(p string) { must(t, os.WriteFile(p, bytes.Repeat([]byte("{}\n"), 500), 0o600)) }): ErrCorrupt,
		file("songs.db", func(p string) { exec(p, "CREATE TABLE songs (title)") }):                             ErrCorrupt,
		file("newer.db", func(p string) { must(t, open(t, p).Close()); exec(p, "PRAGMA user_version = 99") }):  ErrNewer,
	} {
		unchanged(t, dir, func() {
			r, err := Read(t.Context(), path)
			if err == nil {
				must(t, r.Close())
			}
			if !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v, want %v", filepath.Base(path), err, want)
			}
		})
	}
}
