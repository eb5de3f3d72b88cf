package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// Reader reads a store file and changes nothing: it takes no lock, brings no
// older file up to date and makes none where there is none. It works beside a
// process that has the store open, and reads what that one has committed. Its
// methods may be called concurrently.
type Reader struct {
	store   *Store // of which there is only the part that reads
	version int
}

// Read opens the store at path for reading. The error wraps fs.ErrNotExist when
// there is no store, and ErrNewer or ErrCorrupt when it cannot be understood. A
// file of an earlier version is read as far as it goes, see ErrOlder.
func Read(ctx context.Context, path string) (*Reader, error) {
	migrations, err := embedded()
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("store %s: read it: %w", path, err)
	}
	db, err := connect(path, 1, readOnly(path))
	if err != nil {
		return nil, wrap(path, "open", err)
	}
	r := &Reader{store: &Store{path: path, reader: db}}
	if r.version, err = identify(ctx, db, path, len(migrations)); err == nil && r.version == 0 {
		err = fmt.Errorf("store %s: read it: its creation was cut short: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return r, nil
}

// Close closes the file. No other method may be running or be called afterwards.
func (r *Reader) Close() error { return r.store.wrap("close", r.store.reader.Close()) }

// since returns an error that wraps ErrOlder when the file is of a version before that.
func (r *Reader) since(version int, what string) error {
	if r.version >= version {
		return nil
	}
	return fmt.Errorf("store %s: read %s: %w: it has version %d, which has none; dogwatch serve brings it up to date",
		r.store.path, what, ErrOlder, r.version)
}

// Checksum returns the SHA-256 under which a plugin is trusted, and whether there is one.
func (r *Reader) Checksum(ctx context.Context, name string) (sha256 []byte, trusted bool, err error) {
	return r.store.Checksum(ctx, name)
}

// pluginTypes is the version from which on a store knows types and descriptions of plugins.
const pluginTypes = 16

// TypeOwners is as Store.TypeOwners; a file of an earlier version knows none.
func (r *Reader) TypeOwners(ctx context.Context, each func(typ, bundle, key string)) error {
	if r.version < pluginTypes {
		return nil
	}
	return r.store.TypeOwners(ctx, each)
}

// PluginDescription is as Store.PluginDescription; a file of an earlier version has none.
func (r *Reader) PluginDescription(ctx context.Context, sha256 []byte, build string) ([]byte, error) {
	if r.version < pluginTypes {
		return nil, nil
	}
	return r.store.PluginDescription(ctx, sha256, build)
}

// Tokens returns all tokens, expired ones too, the newest first.
func (r *Reader) Tokens(ctx context.Context) ([]Token, error) {
	const version = 3
	if err := r.since(version, "tokens"); err != nil {
		return nil, err
	}
	return r.store.Tokens(ctx)
}

// Containers returns the containers by watcher and name, as the API shows them.
// Those that this version cannot read are left out.
func (r *Reader) Containers(ctx context.Context) ([]sdk.Container, error) {
	documents, err := queryRows(ctx, r.store, "read containers", "SELECT doc FROM containers ORDER BY watcher, name", nil,
		func(scan scanner) (doc []byte, err error) {
			err = scan(&doc)
			return doc, err
		})
	all := make([]sdk.Container, 0, len(documents))
	for _, doc := range documents {
		var c sdk.Container
		if json.Unmarshal(doc, &c) == nil {
			all = append(all, c)
		}
	}
	return all, err
}

// Operations is as Store.Operations; a file of an earlier version has none.
func (r *Reader) Operations(ctx context.Context, f operation.Filter) ([]operation.Operation, error) {
	const version = 8
	if r.version < version {
		return nil, nil
	}
	return r.store.Operations(ctx, f)
}
