//go:build unix

package heldfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep a pipe from blocking where a file was.
const openFlags = syscall.O_NONBLOCK

// located compares the open directory, and each one above it, with what the path names.
// It goes up by "..", which no symbolic link leads astray: whoever exchanges a directory
// meanwhile is found out, however often that is done, since what is above the open
// directory then is not what the path names, or the path names a symbolic link.
func (f *File) located() error {
	d, err := f.dir.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	for up, path := ".", filepath.Dir(f.path); ; up, path = up+"/..", filepath.Dir(path) {
		var open, named unix.Stat_t
		if err := unix.Fstatat(int(d.Fd()), up, &open, 0); err != nil {
			return &fs.PathError{Op: "stat", Path: path, Err: err}
		}
		if err := unix.Lstat(path, &named); errors.Is(err, fs.ErrNotExist) {
			return ErrChanged
		} else if err != nil {
			return &fs.PathError{Op: "lstat", Path: path, Err: err}
		}
		if open.Dev != named.Dev || open.Ino != named.Ino {
			return ErrChanged
		}
		if path == "/" {
			return nil
		}
	}
}

// keepOwner gives a new file the owner of an old one. It fails with fs.ErrPermission
// where only the superuser can.
func keepOwner(f *os.File, old os.FileInfo) error {
	want, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if have, ok := info.Sys().(*syscall.Stat_t); ok && have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}

// single reports whether a file has one name: the others would keep the old content.
func single(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || s.Nlink == 1
}

// isMount reports whether a file could not be replaced since it is a mount of its own.
func isMount(err error) bool {
	return errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) || IsReadonly(err)
}

// IsReadonly reports whether an error says that the file system cannot be written.
func IsReadonly(err error) bool { return errors.Is(err, syscall.EROFS) }
