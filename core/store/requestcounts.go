package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/dogwatch/dogwatch/internal/budget"
)

// SaveRequests replaces what is kept of the requests to hosts.
func (s *Store) SaveRequests(ctx context.Context, all []budget.Saved) error {
	type row struct{ host, doc string }
	rows := make([]row, len(all))
	for i, saved := range all {
		doc, err := json.Marshal(saved)
		if err != nil {
			return s.wrap("keep the requests to hosts", err)
		}
		rows[i] = row{saved.Host, string(doc)}
	}
	return s.write(ctx, "keep the requests to hosts", func(t tx) error {
		if _, err := t.exec("DELETE FROM requests"); err != nil {
			return err
		}
		return each(t, "INSERT INTO requests (host, doc) VALUES (?, ?) ON CONFLICT DO NOTHING", rows, func(r row) []any {
			return []any{r.host, r.doc}
		})
	}, nil)
}

// Requests returns what SaveRequests has kept, by host.
func (s *Store) Requests(ctx context.Context) ([]budget.Saved, error) {
	return queryRows(ctx, s, "read the requests to hosts", "SELECT host, doc FROM requests ORDER BY host", nil,
		func(scan scanner) (saved budget.Saved, err error) {
			var host, doc string
			if err := scan(&host, &doc); err != nil {
				return saved, err
			}
			if err := json.Unmarshal([]byte(doc), &saved); err != nil {
				return saved, fmt.Errorf("host %s: %w", host, err)
			}
			return saved, nil
		})
}

// Requests returns what is kept of the requests to hosts, by host.
func (r *Reader) Requests(ctx context.Context) ([]budget.Saved, error) {
	const version = 13
	if err := r.since(version, "requests to hosts"); err != nil {
		return nil, err
	}
	return r.store.Requests(ctx)
}
