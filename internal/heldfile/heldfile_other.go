//go:build !unix

package heldfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const openFlags = 0

// located compares the open directory with what the path names.
func (f *File) located() error {
	open, err := f.dir.Stat(".")
	if err != nil {
		return err
	}
	named, err := os.Lstat(filepath.Dir(f.path))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(open, named) {
		return ErrChanged
	}
	return err
}

func keepOwner(*os.File, os.FileInfo) error { return nil }

func single(os.FileInfo) bool { return true }

func isMount(error) bool { return false }

// IsReadonly reports whether an error says that the file system cannot be written.
func IsReadonly(error) bool { return false }
