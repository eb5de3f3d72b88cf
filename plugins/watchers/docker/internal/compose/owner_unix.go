//go:build unix

package compose

import (
	"errors"
	"os"
	"syscall"
)

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
func single(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || s.Nlink == 1
}

// isMount reports whether a file could not be replaced since it is a mount of its own.
func isMount(err error) bool {
	return errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) || isReadonly(err)
}

func isReadonly(err error) bool { return errors.Is(err, syscall.EROFS) }
