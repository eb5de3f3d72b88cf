package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// embedded returns the migrations in order: the first leads from an empty file to version 1.
func embedded() ([]string, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql") // sorted by name, so by number
	if err != nil {
		return nil, err
	}
	out := make([]string, len(names))
	for i, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out[i] = string(text)
	}
	return out, nil
}

// inspect looks at an existing file without writing to it, and returns its
// version, 0 for an empty one, or an error when it is not one of ours, is
// damaged, or is later than version known.
func inspect(ctx context.Context, path string, known int) (version int, err error) {
	db, err := connect(path, 1, readOnly(path))
	if err != nil {
		return 0, wrap(path, "open", err)
	}
	defer db.Close()
	version, err = identify(ctx, db, path, known)
	if err != nil || version == 0 {
		return version, err
	}
	// The registry cache is left out: it is the bulk of the file and can be fetched again.
	var damaged string
	err = eachRow(ctx, db, func(scan scanner) error {
		var table, verdict string
		err := scan(&table, &verdict)
		if err == nil && verdict != "ok" && damaged == "" {
			damaged = table
		}
		return err
	}, `SELECT schema.name, (SELECT quick_check FROM pragma_quick_check(schema.name) LIMIT 1)
		FROM sqlite_schema AS schema WHERE schema.type = 'table' AND schema.name <> 'registry_cache'`)
	if damaged != "" {
		return 0, fmt.Errorf("store %s: %w: table %s is damaged: %s", path, ErrCorrupt, damaged, restoreAdvice)
	}
	return version, wrap(path, "check the file", err)
}

// migrate brings the file to the version of the last migration, in one transaction: it has all of an upgrade or none.
func (s *Store) migrate(ctx context.Context, migrations []string) error {
	version, err := s.version(ctx)
	if err != nil {
		return s.wrap("read its version", err)
	}
	if version >= len(migrations) {
		return nil
	}
	if version > 0 {
		backup, err := s.backup(ctx, version)
		if err != nil {
			return err
		}
		s.log.Info("upgrading the store", "path", s.path, "from", version, "to", len(migrations), "backup", backup)
	}
	return s.write(ctx, fmt.Sprintf("upgrade to version %d", len(migrations)), func(t tx) error {
		if err := t.row("PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		for i := version; i < len(migrations); i++ { // none when another process has just done it
			if _, err := t.exec(migrations[i]); err != nil {
				return fmt.Errorf("version %d: %w", i+1, err)
			}
		}
		_, err := t.exec(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", applicationID,
			max(version, len(migrations))))
		return err
	}, nil)
}

func (s *Store) version(ctx context.Context) (version int, err error) {
	err = s.writer.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

// savedBefore returns where the copy is that an upgrade from a version saves of the file at path.
func savedBefore(path string, version int) string {
	return path + ".v" + strconv.Itoa(version) + ".bak"
}

// backup saves a copy of the file as it is at version, beside it, and returns its path.
// A copy of the same version from an earlier upgrade is replaced.
func (s *Store) backup(ctx context.Context, version int) (string, error) {
	path := savedBefore(s.path, version)
	doing := "save a backup as " + path + " before upgrading"
	partial := path + ".partial"
	if err := os.Remove(partial); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", s.wrap(doing, err)
	}
	if err := create(partial); err != nil { // for its mode; SQLite accepts an empty file
		return "", s.wrap(doing, err)
	}
	if _, err := s.writer.ExecContext(ctx, "VACUUM INTO ?", partial); err != nil {
		return "", s.wrap(doing, errors.Join(err, os.Remove(partial)))
	}
	if err := os.Rename(partial, path); err != nil {
		return "", s.wrap(doing, err)
	}
	return path, nil
}
