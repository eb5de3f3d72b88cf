package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/dogwatch/dogwatch/core/app/migrate"
	"github.com/dogwatch/dogwatch/internal/heldfile"
)

// TestMigrateWritesWhatItRead exchanges the folder for a link to another one between the reading and the writing.
func TestMigrateWritesWhatItRead(t *testing.T) {
	for _, added := range []bool{false, true} {
		dir := t.TempDir()
		for _, name := range []string{"stack", "foreign"} {
			err := os.Mkdir(filepath.Join(dir, name), 0o755)
			err2 := os.WriteFile(filepath.Join(dir, name, ".env"), []byte("WUD_LOG_LEVEL=debug\n"), 0o600)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
		}
		name := filepath.Join(dir, "stack", ".env")
		f, err := heldfile.Open(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		data, err := f.Read(maxMigrated)
		if err != nil {
			t.Fatal(err)
		}
		result := migrate.Result{Name: name, Text: []byte("DOGWATCH_LOG_LEVEL=debug\n"), New: added}
		m := &migrated{name: name, file: f, data: data, result: result}
		err = os.Rename(filepath.Join(dir, "stack"), filepath.Join(dir, "aside"))
		if err := errors.Join(err, os.Symlink("foreign", filepath.Join(dir, "stack"))); err != nil {
			t.Fatal(err)
		}
		if err := (&global{stdout: io.Discard}).writeMigrated(m); !errors.Is(err, heldfile.ErrChanged) {
			t.Errorf("added %t: %v", added, err)
		}
		for _, folder := range []string{"foreign", "aside"} {
			found, err := os.ReadDir(filepath.Join(dir, folder))
			text, err2 := os.ReadFile(filepath.Join(dir, folder, ".env"))
			if err := errors.Join(err, err2); err != nil || len(found) != 1 || string(text) != string(data) {
				t.Errorf("%s has %v, %q, %v", folder, found, text, err)
			}
		}
	}
}
