// Package storetest opens stores for tests.
package storetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/core/store"
)

// empty is the file of a store of the current version that holds nothing.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "store.db")
	s, err := store.Open(context.Background(), path, store.Options{})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Open opens the store at path, which the caller closes. A missing file begins as a copy of an empty store: all
// migrations take several times as long as opening it.
func Open(t testing.TB, path string, opts store.Options) *store.Store {
	t.Helper()
	if _, err := os.Stat(path); os.IsNotExist(err) {
		file, err := empty()
		if err == nil {
			err = os.WriteFile(path, file, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(context.Background(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
