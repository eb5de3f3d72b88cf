package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// renameUndone is for how long a container that is new under a name is taken for the
	// one that had it: engines and Compose rename the old one, and make the new one then.
	renameUndone = time.Hour
	// recentEvents is how many events at most are looked through for that.
	recentEvents = 2000
	// renamesWithin is how many are looked through for a name that a link has.
	renamesWithin = 20_000
)

// moveChoices lets choices follow their containers in a change, and reports whether any
// was moved. A container that has another name than before takes its choices with it, but
// for approvals that were acted on. It takes none when another container has its old name
// now, or will have it since an operation is under way: then it was recreated. Of one that
// is new under a name from which choices were taken shortly before, the same is true, so
// that it gets them back.
func (s *Store) moveChoices(t tx, ch event.Change, next *Snapshot) (moved bool, err error) {
	choices := s.ChoicesBySubject()
	if len(choices) == 0 || next == nil {
		return false, nil
	}
	old := s.snap.Load()
	var moves []choice.Choice // with their new subjects
	var fresh []string
	seen := map[string]bool{}
	for i := range ch.Put {
		id := ch.Put[i].ID
		now, stays := next.byID[id]
		if seen[id] || !stays {
			continue
		}
		seen[id] = true
		was, known := old.byID[id]
		to := event.Subject(now.Container)
		if !known {
			if _, recreated := old.byName[identityOf(&now.Container)]; !recreated {
				fresh = append(fresh, to)
			}
			continue
		}
		if identityOf(&was.Container) == identityOf(&now.Container) {
			continue
		}
		if taker, taken := next.byName[identityOf(&was.Container)]; taken && old.byID[taker.Container.ID] == nil {
			continue
		}
		// An operation gives the old container a name with its id, and may have ended since it was listed.
		var replacing int
		if err := t.row("SELECT count(*) FROM operations WHERE watcher = ? AND name = ? AND (state IN ('queued', 'running') OR instr(?, id) > 0)",
			was.Container.Watcher, was.Container.Name, now.Container.Name).Scan(&replacing); err != nil {
			return false, err
		}
		if replacing > 0 {
			continue
		}
		for _, c := range choices[event.Subject(was.Container)] {
			if used, err := t.isUsed(c, &was.Container); err != nil {
				return false, err
			} else if used {
				continue
			}
			if _, err := t.exec("DELETE FROM choices WHERE subject = ? AND version = ?", c.Subject, c.Version()); err != nil {
				return false, err
			}
			moves = append(moves, about(c, to))
		}
	}
	returned, err := s.returning(t, fresh)
	if err != nil {
		return false, err
	}
	moves = append(moves, returned...)
	for _, c := range moves {
		if err := t.putChoice(c); err != nil {
			return false, err
		}
	}
	return len(moves) > 0, nil
}

// returning returns the choices that were taken along from the names of new containers. The
// container that took them keeps them, too, but for approvals: those are for one update.
func (s *Store) returning(t tx, fresh []string) (back []choice.Choice, err error) {
	if len(fresh) == 0 {
		return nil, nil
	}
	takers := map[string]string{} // by the subject before
	err = eachRow(t.ctx, t.conn, func(scan scanner) error {
		var to, from, watcher string
		err := scan(&to, &from, &watcher)
		takers[event.Subject(sdk.Container{Watcher: watcher, Name: from})] = to
		return err
	}, `SELECT subject, doc ->> '$.from', doc ->> '$.container.watcher' FROM events
		WHERE id > (SELECT max(id) FROM events) - ? AND at >= ? AND type = ? ORDER BY id`, recentEvents,
		millis(s.now().Add(-renameUndone)), string(event.ContainerRenamed))
	if err != nil {
		return nil, err
	}
	for _, subject := range fresh {
		all := s.ChoicesBySubject()
		for _, c := range all[takers[subject]] {
			if slices.ContainsFunc(all[subject], func(later choice.Choice) bool { return later.Version() == c.Version() }) {
				continue
			}
			if c.Kind == choice.Approved {
				if _, err := t.exec("DELETE FROM choices WHERE subject = ? AND version = ?", c.Subject, c.Version()); err != nil {
					return nil, err
				}
			}
			back = append(back, about(c, subject))
		}
	}
	return back, nil
}

// RenamedTo returns the name that a container of a watcher got when it last lost a name;
// "" when that is not known.
func (s *Store) RenamedTo(ctx context.Context, watcher, name string) (to string, err error) {
	row := s.reader.QueryRowContext(ctx,
		`SELECT doc ->> '$.container.name' FROM events WHERE id > (SELECT max(id) FROM events) - ? AND type = ?
		AND doc ->> '$.from' = ? AND doc ->> '$.container.watcher' = ? ORDER BY id DESC LIMIT 1`, renamesWithin,
		string(event.ContainerRenamed), name, watcher)
	if err = row.Scan(&to); errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return to, s.wrap("read the new name of a container", err)
}

// isUsed reports whether a choice is an approval with which an update of the container has begun.
func (t tx) isUsed(c choice.Choice, container *sdk.Container) (used bool, err error) {
	if c.Kind != choice.Approved {
		return false, nil
	}
	err = eachRow(t.ctx, t.conn, func(scan scanner) error {
		var offer string
		if err := scan(&offer); err != nil {
			return err
		}
		key, err := update.Parse(offer)
		used = used || err == nil && key.SameTarget(c.Update)
		return nil
	}, "SELECT offer FROM operations WHERE watcher = ? AND name = ? AND kind = 'update' AND updated_at >= ?",
		container.Watcher, container.Name, millis(c.At.Time))
	return used, err
}

// about returns a choice as one about another container.
func about(c choice.Choice, subject string) choice.Choice {
	c.Subject = subject
	if c.Update != (update.Key{}) {
		c.Update.Subject = subject
	}
	return c
}
