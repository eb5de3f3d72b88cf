package store

import (
	"context"
	"time"
)

// remembered is for how many of its latest offers, per trigger and container,
// "once" is kept while the container exists, however old they are.
const remembered = 8

// Prune deletes the events and the finished deliveries from before a time. It
// keeps events that a cursor has not passed, and what users have been notified of about
// containers that still exist, so that it is not sent again: the fingerprints of
// the latest deliveries, and what was imported. Of operations it keeps those that have
// not ended, and for containers that exist what a rollback returns to and what did not
// work last, which is not to be tried again. Expired sessions go at once, and
// tokens that expired, and scans that were made, before that time.
func (s *Store) Prune(ctx context.Context, before time.Time) error {
	if err := s.flushCache(ctx); err != nil {
		return err
	}
	return s.changeChoices(ctx, "delete what is old", func(t tx) error {
		if _, err := t.exec(`DELETE FROM events WHERE at < ?
			AND id <= (SELECT coalesce(min(event), 9223372036854775807) FROM cursors)`, millis(before)); err != nil {
			return err
		}
		_, err := t.exec(`DELETE FROM deliveries WHERE state IN ('sent', 'failed', 'skipped') AND updated_at < ?
			AND id NOT IN (
				SELECT id FROM (
					SELECT id, row_number() OVER (PARTITION BY trigger, subject ORDER BY id DESC) AS age FROM deliveries
					WHERE fingerprint NOT LIKE 'manual-%' AND (subject IN (SELECT watcher || '/' || name FROM containers)
						OR containers IN (SELECT json_array(id) FROM containers)) -- which may have been renamed
				) WHERE age <= ?)`, millis(before), remembered)
		if err != nil {
			return err
		}
		_, err = t.exec(`DELETE FROM told WHERE told_at < ? AND container NOT IN (SELECT id FROM containers)
			AND subject NOT IN (SELECT watcher || '/' || name FROM containers)`, millis(before))
		if err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM candidates WHERE subject NOT IN (SELECT watcher || '/' || name FROM containers)"); err != nil {
			return err
		}
		if err := t.pruneChoices(millis(before)); err != nil {
			return err
		}
		if err := t.pruneScans(millis(before)); err != nil {
			return err
		}
		if err := t.pruneOperations(before); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM webpush_sent WHERE sent_at < ?", millis(before)); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM sessions WHERE expires_at <= ?", millis(s.now())); err != nil {
			return err
		}
		_, err = t.exec("DELETE FROM tokens WHERE expires_at > 0 AND expires_at < ?", millis(before))
		return err
	})
}
