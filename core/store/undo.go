package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// unfinished finds the operation in the course of which Dogwatch is replaced, if that
// has not ended. It reads nothing that a later version would change without need.
const unfinished = `SELECT id FROM operations WHERE state = 'running' AND EXISTS
	(SELECT 1 FROM operation_steps WHERE operation = operations.id AND json_extract(doc, '$.Code') = '` +
	watcher.StepHandover + `') LIMIT 1`

// undoUpgrade puts back the copy that a newer Dogwatch made before it upgraded the
// file, if that one was to replace this one and did not work: its operation has not
// ended. The newer file is kept beside it. It returns where, or "" if nothing was done.
func undoUpgrade(ctx context.Context, path string, known int) (kept string, err error) {
	backup := savedBefore(path, known)
	before, _, err := readUnfinished(ctx, backup)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil || before == "" {
		return "", err
	}
	now, version, err := readUnfinished(ctx, path)
	if err != nil || now != before {
		return "", err
	}
	kept = path + ".v" + strconv.Itoa(version) + ".undone"
	restored := path + ".restored"
	for _, c := range []struct{ from, to string }{{path, kept}, {backup, restored}} {
		if err := copyFile(c.from, c.to); err != nil {
			return "", fmt.Errorf("store %s: put %s back: %w", path, backup, err)
		}
	}
	if err := os.Rename(restored, path); err != nil {
		return "", fmt.Errorf("store %s: put %s back: %w", path, backup, err)
	}
	return kept, nil
}

// readUnfinished returns the unfinished operation and the version of a file. It leaves
// no side files, so that the file alone can be copied.
func readUnfinished(ctx context.Context, path string) (id string, version int, err error) {
	if _, err := os.Stat(path); err != nil {
		return "", 0, err
	}
	db, err := connect(path, 1, pragmas("busy_timeout(5000)"))
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var tables int
	if err := db.QueryRowContext(ctx,
		"SELECT (SELECT count(*) FROM sqlite_schema WHERE name IN ('operations', 'operation_steps')), user_version FROM pragma_user_version").Scan(&tables, &version); err != nil {
		return "", 0, wrap(path, "read", err)
	}
	if tables != 2 {
		return "", version, nil
	}
	err = found(db.QueryRowContext(ctx, unfinished).Scan(&id), "operation")
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	if err == nil && id != "" {
		_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	return id, version, wrap(path, "read", err)
}

// copyFile copies a file for good; what was at the other place is replaced.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	to = filepath.Clean(to)
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) { // no link is written through
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return errors.Join(err, os.Remove(to)) // there may be no room for it
	}
	return nil
}
