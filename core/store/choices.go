package store

import (
	"context"
	"fmt"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/policy"
	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// Choices returns what users decided about updates.
func (s *Store) Choices(ctx context.Context) ([]policy.Choice, error) {
	return query(ctx, s, "read choices", "SELECT subject, offer, kind, until, actor, chosen_at FROM choices ORDER BY subject, chosen_at", nil, readChoice)
}

// Choices returns what users decided about updates.
func (r *Reader) Choices(ctx context.Context) ([]policy.Choice, error) {
	const version = 11
	if err := r.since(version, "choices"); err != nil {
		return nil, err
	}
	return r.store.Choices(ctx)
}

func readChoice(scan scanner) (c policy.Choice, err error) {
	var offer, kind string
	var until, at int64
	if err := scan(&c.Subject, &offer, &kind, &until, &c.Actor, &at); err != nil {
		return c, err
	}
	if offer != "" {
		if c.Update, err = update.Parse(offer); err != nil {
			return c, fmt.Errorf("choice about %s: %w", c.Subject, err)
		}
	}
	c.Kind, c.Until, c.At = policy.ChoiceKind(kind), sdk.TimeOf(instant(until)), sdk.TimeOf(instant(at))
	return c, nil
}

// PutChoice stores a choice in place of that of the same container and version, with its events.
func (s *Store) PutChoice(ctx context.Context, c policy.Choice, ev ...event.Event) error {
	offer := ""
	if c.Update != (update.Key{}) {
		offer = c.Update.String()
	}
	return s.write(ctx, "store a choice", func(t tx) error {
		if _, err := t.exec("INSERT OR REPLACE INTO choices (subject, version, offer, kind, until, actor, chosen_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
			c.Subject, c.Version(), offer, string(c.Kind), millis(c.Until.Time), c.Actor, millis(c.At.Time)); err != nil {
			return err
		}
		return s.append(t, ev)
	}, s.bus.Wake)
}

// DeleteChoices deletes the choices about a container, with its events.
func (s *Store) DeleteChoices(ctx context.Context, subject string, ev ...event.Event) error {
	return s.write(ctx, "delete choices", func(t tx) error {
		if _, err := t.exec("DELETE FROM choices WHERE subject = ?", subject); err != nil {
			return err
		}
		return s.append(t, ev)
	}, s.bus.Wake)
}

// pruneChoices deletes those of containers that are gone and whose time is over.
func (t tx) pruneChoices(before int64) error {
	_, err := t.exec("DELETE FROM choices WHERE max(chosen_at, until) < ? AND subject NOT IN (SELECT watcher || '/' || name FROM containers)", before)
	return err
}
