package store

import (
	"context"

	"github.com/dogwatch/dogwatch/core/watch/webhook"
)

// Store implements webhook.Store.
var _ webhook.Store = (*Store)(nil)

// AddPushed keeps repositories that are to be checked until RemovePushed.
func (s *Store) AddPushed(ctx context.Context, images []webhook.Image) error {
	return s.write(ctx, "keep what webhooks said", func(t tx) error {
		return each(t, "INSERT INTO pushed (host, name, project) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", images, columnsOf)
	}, nil)
}

// RemovePushed forgets repositories that AddPushed has kept.
func (s *Store) RemovePushed(ctx context.Context, images []webhook.Image) error {
	return s.write(ctx, "forget what webhooks said", func(t tx) error {
		return each(t, "DELETE FROM pushed WHERE host = ? AND name = ? AND project = ?", images, columnsOf)
	}, nil)
}

func columnsOf(i webhook.Image) []any { return []any{i.Host, i.Name, i.Project} }

// Pushed returns the repositories that are kept, in the order of their names.
func (s *Store) Pushed(ctx context.Context) ([]webhook.Image, error) {
	return queryRows(ctx, s, "read what webhooks said",
		"SELECT host, name, project FROM pushed ORDER BY host, name, project", nil,
		func(scan scanner) (i webhook.Image, err error) {
			return i, scan(&i.Host, &i.Name, &i.Project)
		})
}
