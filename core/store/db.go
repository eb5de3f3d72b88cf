package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
)

// applicationID marks the file as ours, in the header field SQLite has for this ("DOGW").
const applicationID = 0x444f4757

// readOnly are the settings of connections that write nothing.
func readOnly(path string) url.Values {
	query := pragmas("busy_timeout(5000)")
	query.Set("mode", "ro")
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		query.Set("immutable", "1") // no process has it open; spares the side files that reading would make
	}
	return query
}

// identify returns the version of an open file, 0 for an empty one, or an error
// when it is not one of ours or is later than version known.
func identify(ctx context.Context, db *sql.DB, path string, known int) (version int, err error) {
	var application, tables int
	err = db.QueryRowContext(ctx, `SELECT
		(SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_schema)`).Scan(&application, &version, &tables)
	switch {
	case err != nil:
		return 0, wrap(path, "open", err)
	case application == 0 && version == 0 && tables == 0:
		return 0, nil // new, or its creation was cut short
	case application != applicationID:
		return 0,
			fmt.Errorf("store %s: %w: it is the database of another program; set store.path to another place", path, ErrCorrupt)
	case version > known:
		return 0,
			fmt.Errorf("store %s: %w: it has version %d and this dogwatch knows up to %d; %s", path, ErrNewer, version, known,
				wayBack(path, known))
	}
	return version, nil
}

// wayBack says what to do about a file that is newer than version known.
func wayBack(path string, known int) string {
	const advice = "run the newer dogwatch again, or "
	saved := savedBefore(path, known)
	if _, err := os.Stat(saved); err != nil {
		return advice + "restore a backup that was made before"
	}
	return advice + "put back the copy that it saved before: " + saved
}

// create makes the folder and an empty file where there is none. SQLite gives
// its side files the mode of the file it finds.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() {
			return errors.New("there is something else of that name that is not a file")
		}
		return err
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func pragmas(p ...string) url.Values { return url.Values{"_pragma": p} }

// connect returns a pool of at most size connections, none of them opened yet.
func connect(path string, size int, query url.Values) (*sql.DB, error) {
	connector, err := sqlite.NewConnector("file:" + (&url.URL{Path: path}).EscapedPath() + "?" + query.Encode())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}
