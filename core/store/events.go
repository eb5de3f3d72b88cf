package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/dogwatch/dogwatch/core/model/event"
)

// append adds events to the log in their order. An event without a time happened now.
func (s *Store) append(t tx, events []event.Event) error {
	rows := make([][]any, len(events))
	for i, e := range events {
		if e.At.IsZero() {
			e.At = s.now()
		}
		doc, err := encode(e.Payload)
		if err != nil {
			return fmt.Errorf("event %s of %s: %w", e.Type, e.Subject, err)
		}
		rows[i] = []any{millis(e.At), string(e.Type), e.Subject, e.Run, string(doc)}
	}
	return each(t, "INSERT INTO events (at, type, subject, run, doc) VALUES (?, ?, ?, ?, ?)", rows,
		func(args []any) []any { return args })
}

// Events returns up to limit events that follow the one with id after, oldest
// first. A limit below 1 means 100.
func (s *Store) Events(ctx context.Context, after int64, limit int) ([]event.Event, error) {
	return s.events(ctx, "WHERE id > ? ORDER BY id LIMIT ?", after, orDefault(limit))
}

// EventsBefore returns up to limit events that precede the one with id before,
// newest first; before 0 starts at the newest. A limit below 1 means 100.
func (s *Store) EventsBefore(ctx context.Context, before int64, limit int) ([]event.Event, error) {
	return s.events(ctx, "WHERE id < ? ORDER BY id DESC LIMIT ?", orNewest(before), orDefault(limit))
}

func (s *Store) events(ctx context.Context, where string, args ...any) ([]event.Event, error) {
	return queryRows(ctx, s, "read events", "SELECT id, at, type, subject, run, doc FROM events "+where, args,
		func(scan scanner) (event.Event, error) {
			var e event.Event
			var when int64
			var doc []byte
			if err := scan(&e.ID, &when, &e.Type, &e.Subject, &e.Run, &doc); err != nil {
				return e, err
			}
			e.At = instant(when)
			if err := json.Unmarshal(doc, &e.Payload); err != nil {
				return e, fmt.Errorf("event %d: %w", e.ID, err)
			}
			return e, nil
		})
}

// LastEvent returns the id of the newest event ever stored, even if it was
// pruned since; 0 when there was none.
func (s *Store) LastEvent(ctx context.Context) (int64, error) {
	return s.number(ctx, "read the last event", "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'")
}

// OldestEvent returns the id of the oldest event still kept, or that of the
// next one when none is: a reader that has seen up to after has missed events
// exactly when after+1 is less.
func (s *Store) OldestEvent(ctx context.Context) (int64, error) {
	return s.number(ctx, "read the oldest event",
		"SELECT coalesce((SELECT min(id) FROM events), (SELECT seq FROM sqlite_sequence WHERE name = 'events') + 1, 1)")
}

// Cursor returns the id of the last event that a reader has dealt with; 0 when it is new.
func (s *Store) Cursor(ctx context.Context, reader string) (int64, error) {
	return s.number(ctx, "read the cursor of "+reader, "SELECT coalesce(max(event), 0) FROM cursors WHERE reader = ?",
		reader)
}

// source is what can be queried: the readers of the file, or the connection of a transaction.
type source interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}
