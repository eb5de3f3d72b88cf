package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

const (
	// plannedFor is for how long an update can be asked for with the digest of a plan.
	plannedFor = 24 * time.Hour
	// maxPlanned is how many images are kept for a container, the latest.
	maxPlanned = 8
)

// PutPlanned stores that a plan of a container ("watcher/name") was shown, with the digest
// that the registry gave for a reference.
func (s *Store) PutPlanned(ctx context.Context, subject, reference, digest string) error {
	return s.write(ctx, "store the image of a plan", func(t tx) error {
		if _, err := t.exec("INSERT OR REPLACE INTO planned (subject, reference, digest, planned_at) VALUES (?, ?, ?, ?)",
			subject, reference, digest, millis(s.now())); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM planned WHERE planned_at < ?", millis(s.now().Add(-plannedFor))); err != nil {
			return err
		}
		_, err := t.exec(`DELETE FROM planned WHERE subject = ?1 AND (reference, digest) NOT IN (
			SELECT reference, digest FROM planned WHERE subject = ?1 ORDER BY planned_at DESC LIMIT ?2)`, subject, maxPlanned)
		return err
	}, nil)
}

// Planned reports whether a plan of a container with this image was shown within the last 24 hours.
func (s *Store) Planned(ctx context.Context, subject, reference, digest string) (bool, error) {
	var one int
	err := s.reader.QueryRowContext(ctx,
		"SELECT 1 FROM planned WHERE subject = ? AND reference = ? AND digest = ? AND planned_at >= ?",
		subject, reference, digest, millis(s.now().Add(-plannedFor))).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, s.wrap("read the images of plans", err)
}
