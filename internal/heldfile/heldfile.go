// Package heldfile reads and writes a file in a directory that is held open. Exchanging
// the file, its directory or one above it for another, or for a symbolic link, makes a
// call fail with ErrChanged; it never makes it read or write a file elsewhere.
package heldfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// What keeps a file from being used.
var (
	// ErrChanged: another file is there than the one that was opened.
	ErrChanged = errors.New("the file, or a folder above it, was exchanged for another meanwhile")
	// ErrNotRegular: it is a directory, a pipe or the like.
	ErrNotRegular = errors.New("is not a regular file")
	// ErrTooLarge: it is larger than the caller reads.
	ErrTooLarge = errors.New("the file is larger")
)

// Guard returns why a file may not be used, or nil. It gets the absolute path, without
// symbolic links, of the file and of each symbolic link that leads to it.
type Guard func(path string) error

// File is a regular file and its directory, both open. It is for one goroutine.
type File struct {
	dir  *os.Root
	path string
	file *os.File // for reading; it stays open, so that its inode cannot become another file's
	info fs.FileInfo
}

// Open opens a file for reading. Symbolic links are followed once: what is opened is
// compared with the path that they led to. guard may be nil. The errors are those of
// the guard, of package os, ErrChanged and ErrNotRegular. The caller closes the file.
func Open(path string, guard Guard) (*File, error) {
	real, err := resolve(path, guard)
	if err != nil {
		return nil, err
	}
	if real == filepath.Dir(real) {
		return nil, ErrNotRegular
	}
	dir, err := os.OpenRoot(filepath.Dir(real))
	if err != nil {
		return nil, err
	}
	f := &File{dir: dir, path: real}
	if err := f.open(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) open() (err error) {
	if err := f.located(); err != nil {
		return err
	}
	if f.info, err = f.dir.Lstat(f.name()); err != nil {
		return err
	}
	switch mode := f.info.Mode(); {
	case mode&fs.ModeSymlink != 0: // it was none just now
		return ErrChanged
	case !mode.IsRegular():
		return ErrNotRegular
	}
	f.file, err = f.same(os.O_RDONLY)
	return err
}

// same opens the file once more, if it is still the one that was opened.
func (f *File) same(flag int) (*os.File, error) {
	if err := f.named(); err != nil {
		return nil, err
	}
	file, err := f.dir.OpenFile(f.name(), flag|openFlags, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(info, f.info) {
		err = ErrChanged
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Close closes the file and its directory.
func (f *File) Close() error {
	if f.file == nil {
		return f.dir.Close()
	}
	return errors.Join(f.file.Close(), f.dir.Close())
}

// Path is the absolute path of the file, without symbolic links.
func (f *File) Path() string { return f.path }

// Mode is the mode that the file had when it was opened.
func (f *File) Mode() fs.FileMode { return f.info.Mode() }

func (f *File) name() string { return filepath.Base(f.path) }

// Read returns the whole file, or ErrTooLarge if it has more bytes than limit.
func (f *File) Read(limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.NewSectionReader(f.file, 0, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("%w than %d MiB", ErrTooLarge, limit>>20)
	}
	return data, err
}

// Check returns nil while the path leads to the file, otherwise ErrChanged or why that cannot be found out.
func (f *File) Check() error {
	if err := f.located(); err != nil {
		return err
	}
	return f.named()
}

// named checks the name in the directory.
func (f *File) named() error {
	now, err := f.dir.Lstat(f.name())
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, f.info) {
		return ErrChanged
	}
	return err
}

// maxLinks is how many symbolic links are followed, as on Linux (path_resolution(7)).
const maxLinks = 40

// resolve returns a path without symbolic links.
func resolve(path string, guard Guard) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if guard == nil {
		guard = func(string) error { return nil }
	}
	root := filepath.VolumeName(path) + string(filepath.Separator)
	resolved, rest := root, split(strings.TrimPrefix(path, root))
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		next := filepath.Join(resolved, name)
		info, err := os.Lstat(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if resolved = next; len(rest) > 0 && !info.IsDir() {
				return "", &fs.PathError{Op: "open", Path: resolved, Err: syscall.ENOTDIR}
			}
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("too many symbolic links lead on")}
		}
		if err := guard(next); err != nil {
			return "", err
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			resolved = filepath.VolumeName(target) + string(filepath.Separator)
			target = strings.TrimPrefix(target, resolved)
		}
		rest = append(split(target), rest...)
	}
	return resolved, guard(resolved)
}

// split returns the names of a path that begins nowhere; filepath.Join takes ".." for the directory above.
func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}
