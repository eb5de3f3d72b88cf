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
		_, err := t.exec("INSERT OR REPLACE INTO plugins (name, sha256, trusted_at) VALUES (?, ?, ?)", name, blob(sha256), millis(s.now()))
		return err
	}, nil)
}
