package store

import (
	"context"
	"time"
)

// Checksum returns the SHA-256 under which a plugin is trusted and since when, or ErrNotFound.
func (s *Store) Checksum(ctx context.Context, name string) (sha256 []byte, since time.Time, err error) {
	var at int64
	err = s.reader.QueryRowContext(ctx, "SELECT sha256, trusted_at FROM plugins WHERE name = ?", name).Scan(&sha256, &at)
	return sha256, instant(at), s.wrap("read the checksum of a plugin", found(err, "plugin %s", name))
}

// Trust records the SHA-256 under which a plugin is trusted from now on, in place of any other.
func (s *Store) Trust(ctx context.Context, name string, sha256 []byte) error {
	return s.write(ctx, "trust plugin "+name, func(t tx) error {
		_, err := t.exec("INSERT OR REPLACE INTO plugins (name, sha256, trusted_at) VALUES (?, ?, ?)", name, blob(sha256), millis(s.now()))
		return err
	}, nil)
}
