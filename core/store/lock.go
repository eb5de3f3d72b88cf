package store

import (
	"fmt"
	"os"
	"path/filepath"
)

// Lock keeps other processes from serving from the same store: two of them
// would settle each other's deliveries. It ends with the process, however that ends.
type Lock struct{ file *os.File }

// Acquire takes the lock of the store at path, or returns ErrLocked at once. A
// file system that has no locks grants it to every process.
func Acquire(path string) (*Lock, error) {
	name := path + ".lock"
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, wrap(path, "lock", err)
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, wrap(path, "lock", err)
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("store %s: %w: stop that one, or set store.path to another folder", path, err)
	}
	return &Lock{file: f}, nil
}

// Release gives the lock up. The file stays: removing it would let two others
// lock different files of the same name.
func (l *Lock) Release() { l.file.Close() }
