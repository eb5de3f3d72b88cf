package store

import (
	"context"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// Import stores what another program knew, in one transaction with the mark
// that keeps it from being imported again. It returns false, and stores nothing,
// when source was imported before. A store that holds containers knows them
// better than any other program: then only the updates of which it notified users
// are taken over.
func (s *Store) Import(
	ctx context.Context, source string, containers []sdk.Container, notified []update.Notified,
) (imported bool, err error) {
	var d diff
	err = s.write(ctx, "import "+source, func(t tx) error {
		result, err := t.exec("INSERT INTO imports (source, imported_at) VALUES (?, ?) ON CONFLICT DO NOTHING", source,
			millis(s.now()))
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return err
		}
		imported = true
		if err := each(t, "INSERT INTO told (container, subject, tag, remote, told_at) VALUES (?, ?, ?, ?, ?)",
			notified, func(o update.Notified) []any {
				return []any{o.Container, o.Subject, o.Tag, o.Remote, millis(s.now())}
			}); err != nil {
			return err
		}
		if len(s.snap.Load().all) > 0 {
			return nil
		}
		change := event.Change{Put: containers}
		for _, c := range containers {
			change.Events = append(change.Events, event.Event{
				Type: event.ContainerAdded, Subject: event.Subject(c), Payload: event.Payload{Container: &c},
			})
		}
		d, err = s.apply(t, change)
		return err
	}, func() { s.applied(d) })
	if err != nil {
		return false, err
	}
	return imported, nil
}

// Imported reports whether source has been imported.
func (s *Store) Imported(ctx context.Context, source string) (bool, error) {
	n, err := s.number(ctx, "read what was imported", "SELECT count(*) FROM imports WHERE source = ?", source)
	return n > 0, err
}

// AlreadyNotified returns the updates of which another program notified users.
func (s *Store) AlreadyNotified(ctx context.Context) ([]update.Notified, error) {
	return queryRows(ctx, s, "read the updates of earlier notifications",
		"SELECT container, subject, tag, remote FROM told ORDER BY id", nil,
		func(scan scanner) (o update.Notified, err error) {
			err = scan(&o.Container, &o.Subject, &o.Tag, &o.Remote)
			return o, err
		})
}
