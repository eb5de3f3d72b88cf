//go:build unix

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/unprivileged"
)

// TestUnwritableStoreNamesUserOwnerAndCommand: also where it is the lock that cannot be made.
func TestUnwritableStoreNamesUserOwnerAndCommand(t *testing.T) {
	if unprivileged.Rerun(t) {
		return
	}
	folder := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "dogwatch.db")
	who := fmt.Sprintf("dogwatch runs as user %d, group %d, and %s belongs to user %[1]d, group %[2]d", os.Geteuid(),
		os.Getegid(), folder)
	command := fmt.Sprintf("run: chown -R %d:%d %s", os.Geteuid(), os.Getegid(), folder)
	_, locked := Acquire(path)
	_, opened := Open(t.Context(), path, Options{})
	for doing, err := range map[string]error{"lock": locked, "open": opened} {
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), who) ||
			!strings.Contains(err.Error(), command) {
			t.Errorf("%s: %v\nwant %s\nand %s", doing, err, who, command)
		}
	}
	below := filepath.Join(folder, "a", "b", "dogwatch.db")
	_, err := Acquire(below)
	if want := "mkdir -p " + filepath.Dir(below); err == nil || !strings.Contains(err.Error(), want) ||
		!strings.Contains(err.Error(), who) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestUnwritableStoreOfAnother: the file that was made by another user is named.
func TestUnwritableStoreOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	path := filepath.Join(t.TempDir(), "dogwatch.db")
	if err := os.WriteFile(path+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path+".lock", 1234, 5678); err != nil {
		t.Fatal(err)
	}
	advice, _ := remedy(path, fs.ErrPermission)
	want := fmt.Sprintf("dogwatch runs as user 0, group %d, and %s.lock belongs to user 1234, group 5678; "+
		"run: chown -R 0:%[1]d %[3]s", os.Getegid(), path, filepath.Dir(path))
	if advice != want {
		t.Errorf("%s\nwant %s", advice, want)
	}
}
