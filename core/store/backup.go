package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Backup writes a consistent copy of the store to a new file (mode 0600), whoever writes to the store meanwhile. What
// has been written of it is removed if that fails.
func (r *Reader) Backup(ctx context.Context, to string) error {
	err := create(to) // for its mode; SQLite accepts an empty file
	if err == nil {
		if _, err = r.store.reader.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
			err = errors.Join(err, os.Remove(to))
		}
	}
	if err != nil {
		return fmt.Errorf("save a copy of the store %s as %s: %w", r.store.path, to, err)
	}
	return nil
}

// Verify reads the whole store at path and returns its version. The error wraps ErrNewer when this Dogwatch cannot use
// it and ErrCorrupt when none can.
func Verify(ctx context.Context, path string) (version int, err error) {
	migrations, err := embedded()
	if err != nil {
		return 0, err
	}
	version, err = inspect(ctx, path, len(migrations))
	if err == nil && version == 0 {
		err = fmt.Errorf("store %s: %w: it is empty", path, ErrCorrupt)
	}
	return version, err
}

// Replace puts the store file with in the place of that at path, of which a copy stays as kept. The caller holds the
// Lock of path. If the process ends on the way, all of the earlier one is at path or kept.
func Replace(ctx context.Context, path, with, kept string) error {
	whose, known := ownerOf(path)
	if !known {
		whose, known = ownerOf(filepath.Dir(path))
	}
	err := keep(ctx, path, kept)
	if err == nil && known && whose != us() {
		err = os.Chown(with, whose.uid, whose.gid)
	}
	if err == nil {
		err = os.Rename(with, path)
	}
	return wrap(path, "replace it", err)
}

// keep copies a store, if there is one, and takes what belongs to it alone out of the way of another one.
func keep(ctx context.Context, path, kept string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// One that cannot be read is kept with its log as it is: perhaps it is why a backup is restored.
	if db, err := connect(path, 1, pragmas("busy_timeout(1000)")); err == nil {
		_, _ = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		_ = db.Close()
	}
	if err := copyFile(path, kept); err != nil {
		return err
	}
	for _, side := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+side, kept+side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
