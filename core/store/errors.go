package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The errors that callers distinguish with errors.Is.
var (
	// ErrNotFound: there is no such row.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the row is not in a state that allows this.
	ErrConflict = errors.New("conflict")
	// ErrNewer: the file was written by a later version of Dogwatch. It was not changed.
	ErrNewer = errors.New("written by a newer version of dogwatch")
	// ErrOlder: the file was written by an earlier version of Dogwatch, and not to be brought up to date.
	ErrOlder = errors.New("written by an older version of dogwatch")
	// ErrCorrupt: the file is not a store, or is damaged.
	ErrCorrupt = errors.New("not a usable dogwatch store")
	// ErrFull: there was no room left on the disk. Nothing of that write was stored,
	// reading goes on, and writes work again once there is room.
	ErrFull = errors.New("disk full")
)

const restoreAdvice = "stop dogwatch and restore the file from a backup, or move it away to start afresh"

// remedy says what helps against err and, as one of the errors above, what kind
// of trouble it is; "" and nil when only err itself can say.
func remedy(path string, err error) (advice string, kind error) {
	if errors.Is(err, fs.ErrPermission) {
		return access(path), nil
	}
	if errors.Is(err, syscall.EROFS) {
		return "mount its folder so that it can be written (compose: without :ro), or set store.path to another folder",
			nil
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return "", nil
	}
	switch e.Code() & 0xff { // the extended code keeps the primary one in its low byte
	case sqlite3.SQLITE_FULL:
		return "free space on the disk that holds the store", ErrFull
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return restoreAdvice, ErrCorrupt
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return access(path), nil
	case sqlite3.SQLITE_IOERR:
		return "check the disk that holds the store, and that it has space left", nil
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "another process holds the file for too long; run one dogwatch per store", nil
	}
	return "", nil
}

// access says who runs dogwatch, whose the store at path is, and which command mends it. Of what
// keeps it from being written it takes the nearest that is there: the file, its lock, its folder
// or the one in which that is to be made.
func access(path string) string {
	folder := filepath.Dir(path)
	place := folder
	for _, file := range []string{path, path + ".lock"} {
		if owned, ok := ownerOf(file); ok && owned != us() {
			place = file
			break
		}
	}
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		for place != filepath.Dir(place) && errors.Is(err, fs.ErrNotExist) {
			place = filepath.Dir(place)
			_, err = os.Stat(place)
		}
		return fmt.Sprintf("%s; make the folder and give it away: mkdir -p %s && chown %s %[2]s, or set store.path "+
			"to another folder", whose(place), folder, us())
	}
	return fmt.Sprintf("%s; run: chown -R %s %s", whose(place), us(), folder)
}

// whose says who runs dogwatch and whose a file is.
func whose(path string) string {
	text := "dogwatch runs as user " + us().words()
	if owned, known := ownerOf(path); known {
		text += fmt.Sprintf(", and %s belongs to user %s", path, owned.words())
	}
	return text
}

func wrap(path, doing string, err error) error {
	if err == nil {
		return nil
	}
	switch advice, kind := remedy(path, err); {
	case kind != nil:
		return fmt.Errorf("store %s: %s: %w: %s: %w", path, doing, kind, advice, err)
	case advice != "":
		return fmt.Errorf("store %s: %s: %w (%s)", path, doing, err, advice)
	}
	return fmt.Errorf("store %s: %s: %w", path, doing, err)
}

// ErrLocked: another process has the store.
var ErrLocked = errors.New("in use by another dogwatch")
