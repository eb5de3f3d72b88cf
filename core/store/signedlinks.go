package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
)

// usedLinksKept is for how long the use of a link is remembered after it has expired. It
// is long, because a clock that is set back makes a link good again.
const usedLinksKept = 30 * 24 * time.Hour

// SignedLinkKey implements signedlink.Store.
func (s *Store) SignedLinkKey(ctx context.Context, fresh []byte) (key []byte, err error) {
	err = s.write(ctx, "make the key of links", func(t tx) error {
		if _, err := t.exec("INSERT INTO link_key (id, key) VALUES (1, ?) ON CONFLICT DO NOTHING", fresh); err != nil {
			return err
		}
		return t.row("SELECT key FROM link_key").Scan(&key)
	}, nil)
	return key, err
}

// SignedLinkGenerations implements signedlink.Store.
func (s *Store) SignedLinkGenerations(ctx context.Context) (map[string]uint64, error) {
	type row struct {
		trigger    string
		generation int64
	}
	rows, err := queryRows(ctx, s, "read which links were revoked", "SELECT trigger, generation FROM link_generations", nil,
		func(scan scanner) (r row, err error) {
			return r, scan(&r.trigger, &r.generation)
		})
	all := map[string]uint64{}
	for _, r := range rows {
		all[r.trigger] = uint64(r.generation)
	}
	return all, err
}

// RevokeSignedLinks implements signedlink.Store.
func (s *Store) RevokeSignedLinks(ctx context.Context, trigger string, ev ...event.Event) error {
	return s.write(ctx, "revoke links", func(t tx) error {
		if _, err := t.exec(`INSERT INTO link_generations (trigger, generation) VALUES (?, 1)
			ON CONFLICT DO UPDATE SET generation = generation + 1`, trigger); err != nil {
			return err
		}
		return s.append(t, ev)
	}, s.bus.Wake)
}

// SignedLinkUse implements signedlink.Store.
func (s *Store) SignedLinkUse(ctx context.Context, nonce []byte) (choice.SignedLinkUse, bool, error) {
	u := choice.SignedLinkUse{Nonce: nonce}
	var usedAt, expires int64
	err := s.reader.QueryRowContext(ctx, "SELECT trigger, action, used_at, expires_at FROM links_used WHERE nonce = ?",
		nonce).
		Scan(&u.Trigger, &u.Action, &usedAt, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return choice.SignedLinkUse{}, false, nil
	}
	u.At, u.Expires = instant(usedAt), instant(expires)
	return u, err == nil, s.wrap("read whether a link was used", err)
}

// useLink records the use of a link, with the choice that was made with it. It fails
// when the link was used before. What is known of links that have expired goes.
func (s *Store) useLink(t tx, u choice.SignedLinkUse) error {
	if _, err := t.exec("DELETE FROM links_used WHERE expires_at < ?", millis(s.now().Add(-usedLinksKept))); err != nil {
		return err
	}
	_, err := t.exec("INSERT INTO links_used (nonce, trigger, action, used_at, expires_at) VALUES (?, ?, ?, ?, ?)",
		u.Nonce, u.Trigger, u.Action, millis(u.At), millis(u.Expires))
	return err
}
