package store

import (
	"context"
	"fmt"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// ChoicesBySubject implements choice.Store.
func (s *Store) ChoicesBySubject() map[string][]choice.Choice { return *s.choices.Load() }

// Choices returns what users decided about updates.
func (s *Store) Choices(ctx context.Context) ([]choice.Choice, error) {
	all, err := readChoices(ctx, s.reader)
	return all, s.wrap("read choices", err)
}

// Choices returns what users decided about updates.
func (r *Reader) Choices(ctx context.Context) ([]choice.Choice, error) {
	const version = 11
	if err := r.since(version, "choices"); err != nil {
		return nil, err
	}
	return r.store.Choices(ctx)
}

// readChoices returns what the file has, by subject and time. What this version cannot
// read is left out.
func readChoices(ctx context.Context, from source) (all []choice.Choice, err error) {
	err = eachRow(ctx, from, func(scan scanner) error {
		var c choice.Choice
		var offer, kind string
		var until, chosenAt int64
		err := scan(&c.Subject, &offer, &kind, &until, &c.Actor, &chosenAt)
		if err != nil {
			return err
		}
		if offer != "" {
			if c.Update, err = update.Parse(offer); err != nil {
				return nil
			}
		}
		c.Kind, c.Until, c.At = choice.Kind(kind), sdk.TimeOf(instant(until)), sdk.TimeOf(instant(chosenAt))
		all = append(all, c)
		return nil
	}, "SELECT subject, offer, kind, until, actor, chosen_at FROM choices ORDER BY subject, chosen_at")
	return all, err
}

func bySubject(all []choice.Choice) map[string][]choice.Choice {
	choices := map[string][]choice.Choice{}
	for _, c := range all {
		choices[c.Subject] = append(choices[c.Subject], c)
	}
	return choices
}

// choicesBySubject returns the choices of the file as memory is to have them.
func (t tx) choicesBySubject() (map[string][]choice.Choice, error) {
	all, err := readChoices(t.ctx, t.conn)
	return bySubject(all), err
}

// loadChoices fills the memory from the file.
func (s *Store) loadChoices(ctx context.Context) error {
	all, err := readChoices(ctx, s.reader)
	choices := bySubject(all)
	s.choices.Store(&choices)
	return s.wrap("read choices", err)
}

// changeChoices runs fn as one transaction, and brings the memory up to date.
func (s *Store) changeChoices(ctx context.Context, doing string, fn func(tx) error) error {
	var after map[string][]choice.Choice
	return s.write(ctx, doing, func(t tx) (err error) {
		if err = fn(t); err == nil {
			after, err = t.choicesBySubject()
		}
		return err
	}, func() {
		s.choices.Store(&after)
		s.bus.Wake()
	})
}

// PutChoice implements choice.Store.
func (s *Store) PutChoice(ctx context.Context, c choice.Choice, with *choice.SignedLinkUse, ev ...event.Event) error {
	return s.changeChoices(ctx, "store a choice", func(t tx) error {
		if with != nil {
			if err := s.useLink(t, *with); err != nil {
				return err
			}
		}
		if err := t.putChoice(c); err != nil {
			return err
		}
		return s.append(t, ev)
	})
}

func (t tx) putChoice(c choice.Choice) error {
	offer := ""
	if c.Update != (update.Key{}) {
		offer = c.Update.String()
	}
	_, err := t.exec("INSERT OR REPLACE INTO choices (subject, version, offer, kind, until, actor, chosen_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
		c.Subject, c.Version(), offer, string(c.Kind), millis(c.Until.Time), c.Actor, millis(c.At.Time))
	return err
}

// DeleteChoices implements choice.Store.
func (s *Store) DeleteChoices(ctx context.Context, subject string, ev ...event.Event) error {
	return s.changeChoices(ctx, "delete choices", func(t tx) error {
		if _, err := t.exec("DELETE FROM choices WHERE subject = ?", subject); err != nil {
			return err
		}
		return s.append(t, ev)
	})
}

// pruneChoices deletes the choices that have been without effect since a time: those that
// have ended, those of containers that were gone by then, and those about a version that
// their container had reached by then, or that its registry had no more.
func (t tx) pruneChoices(before int64) error {
	if _, err := t.exec("DELETE FROM choices WHERE until > 0 AND until < ?", before); err != nil {
		return err
	}
	_, err := t.exec(`DELETE FROM choices WHERE max(chosen_at, until) < ?1
		AND subject NOT IN (SELECT subject FROM events WHERE at >= ?1 AND type IN (?2, ?3, ?4))
		AND (subject NOT IN (SELECT watcher || '/' || name FROM containers) OR version <> '' AND NOT EXISTS (
			SELECT 1 FROM candidates AS f, json_each(f.doc, '$.candidates') AS k WHERE f.subject = choices.subject
				AND CASE k.value ->> '$.kind' WHEN ?5 THEN k.value ->> '$.digest' ELSE k.value ->> '$.tag' END = choices.version))`,
		before, string(event.ContainerRemoved), string(event.ContainerReplaced), string(event.UpdateCleared), sdk.KindDigest)
	if err != nil {
		return fmt.Errorf("choices: %w", err)
	}
	return nil
}
