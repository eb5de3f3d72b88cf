package store

import (
	"context"
	"database/sql"
	"errors"
)

// Checksum returns the SHA-256 under which a plugin is trusted, and whether there is one.
func (s *Store) Checksum(ctx context.Context, name string) (sha256 []byte, trusted bool, err error) {
	err = s.reader.QueryRowContext(ctx, "SELECT sha256 FROM plugins WHERE name = ?", name).Scan(&sha256)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return sha256, err == nil, s.wrap("read the checksum of a plugin", err)
}

// Trust records the SHA-256 under which a plugin is trusted from now on, in place of any other.
func (s *Store) Trust(ctx context.Context, name string, sha256 []byte) error {
	return s.write(ctx, "trust plugin "+name, func(t tx) error {
		_, err := t.exec("INSERT OR REPLACE INTO plugins (name, sha256, trusted_at) VALUES (?, ?, ?)", name,
			blob(sha256), millis(s.now()))
		return err
	}, nil)
}

// TypeOwners calls each for every type that a third-party plugin holds, such as
// "trigger.lamp", with the name of the plugin and the key of its publisher; "" for none.
func (s *Store) TypeOwners(ctx context.Context, each func(typ, bundle, key string)) error {
	const owners = "SELECT type, bundle, key FROM type_owners"
	_, err := queryRows(ctx, s, "read which plugins hold types", owners, nil, func(scan scanner) (none struct{}, err error) {
		var typ, bundle, key string
		if err = scan(&typ, &bundle, &key); err == nil {
			each(typ, bundle, key)
		}
		return none, err
	})
	return err
}

// SetTypeOwner records which plugin holds a type from now on; a bundle of "" that none does.
func (s *Store) SetTypeOwner(ctx context.Context, typ, bundle, key string) error {
	return s.write(ctx, "record which plugin holds "+typ, func(t tx) error {
		if bundle == "" {
			_, err := t.exec("DELETE FROM type_owners WHERE type = ?", typ)
			return err
		}
		_, err := t.exec("INSERT OR REPLACE INTO type_owners (type, bundle, key) VALUES (?, ?, ?)", typ, bundle, key)
		return err
	}, nil)
}

// maxDescriptions bounds how many descriptions are kept: the latest.
const maxDescriptions = 200

// PluginDescription returns what the plugin with a SHA-256 said of itself to a build of
// Dogwatch; nil when that is not known.
func (s *Store) PluginDescription(ctx context.Context, sha256 []byte, build string) (doc []byte, err error) {
	const description = "SELECT doc FROM plugin_descriptions WHERE sha256 = ? AND build = ?"
	err = s.reader.QueryRowContext(ctx, description, sha256, build).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return doc, s.wrap("read the description of a plugin", err)
}

// SavePluginDescription keeps what the plugin with a SHA-256 said of itself to a build of
// Dogwatch, in place of what it said to another.
func (s *Store) SavePluginDescription(ctx context.Context, sha256 []byte, build string, doc []byte) error {
	return s.write(ctx, "keep the description of a plugin", func(t tx) error {
		_, err := t.exec("INSERT OR REPLACE INTO plugin_descriptions (sha256, build, said_at, doc) VALUES (?, ?, ?, ?)",
			blob(sha256), build, millis(s.now()), blob(doc))
		if err == nil {
			_, err = t.exec(`DELETE FROM plugin_descriptions WHERE sha256 NOT IN
				(SELECT sha256 FROM plugin_descriptions ORDER BY said_at DESC LIMIT ?)`, maxDescriptions)
		}
		return err
	}, nil)
}
