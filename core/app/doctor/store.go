package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dogwatch/dogwatch/core/store"
)

const (
	// littleSpace is warned of, and tooLittle fails: the database of a large fleet
	// grows to some megabytes, and doubles for a moment when it is brought up to date.
	littleSpace = 256 << 20
	tooLittle   = 16 << 20
	// probeSize is what is written to see whether writing works.
	probeSize = 64 << 10
)

// store tells whether the database can be written, and is one of ours. It is
// opened for reading only: another Dogwatch may be using it.
func (e *examination) store(ctx context.Context) []Finding {
	const subject = "store"
	folder, file := e.Config.Store.Path, filepath.Join(e.Config.Store.Path, e.Config.Store.File)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return storeToCome(subject, folder)
	case err != nil:
		return one(subject, Fail, err.Error(), "set store.path to a folder that dogwatch may write")
	case !info.IsDir():
		return one(subject, Fail, folder+" is no folder", "set store.path to a folder")
	}
	if err := probe(folder); err != nil {
		return one(subject, Fail, fmt.Sprintf("%s cannot be written: %v", folder, innermost(err)), storeRemedy(err, folder))
	}
	size := "no database yet"
	if info, err := os.Stat(file); err == nil {
		if err := mayWrite(file); err != nil {
			return one(subject, Fail, fmt.Sprintf("%s cannot be written: %v", file, err), storeRemedy(err, file))
		}
		if err := recognise(ctx, file); err != nil {
			return one(subject, Fail, strings.TrimPrefix(err.Error(), subject+" "), "")
		}
		size = "database of " + bytesOf(uint64(info.Size()))
	}
	left, err := e.Free(folder)
	switch {
	case err != nil: // unknown, which is no harm
		return one(subject, OK, fmt.Sprintf("%s can be written, %s", folder, size), "")
	case left < tooLittle:
		return one(subject, Fail, fmt.Sprintf("%s has only %s left", folder, bytesOf(left)), "free space on its disk")
	case left < littleSpace:
		return one(subject, Warn, fmt.Sprintf("%s has only %s left", folder, bytesOf(left)), "free space on its disk")
	}
	return one(subject, OK, fmt.Sprintf("%s can be written, %s, %s free", folder, size, bytesOf(left)), "")
}

// recognise returns why a database cannot be used.
func recognise(ctx context.Context, file string) error {
	r, err := store.Read(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its creation was cut short
	}
	if err != nil {
		return err
	}
	return r.Close()
}

// storeToCome tells whether a folder that does not exist can be made.
func storeToCome(subject, folder string) []Finding {
	parent := filepath.Dir(folder)
	for parent != filepath.Dir(parent) {
		if _, err := os.Stat(parent); err == nil {
			break
		}
		parent = filepath.Dir(parent)
	}
	if err := mayWrite(parent); err != nil {
		return one(subject, Fail, fmt.Sprintf("%s does not exist and cannot be made in %s: %v", folder, parent, err),
			"set store.path to a folder that dogwatch may write")
	}
	return one(subject, OK, folder+" will be made at the first start", "")
}

// probe writes a small file and removes it.
func probe(folder string) error {
	f, err := os.CreateTemp(folder, ".doctor-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeSize))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
}

func storeRemedy(err error, path string) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("%s: chown -R %d:%d %s", whoWeAre(), os.Getuid(), os.Getgid(), path)
	case errors.Is(err, syscall.ENOSPC):
		return "free space on its disk"
	case errors.Is(err, syscall.EROFS):
		return "mount it so that it can be written (compose: without :ro), or set store.path to another folder"
	}
	return "check its disk, or set store.path to another folder"
}

// innermost is the cause, without the layers that repeat the path.
func innermost(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// bytesOf writes a size for readers.
func bytesOf(n uint64) string {
	value, unit := float64(n), ""
	for _, next := range []string{"kB", "MB", "GB", "TB"} {
		if value < 1000 {
			break
		}
		value, unit = value/1000, next
	}
	if unit == "" {
		return fmt.Sprintf("%d bytes", n)
	}
	if value >= 100 {
		return fmt.Sprintf("%.0f %s", value, unit)
	}
	return fmt.Sprintf("%.3g %s", value, unit)
}
