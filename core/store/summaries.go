package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
)

// LastSummary returns until when the summaries of a trigger have come; the zero value
// when there was none.
func (s *Store) LastSummary(ctx context.Context, trigger string) (delivery.Summary, error) {
	var due, event int64
	err := s.reader.QueryRowContext(ctx, "SELECT due, event FROM summaries WHERE trigger = ?", trigger).Scan(&due, &event)
	if errors.Is(err, sql.ErrNoRows) {
		return delivery.Summary{}, nil
	}
	return delivery.Summary{Due: instant(due), Event: event}, s.wrap("read the last summary of "+trigger, err)
}

// PlanSummary adds the deliveries of a summary that was due, one or none, and notes until when
// the summaries have come, in one transaction. Nothing happens if that was as late already.
func (s *Store) PlanSummary(ctx context.Context, trigger string, upTo delivery.Summary, ds ...delivery.Delivery) error {
	return s.write(ctx, "plan a summary of "+trigger, func(t tx) error {
		result, err := t.exec(`INSERT INTO summaries (trigger, due, event) VALUES (?, ?, ?)
			ON CONFLICT (trigger) DO UPDATE SET due = excluded.due, event = max(event, excluded.event) WHERE excluded.due > due`,
			trigger, millis(upTo.Due), upTo.Event)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); n == 0 || err != nil {
			return err
		}
		for _, d := range ds {
			if _, err := t.plan(d, s.now()); err != nil {
				return err
			}
		}
		return nil
	}, func() {
		if len(ds) > 0 {
			s.deliveriesChanged()
		}
	})
}
