package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/words"
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
		size = "database of " + sizeOf(info.Size())
	}
	free, err := e.Free(folder)
	left := sizeOf(int64(min(free, math.MaxInt64)))
	switch {
	case err != nil: // unknown, which is no harm
		return one(subject, OK, fmt.Sprintf("%s can be written, %s", folder, size), "")
	case free < tooLittle:
		return one(subject, Fail, fmt.Sprintf("%s has only %s left", folder, left), "free space on its disk")
	case free < littleSpace:
		return one(subject, Warn, fmt.Sprintf("%s has only %s left", folder, left), "free space on its disk")
	}
	return one(subject, OK, fmt.Sprintf("%s can be written, %s, %s free", folder, size, left), "")
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
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

func sizeOf(bytes int64) string { return cmp.Or(phrase.English(words.Bytes(bytes)), "0 bytes") }
