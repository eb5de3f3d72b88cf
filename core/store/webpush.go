package store

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/notify/webpush"
)

// Store implements webpush.Store.
var _ webpush.Store = (*Store)(nil)

// WebPushKey implements webpush.Store.
func (s *Store) WebPushKey(ctx context.Context, fresh []byte) (key []byte, err error) {
	err = s.write(ctx, "make the key of Web Push", func(t tx) error {
		if _, err := t.exec("INSERT INTO webpush_key (id, key) VALUES (1, ?) ON CONFLICT DO NOTHING", fresh); err != nil {
			return err
		}
		return t.row("SELECT key FROM webpush_key").Scan(&key)
	}, nil)
	return key, err
}

// WebPushDevices implements webpush.Store.
func (s *Store) WebPushDevices(ctx context.Context) ([]webpush.Device, error) {
	return queryRows(ctx, s, "read the devices",
		`SELECT id, user, name, endpoint, p256dh, auth, created_at, sent_at, error FROM webpush_devices
		ORDER BY created_at, id`, nil,
		func(scan scanner) (d webpush.Device, err error) {
			var created, sent int64
			err = scan(&d.ID, &d.User, &d.Name, &d.Endpoint, &d.P256dh, &d.Auth, &created, &sent, &d.Error)
			d.Created, d.Sent = instant(created), instant(sent)
			return d, err
		})
}

// AddWebPushDevice implements webpush.Store.
func (s *Store) AddWebPushDevice(ctx context.Context, d webpush.Device, most int) error {
	full := false
	err := s.write(ctx, "store a device", func(t tx) error {
		var others int
		err := t.row("SELECT count(*) FROM webpush_devices WHERE id <> ?", d.ID).Scan(&others)
		if full = err == nil && others >= most; full || err != nil {
			return err
		}
		_, err = t.exec(`INSERT INTO webpush_devices (id, user, name, endpoint, p256dh, auth, created_at)
			VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET user = excluded.user, name = excluded.name, p256dh = excluded.p256dh,
				auth = excluded.auth, error = ''`,
			d.ID, d.User, d.Name, d.Endpoint, d.P256dh, d.Auth, millis(d.Created))
		return err
	}, nil)
	if err == nil && full {
		return webpush.ErrFull
	}
	return err
}

// RemoveWebPushDevice implements webpush.Store.
func (s *Store) RemoveWebPushDevice(ctx context.Context, id string) error {
	none := false
	err := s.write(ctx, "remove a device", func(t tx) error {
		done, err := t.exec("DELETE FROM webpush_devices WHERE id = ?", id)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		none = n == 0
		if err != nil || none {
			return err
		}
		_, err = t.exec("DELETE FROM webpush_sent WHERE device = ?", id)
		return err
	}, nil)
	if err == nil && none {
		return webpush.ErrNotFound
	}
	return err
}

// WebPushSent implements webpush.Store.
func (s *Store) WebPushSent(ctx context.Context, delivery string) ([]string, error) {
	return queryRows(ctx, s, "read which devices have a message",
		"SELECT device FROM webpush_sent WHERE delivery = ?", []any{delivery},
		func(scan scanner) (id string, err error) {
			return id, scan(&id)
		})
}

// RecordWebPush implements webpush.Store.
func (s *Store) RecordWebPush(ctx context.Context, id, delivery string, at time.Time) error {
	return s.write(ctx, "record that a device has a message", func(t tx) error {
		done, err := t.exec("UPDATE webpush_devices SET sent_at = ?, error = '' WHERE id = ?", millis(at), id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return err // it was removed meanwhile
		}
		_, err = t.exec("INSERT INTO webpush_sent (delivery, device, sent_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
			delivery, id, millis(at))
		return err
	}, nil)
}

// RecordWebPushError implements webpush.Store.
func (s *Store) RecordWebPushError(ctx context.Context, id, text string) error {
	return s.write(ctx, "record that a device has no message", func(t tx) error {
		_, err := t.exec("UPDATE webpush_devices SET error = ? WHERE id = ?", text, id)
		return err
	}, nil)
}
