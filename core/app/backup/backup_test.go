package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// installed is an installation with a container of that name, and plugins with a text each.
func installed(t *testing.T, container string, plugins map[string]string) Installation {
	t.Helper()
	dir := t.TempDir()
	i := Installation{
		Store: filepath.Join(dir, "store", "dogwatch.db"), Plugins: filepath.Join(dir, "plugins"), Version: "1.2.3",
		Now: func() time.Time { return time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC) },
	}
	if container != "" {
		s := i.open(t)
		defer s.Close()
		add := event.Change{Put: []sdk.Container{{ID: "id-" + container, Watcher: "local", Name: container}}}
		must(t, s.Commit(t.Context(), add))
	}
	for name, text := range plugins {
		must(t, os.MkdirAll(i.Plugins, 0o755))
		must(t, os.WriteFile(filepath.Join(i.Plugins, name), []byte(text), 0o600))
		must(t, os.Chmod(filepath.Join(i.Plugins, name), 0o775)) // whatever the umask
	}
	return i
}

func (i Installation) open(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), i.Store, store.Options{})
	must(t, err)
	return s
}

// has compares an installation with what it should be: the container in its store, and its plugins.
func (i Installation) has(t *testing.T, container string, plugins map[string]string) {
	t.Helper()
	s := i.open(t)
	defer s.Close()
	found, err := s.Containers(t.Context())
	must(t, err)
	if container == "" && len(found) != 0 || container != "" && (len(found) != 1 || found[0].Name != container) {
		t.Errorf("%d containers are not %s", len(found), container)
	}
	have := map[string]string{}
	entries, err := os.ReadDir(i.Plugins)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() || e.Name() == ".installed.lock" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(i.Plugins, e.Name()))
		must(t, err)
		info, err := e.Info()
		must(t, err)
		if have[e.Name()] = string(text); info.Mode().Perm() != 0o775 {
			t.Errorf("plugin %s has the mode %s", e.Name(), info.Mode())
		}
	}
	if !maps.Equal(have, plugins) {
		t.Errorf("plugins %v, want %v", have, plugins)
	}
}

func (i Installation) written(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	_, err := i.Write(t.Context(), &out, t.TempDir())
	must(t, err)
	return out.Bytes()
}

func TestRestoreWhatWasBackedUp(t *testing.T) {
	saved := map[string]string{"slack": "v1", ".slack.previous": "v0", ".installed.json": `{"slack":{}}`}
	for name, there := range map[string]Installation{
		"nothing":              installed(t, "", nil),
		"another installation": installed(t, "other", map[string]string{"slack": "v2", "matrix": "v1"}),
		"one without plugins":  installed(t, "other", nil),
	} {
		t.Run(name, func(t *testing.T) {
			from := installed(t, "web", saved)
			running := from.open(t) // a backup is of one that runs
			file := from.written(t)
			running.Close()
			done, err := there.Restore(t.Context(), bytes.NewReader(file))
			must(t, err)
			there.has(t, "web", saved)
			if done.Version != "1.2.3" || !done.At.Equal(from.Now()) || !slices.Equal(done.Plugins, []string{"slack"}) {
				t.Errorf("%+v", done)
			}
			if (done.KeptStore != "") != (name != "nothing") || (done.KeptPlugins != "") != (name == "another installation") {
				t.Errorf("kept %q and %q", done.KeptStore, done.KeptPlugins)
			}
			if done.KeptStore != "" {
				kept := there
				kept.Store, kept.Plugins = done.KeptStore, "missing"
				if done.KeptPlugins != "" {
					kept.Plugins = done.KeptPlugins
					kept.has(t, "other", map[string]string{"slack": "v2", "matrix": "v1"})
				}
			}
		})
	}
}

// TestRestoreRefuses: whatever is wrong with a backup, or where it is to go, nothing changes.
func TestRestoreRefuses(t *testing.T) {
	file := installed(t, "web", map[string]string{"slack": strings.Repeat("v1", 5000)}).written(t)
	flipped := slices.Clone(file)
	flipped[len(flipped)-6]++ // of its checksum
	for name, test := range map[string]struct {
		file []byte
		want error
		text string
	}{
		"another file":     {[]byte("PK and so on"), ErrNoBackup, "gzip"},
		"an empty file":    {nil, ErrNoBackup, "ends too early"},
		"another checksum": {flipped, ErrNoBackup, "checksum"},
		"no store":         {archived(t, tar.Header{Name: contentsName}), ErrNoBackup, "ends too early"},
		"another archive":  {archived(t, tar.Header{Name: "etc/passwd"}), ErrNoBackup, `"etc/passwd"`},
		"a link": {archived(t, tar.Header{Name: contentsName}, tar.Header{Name: storeName},
			tar.Header{Name: "plugins/slack", Typeflag: tar.TypeSymlink, Linkname: "/bin/sh"}), ErrNoBackup, "is no file"},
		"a file elsewhere": {archived(t, tar.Header{Name: contentsName}, tar.Header{Name: storeName},
			tar.Header{Name: "plugins/../../slack"}), ErrNoBackup, "plugins/../../slack"},
		"a format that is newer": {archived(t, tar.Header{Name: contentsName, Size: -99}), nil, "dogwatch 9.0.0, which is newer"},
		"a newer store":          {replaced(t, file, versioned(t)), store.ErrNewer, "version 9999"},
		"a damaged store":        {replaced(t, file, damaged(t)), store.ErrCorrupt, "the store of the backup"},
	} {
		t.Run(name, func(t *testing.T) {
			there := installed(t, "other", map[string]string{"slack": "v2"})
			_, err := there.Restore(t.Context(), bytes.NewReader(test.file))
			if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("restored with %v", err)
			}
			there.unchanged(t)
		})
	}
	t.Run("every length", func(t *testing.T) {
		there := installed(t, "other", map[string]string{"slack": "v2"})
		for n := 0; n < len(file); n += max(1, len(file)/64) {
			if _, err := there.Restore(t.Context(), bytes.NewReader(file[:n])); !errors.Is(err, ErrNoBackup) {
				t.Fatalf("restored %d of %d bytes with %v", n, len(file), err)
			}
		}
		there.unchanged(t)
	})
	t.Run("running", func(t *testing.T) {
		there := installed(t, "other", map[string]string{"slack": "v2"})
		lock, err := store.Acquire(there.Store)
		must(t, err)
		if _, err := there.Restore(t.Context(), bytes.NewReader(file)); !errors.Is(err, store.ErrLocked) {
			t.Errorf("restored with %v", err)
		}
		lock.Release()
		there.unchanged(t)
	})
	t.Run("no folder for plugins", func(t *testing.T) {
		there := installed(t, "other", nil)
		there.Plugins = ""
		if _, err := there.Restore(t.Context(), bytes.NewReader(file)); err == nil ||
			!strings.Contains(err.Error(), "set plugins.dir") {
			t.Errorf("restored with %v", err)
		}
		there.has(t, "other", map[string]string{})
	})
	t.Run("the store cannot be replaced", func(t *testing.T) {
		there := installed(t, "other", map[string]string{"slack": "v2", "matrix": "v1"})
		kept := there.Store + before + there.Now().Format(keptAt)
		must(t, os.MkdirAll(filepath.Join(kept, "in-use"), 0o755))
		if _, err := there.Restore(t.Context(), bytes.NewReader(file)); err == nil {
			t.Error("restored")
		}
		must(t, os.RemoveAll(kept))
		there.has(t, "other", map[string]string{"slack": "v2", "matrix": "v1"})
	})
}

// unchanged asserts that the installation is as it was, and has nothing beside.
func (i Installation) unchanged(t *testing.T) {
	t.Helper()
	i.has(t, "other", map[string]string{"slack": "v2"})
	for _, dir := range []string{filepath.Dir(i.Store), i.Plugins} {
		entries, err := os.ReadDir(dir)
		must(t, err)
		for _, e := range entries {
			if strings.Contains(e.Name(), "restor") {
				t.Errorf("%s is left in %s", e.Name(), dir)
			}
		}
	}
}

func TestBackupOfNothing(t *testing.T) {
	if _, err := installed(t, "", nil).Write(t.Context(), &bytes.Buffer{}, t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("backed up with %v", err)
	}
}

// archived returns a backup with those files; one of a negative size says that its format is newer.
func archived(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	for _, h := range headers {
		var text string
		if h.Name == contentsName {
			text = `{"format": 1}`
		}
		if h.Size < 0 {
			text = `{"format": 2, "version": "9.0.0"}`
		}
		h.Size, h.Mode = int64(len(text)), 0o644
		must(t, archive.WriteHeader(&h))
		_, err := archive.Write([]byte(text))
		must(t, err)
	}
	must(t, errors.Join(archive.Close(), compressed.Close()))
	return out.Bytes()
}

// replaced is a backup with another file for its store.
func replaced(t *testing.T, file []byte, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	read, err := gzip.NewReader(bytes.NewReader(file))
	must(t, err)
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	from, archive := tar.NewReader(read), tar.NewWriter(compressed)
	for {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		content, err := io.ReadAll(from)
		must(t, err)
		if h.Name == storeName {
			content, h.Size = text, int64(len(text))
		}
		must(t, archive.WriteHeader(h))
		_, err = archive.Write(content)
		must(t, err)
	}
	must(t, errors.Join(archive.Close(), compressed.Close()))
	return out.Bytes()
}

// versioned returns a store of a version that no Dogwatch has.
func versioned(t *testing.T) string {
	t.Helper()
	i := installed(t, "web", nil)
	db, err := sql.Open("sqlite", i.Store)
	must(t, err)
	_, err = db.Exec("PRAGMA user_version = 9999; PRAGMA wal_checkpoint(TRUNCATE)")
	must(t, errors.Join(err, db.Close()))
	return i.Store
}

// damaged returns a store with pages that were written over.
func damaged(t *testing.T) string {
	t.Helper()
	i := installed(t, "web", nil)
	text, err := os.ReadFile(i.Store)
	must(t, err)
	for n := 4096; n < len(text); n += 7 {
		text[n] ^= 0xff
	}
	must(t, os.WriteFile(i.Store, text, 0o600))
	return i.Store
}
