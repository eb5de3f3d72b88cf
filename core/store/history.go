package store

import (
	"context"
	"math"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
)

// History returns the events that f selects, newest first. It reads the log
// from its newest end, so what is rare or long ago takes longest.
func (s *Store) History(ctx context.Context, f event.Filter) ([]event.Event, error) {
	types, err := encode(append([]event.Type{}, f.Types...))
	if err != nil {
		return nil, err
	}
	named, err := encode(append([]string{}, f.Named...))
	if err != nil {
		return nil, err
	}
	return s.events(ctx, `WHERE id < ?1
		AND (?2 = 0 OR type IN (SELECT value FROM json_each(?3)))
		AND (?4 = '' OR subject = ?4)
		AND (?5 = '' OR subject = ?5 OR substr(subject, 1, length(?5) + 1) = ?5 || '/')
		AND (?6 = '' OR instr(lower(subject), lower(?6)) > 0
			OR subject IN (SELECT value FROM json_each(?12)))
		AND at >= ?7 AND at < ?8
		AND (?10 = 0 OR type NOT GLOB 'auth.*' AND type <> 'setting.changed')
		AND (?11 = 0 OR type <> 'container.changed' OR json_extract(doc, '$.aspect') IS NOT 'released')
		ORDER BY id DESC LIMIT ?9`,
		orNewest(f.Before), len(f.Types), string(types), f.Subject, f.Watcher, f.Text,
		millisOr(f.Since, math.MinInt64), millisOr(f.Until, math.MaxInt64), orDefault(f.Limit), f.Public, f.SkipReleased,
		string(named))
}

// Outages returns, for each watcher that has ever had one, the last event of the
// types event.WatcherFailed and event.WatcherRecovered, in no order.
func (s *Store) Outages(ctx context.Context) ([]event.Event, error) {
	return s.events(ctx,
		`WHERE id IN (SELECT max(id) FROM events WHERE type IN ('watcher.failed', 'watcher.recovered') GROUP BY subject)`)
}

// millisOr returns t as it is stored, or otherwise for the zero time.
func millisOr(t time.Time, otherwise int64) int64 {
	if t.IsZero() {
		return otherwise
	}
	return millis(t)
}
