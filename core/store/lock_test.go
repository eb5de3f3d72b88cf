//go:build unix

package store

import (
	"errors"
	"path/filepath"
	"testing"
)

func TestLockIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "dogwatch.db")
	first, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(path); !errors.Is(err, ErrLocked) {
		t.Fatalf("a second lock: %v, want ErrLocked", err)
	}
	first.Release()
	again, err := Acquire(path)
	if err != nil {
		t.Fatalf("after it was released: %v", err)
	}
	again.Release()
}
