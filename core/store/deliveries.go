package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
)

// DeliveryFilter selects deliveries; zero fields select all.
type DeliveryFilter struct {
	State   string
	Trigger string
	// Before is the id below which to start, for the page after this one.
	Before int64
	// Limit is at most how many; below 1 means 100.
	Limit int
}

// Plan adds deliveries and moves the reader's cursor to the id of the event they
// were planned for, in one transaction; a cursor never moves back. Deliveries are
// deduplicated by trigger, subject and fingerprint: one that was planned before is
// left alone, unless it was skipped: then it is pending again; with Again, only such a one is planned. One for the same
// containers under another subject is left alone, too, for they may have been
// renamed since. It returns how many are newly pending. ID, State, Attempts and the
// times are the store's to set, except NextAt, where zero means now.
func (s *Store) Plan(
	ctx context.Context, reader string, cursor int64, ds []delivery.Delivery,
) (planned int, err error) {
	err = s.write(ctx, "plan deliveries", func(t tx) error {
		now := s.now()
		for _, d := range ds {
			n, err := t.plan(d, now)
			if err != nil {
				return err
			}
			planned += n
		}
		_, err := t.exec(`INSERT INTO cursors (reader, event) VALUES (?, ?)
			ON CONFLICT (reader) DO UPDATE SET event = max(event, excluded.event)`, reader, cursor)
		return err
	}, func() {
		if planned > 0 {
			s.deliveriesChanged()
		}
	})
	if err != nil {
		return 0, err
	}
	return planned, nil
}

// plan adds a delivery, unless it was planned before, and returns how many are newly pending.
func (t tx) plan(d delivery.Delivery, now time.Time) (int, error) {
	containers, err := encode(append([]string{}, d.Containers...))
	if err != nil {
		return 0, err
	}
	if d.NextAt.IsZero() {
		d.NextAt = now
	}
	if d.Again {
		return t.replan(d, string(containers), now)
	}
	result, err := t.exec(`INSERT INTO deliveries
		(trigger, subject, fingerprint, event, run, batch, containers, state, attempts, next_at, created_at, updated_at, error, payload)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, 'pending', 0, ?8, ?9, ?10, '', ?11
		WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE trigger = ?1 AND fingerprint = ?3
			AND subject <> ?2 AND containers = ?7 AND containers <> '[]' AND state <> 'skipped')
		ON CONFLICT (trigger, subject, fingerprint) DO UPDATE SET
			event = excluded.event, run = excluded.run, batch = excluded.batch, containers = excluded.containers,
			state = 'pending', attempts = 0, next_at = excluded.next_at, updated_at = excluded.updated_at,
			error = '', payload = excluded.payload
		WHERE state = 'skipped'`,
		d.Trigger, d.Subject, d.Fingerprint, d.Event, d.Run, d.Batch, string(containers),
		millis(d.NextAt), millis(now), millis(now), blob(d.Payload))
	if err != nil {
		return 0, fmt.Errorf("for trigger %s about %s: %w", d.Trigger, d.Subject, err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// replan makes a delivery pending that was skipped, and returns how many there were.
func (t tx) replan(d delivery.Delivery, containers string, now time.Time) (int, error) {
	result, err := t.exec(`UPDATE deliveries SET event = ?, run = ?, containers = ?, state = 'pending', attempts = 0,
			next_at = ?, updated_at = ?, error = '', payload = ?
		WHERE trigger = ? AND subject = ? AND fingerprint = ? AND state = 'skipped'`,
		d.Event, d.Run, containers, millis(d.NextAt), millis(now), blob(d.Payload), d.Trigger, d.Subject, d.Fingerprint)
	if err != nil {
		return 0, fmt.Errorf("for trigger %s about %s: %w", d.Trigger, d.Subject, err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// Claim takes the trigger's oldest due delivery: it returns it as Sending, with
// the attempt already counted in the file, or false when none is due at now.
func (s *Store) Claim(ctx context.Context, trigger string, now time.Time) (d delivery.Delivery, ok bool, err error) {
	err = s.write(ctx, "claim a delivery of "+trigger, func(t tx) error {
		d, err = scanDelivery(t.row(`UPDATE deliveries SET state = 'sending', attempts = attempts + 1, updated_at = ?
			WHERE id = (SELECT id FROM deliveries WHERE state = 'pending' AND trigger = ? AND next_at <= ?
				ORDER BY next_at, id LIMIT 1)
			RETURNING `+deliveryColumns+", payload", millis(s.now()), trigger, millis(now)).Scan, true)
		ok = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	}, func() {
		if ok {
			s.bus.Touch(event.DeliveryChanged)
		}
	})
	if err != nil {
		return delivery.Delivery{}, false, err
	}
	return d, ok, nil
}

// Begin records a manual run before its call: it adds the delivery as Sending,
// with its attempt counted, and returns it. What the store sets is as in Plan.
func (s *Store) Begin(ctx context.Context, d delivery.Delivery) (stored delivery.Delivery, err error) {
	err = s.write(ctx, "record a run of "+d.Trigger, func(t tx) error {
		containers, err := encode(append([]string{}, d.Containers...))
		if err != nil {
			return err
		}
		now := millis(s.now())
		stored, err = scanDelivery(t.row(`INSERT INTO deliveries
			(trigger, subject, fingerprint, event, run, batch, containers, state, attempts, next_at, created_at, updated_at, error, payload)
			VALUES (?1, ?2, ?3, 0, '', ?4, ?5, 'sending', 1, ?6, ?6, ?6, '', ?7) RETURNING `+deliveryColumns,
			d.Trigger, d.Subject, d.Fingerprint, d.Batch, string(containers), now, blob(d.Payload)).Scan, false)
		return err
	}, func() { s.bus.Touch(event.DeliveryChanged) })
	if err != nil {
		return delivery.Delivery{}, err
	}
	return stored, nil
}

// deliveriesChanged wakes those who show what is pending.
func (s *Store) deliveriesChanged() {
	s.bus.Wake()
	s.bus.Touch(event.DeliveryChanged)
}

// Finish records how a delivery ended, with the events about it, in one
// transaction. It also takes a Pending delivery that is not worth claiming. It
// returns ErrNotFound for an unknown id, ErrConflict for one that has ended already.
func (s *Store) Finish(ctx context.Context, id int64, outcome delivery.Outcome, ev ...event.Event) error {
	return s.write(ctx, fmt.Sprintf("finish delivery %d", id), func(t tx) error {
		if err := s.finish(t, id, outcome); err != nil {
			return err
		}
		return s.append(t, ev)
	}, s.deliveriesChanged)
}

func (s *Store) finish(t tx, id int64, o delivery.Outcome) error {
	switch o.State {
	case delivery.Sent, delivery.Pending, delivery.Failed, delivery.Skipped:
	default:
		return fmt.Errorf("%q is no outcome", o.State)
	}
	if o.NextAt.IsZero() {
		o.NextAt = s.now()
	}
	return t.change(id, "sending or pending", `UPDATE deliveries SET state = ?1, error = ?2, next_at = ?3, updated_at = ?4, title = ?6,
		payload = CASE WHEN ?1 IN ('sent', 'skipped') THEN x'' ELSE payload END
		WHERE id = ?5 AND state IN ('sending', 'pending')`,
		o.State, o.Error, millis(o.NextAt), millis(s.now()), id, o.Title)
}

// change runs an update of one delivery that depends on its state.
func (t tx) change(id int64, want, update string, args ...any) error {
	result, err := t.exec(update, args...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 1 {
		return err
	}
	var state string
	if err := t.row("SELECT state FROM deliveries WHERE id = ?", id).Scan(&state); err != nil {
		return found(err, "delivery %d", id)
	}
	return fmt.Errorf("delivery %d is %s, not %s: %w", id, state, want, ErrConflict)
}

// Recover decides about every delivery that a crash left Sending: outcome says
// whether and when to try again (Pending) or to give up (Failed), and why, or that
// this process is sending it (Sending); it gets the delivery without its Payload.
// Giving up appends the event of it. It returns how many a crash had left.
func (s *Store) Recover(ctx context.Context, outcome func(delivery.Delivery) delivery.Outcome) (n int, err error) {
	err = s.write(ctx, "recover deliveries", func(t tx) error {
		left, err := t.sending()
		if err != nil {
			return err
		}
		n = 0
		for _, d := range left {
			o := outcome(d)
			if o.State == delivery.Sending {
				continue
			}
			n++
			if err := s.finish(t, d.ID, o); err != nil {
				return err
			}
			if o.State != delivery.Failed {
				continue
			}
			if err := s.append(t, []event.Event{{
				Type: event.TriggerFailed, Subject: d.Trigger, Run: d.Run,
				Payload: event.Payload{
					Delivery: &event.Delivery{ID: d.ID, Trigger: d.Trigger, Manual: d.Manual, Attempts: d.Attempts, Error: o.Error},
				},
			}}); err != nil {
				return err
			}
		}
		return nil
	}, func() {
		if n > 0 {
			s.deliveriesChanged()
		}
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (t tx) sending() (out []delivery.Delivery, err error) {
	err = eachRow(t.ctx, t.conn, func(scan scanner) error {
		d, err := scanDelivery(scan, false)
		out = append(out, d)
		return err
	}, "SELECT "+deliveryColumns+" FROM deliveries WHERE state = 'sending' ORDER BY id")
	return out, err
}

// Retry makes a Failed delivery Pending again, due now, with its attempts
// counted afresh, and one due now that waits for another attempt. It returns
// ErrNotFound or ErrConflict when there is nothing to retry.
func (s *Store) Retry(ctx context.Context, id int64) error {
	return s.write(ctx, fmt.Sprintf("retry delivery %d", id), func(t tx) error {
		now := millis(s.now())
		return t.change(id, "failed or to be tried again", `UPDATE deliveries SET state = 'pending', next_at = ?1,
			attempts = CASE state WHEN 'failed' THEN 0 ELSE attempts END,
			updated_at = CASE state WHEN 'failed' THEN ?1 ELSE updated_at END
			WHERE id = ?2 AND (state = 'failed' OR state = 'pending' AND attempts > 0)`, now, id)
	}, s.deliveriesChanged)
}

// NextDue returns when the earliest pending delivery is due, of the given
// triggers or, without any, of all; false when none is pending.
func (s *Store) NextDue(ctx context.Context, triggers ...string) (time.Time, bool, error) {
	only, err := encode(append([]string{}, triggers...))
	if err != nil {
		return time.Time{}, false, err
	}
	next, err := s.number(ctx, "read what is due next", `SELECT coalesce(min(next_at), 0) FROM deliveries
		WHERE state = 'pending' AND (? = 0 OR trigger IN (SELECT value FROM json_each(?)))`, len(triggers), string(only))
	return instant(next), next != 0 && err == nil, err
}

// Deliveries returns deliveries, newest first, without their Payload.
func (s *Store) Deliveries(ctx context.Context, f DeliveryFilter) ([]delivery.Delivery, error) {
	return queryRows(ctx, s, "read deliveries", "SELECT "+deliveryColumns+` FROM deliveries
		WHERE id < ?1 AND (?2 = '' OR state = ?2) AND (?3 = '' OR trigger = ?3) ORDER BY id DESC LIMIT ?4`,
		[]any{orNewest(f.Before), f.State, f.Trigger, orDefault(f.Limit)},
		func(scan scanner) (delivery.Delivery, error) { return scanDelivery(scan, false) })
}

// Delivery returns one delivery with its Payload, or ErrNotFound.
func (s *Store) Delivery(ctx context.Context, id int64) (delivery.Delivery, error) {
	d, err := scanDelivery(s.reader.QueryRowContext(ctx,
		"SELECT "+deliveryColumns+", payload FROM deliveries WHERE id = ?", id).Scan, true)
	return d, s.wrap("read a delivery", found(err, "delivery %d", id))
}

const deliveryColumns = `id, trigger, subject, fingerprint, event, run, batch, containers, state, attempts,
	next_at, created_at, updated_at, error, title`

func scanDelivery(scan scanner, payload bool) (d delivery.Delivery, err error) {
	var containers []byte
	var next, created, updated int64
	dest := []any{&d.ID, &d.Trigger, &d.Subject, &d.Fingerprint, &d.Event, &d.Run, &d.Batch, &containers, &d.State,
		&d.Attempts,
		&next, &created, &updated, &d.Error, &d.Title}
	if payload {
		dest = append(dest, &d.Payload)
	}
	if err := scan(dest...); err != nil {
		return d, err
	}
	d.Manual = delivery.IsManual(d.Fingerprint)
	d.NextAt, d.CreatedAt, d.UpdatedAt = instant(next), instant(created), instant(updated)
	return d, json.Unmarshal(containers, &d.Containers)
}

// blob keeps a nil slice from becoming NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
