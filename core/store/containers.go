package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// Snapshot returns the containers as of the last commit. It is cheap.
func (s *Store) Snapshot() Snapshot { return *s.snap.Load() }

// Containers returns copies of all containers in the order of Snapshot.All; they
// are the caller's to change.
func (s *Store) Containers(context.Context) ([]sdk.Container, error) {
	all := s.Snapshot().All()
	out := make([]sdk.Container, len(all))
	for i, r := range all {
		out[i] = clone(r.Container)
	}
	return out, nil
}

// Commit stores a change and its events in one transaction, then wakes the
// readers of the log. On an error nothing has changed, in the file or in memory.
// Only containers that differ are written; a container that replaces another of
// the same watcher and name keeps its first seen time. Removals apply before
// additions, and of two containers added under one name the later wins.
func (s *Store) Commit(ctx context.Context, ch event.Change) error {
	var d diff
	return s.write(ctx, "save containers and events", func(t tx) (err error) {
		d, err = s.apply(t, ch)
		return err
	}, func() { s.applied(d) })
}

// apply writes a change to the file. Once that is committed, applied must be called.
func (s *Store) apply(t tx, ch event.Change) (d diff, err error) {
	for i := range ch.Put {
		if c := &ch.Put[i]; c.ID == "" || c.Watcher == "" || c.Name == "" {
			return d, fmt.Errorf("container %q of watcher %q has id %q: all three are needed", c.Name, c.Watcher, c.ID)
		}
	}
	if d, err = s.compare(ch); err != nil {
		return d, err
	}
	if err := each(t, "DELETE FROM containers WHERE id = ?", d.gone, func(id string) []any {
		return []any{id}
	}); err != nil {
		return d, err
	}
	if err := each(t, `INSERT OR REPLACE INTO containers (id, watcher, name, first_seen, found_at, checked_at, repos, doc)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, d.changed, containerRow.args); err != nil {
		return d, err
	}
	if err := each(t, "UPDATE containers SET checked_at = ? WHERE id = ?", d.checked, func(r *Record) []any {
		return []any{millis(r.CheckedAt), r.Container.ID}
	}); err != nil {
		return d, err
	}
	if err := t.putCandidates(ch.Candidates); err != nil {
		return d, err
	}
	moved, err := s.moveChoices(t, ch, d.next)
	if err != nil {
		return d, fmt.Errorf("move choices: %w", err)
	}
	if moved {
		if d.choices, err = t.choicesBySubject(); err != nil {
			return d, err
		}
	}
	return d, s.append(t, ch.Events)
}

// applied brings the memory up to date and wakes the readers of the log.
func (s *Store) applied(d diff) {
	if d.next != nil {
		s.snap.Store(d.next)
	}
	if d.choices != nil {
		s.choices.Store(&d.choices)
	}
	s.bus.Wake()
}

// diff is what a change means for the file and for memory.
type diff struct {
	gone    []string                   // ids to delete
	changed []containerRow             // to write whole
	checked []*Record                  // only their check time moved
	next    *Snapshot                  // nil when the containers are as before
	choices map[string][]choice.Choice // nil when they are as before
}

// containerRow is a record with the forms that only the file holds.
type containerRow struct {
	*Record
	repos, doc []byte
}

func (r containerRow) args() []any {
	c := &r.Container
	return []any{c.ID, c.Watcher, c.Name, millis(r.FirstSeen), millis(r.FoundAt), millis(r.CheckedAt), string(r.repos),
		string(r.doc)}
}

// compare works out what a change does to the current containers.
func (s *Store) compare(ch event.Change) (d diff, err error) {
	old := s.snap.Load()
	now := s.now().UTC().Truncate(time.Millisecond)

	leaving := make(map[string]bool, len(ch.Remove)+len(ch.Put)) // ids whose record is dropped or made anew
	for _, id := range ch.Remove {
		leaving[id] = true
	}
	ids, names := map[string]bool{}, map[identity]bool{}
	var records []*Record
	for i := range slices.Backward(ch.Put) { // so that the last word on an id or a name is met first
		c := &ch.Put[i]
		if ids[c.ID] {
			continue
		}
		ids[c.ID], leaving[c.ID] = true, true
		name := identityOf(c)
		if names[name] {
			continue
		}
		names[name] = true
		if before, ok := old.byName[name]; ok {
			leaving[before.Container.ID] = true
		}
		r, err := d.place(old, *c, now)
		if err != nil {
			return diff{}, err
		}
		records = append(records, r)
	}
	staying := make(map[string]bool, len(records))
	for _, r := range records {
		staying[r.Container.ID] = true
	}
	for id := range leaving {
		if _, known := old.byID[id]; known && !staying[id] {
			d.gone = append(d.gone, id)
		}
	}
	if len(d.gone)+len(d.changed)+len(d.checked) == 0 {
		return d, nil
	}
	for _, r := range old.all {
		if !leaving[r.Container.ID] {
			records = append(records, r)
		}
	}
	d.next = newSnapshot(old.version+1, records)
	return d, nil
}

// place returns the record for c and notes in d what has to be written for it.
// What c points to stays the caller's to change.
func (d *diff) place(old *Snapshot, c sdk.Container, now time.Time) (*Record, error) {
	c.Check.At = sdk.TimeOf(c.Check.At.Time)
	known := old.byID[c.ID]
	if known != nil && !update.Changed(&known.Container, &c, update.CheckTime) {
		return d.recheck(known, c.Check.At)
	}
	w := containerRow{Record: &Record{Container: clone(c), FirstSeen: now, CheckedAt: c.Check.At.Time, order: orderOf(&c)}}
	if c.UpdateAvailable {
		w.FoundAt = now
	}
	if before := cmp.Or(known, old.byName[identityOf(&c)]); before != nil {
		w.FirstSeen = before.FirstSeen
		if update.Equal(&before.Container, &c) {
			w.FoundAt = before.FoundAt
		}
	}
	var err error
	if w.JSON, err = encode(c); err != nil {
		return nil, err
	}
	c.Check.At = sdk.Time{}
	if w.doc, err = encode(c); err != nil {
		return nil, err
	}
	if w.repos, err = encode(c.Image.Digest.Repos); err != nil {
		return nil, err
	}
	d.changed = append(d.changed, w)
	return w.Record, nil
}

// recheck returns the record for a container that is as known, but for when it was checked.
func (d *diff) recheck(known *Record, checked sdk.Time) (*Record, error) {
	if checked.Equal(known.CheckedAt) {
		return known, nil
	}
	r := *known
	r.Container.Check.At, r.CheckedAt = checked, checked.Time
	var err error
	r.JSON, err = encode(r.Container)
	d.checked = append(d.checked, &r)
	return &r, err
}

// load fills the memory from the file.
func (s *Store) load(ctx context.Context) error {
	var records []*Record
	err := eachRow(ctx, s.reader, func(scan scanner) error {
		var id string
		var seen, found, checked int64
		var repos, doc []byte
		if err := scan(&id, &seen, &found, &checked, &repos, &doc); err != nil {
			return err
		}
		r, err := decode(doc, repos, instant(checked))
		if err != nil {
			// The next check finds the container again, and writes it whole.
			s.log.Warn("left out a stored container that this version cannot read", "container", id, "error", err)
			return nil
		}
		r.FirstSeen, r.FoundAt = instant(seen), instant(found)
		records = append(records, r)
		return nil
	}, "SELECT id, first_seen, found_at, checked_at, repos, doc FROM containers")
	if err != nil {
		return s.wrap("read containers", err)
	}
	// A random start keeps a browser's entity tag of an earlier process from matching by chance.
	s.snap.Store(newSnapshot(rand.Uint64(), records))
	return s.loadChoices(ctx)
}

func decode(doc, repos []byte, checked time.Time) (*Record, error) {
	r := &Record{CheckedAt: checked}
	if err := json.Unmarshal(doc, &r.Container); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(repos, &r.Container.Image.Digest.Repos); err != nil {
		return nil, err
	}
	r.Container.Check.At = sdk.TimeOf(checked)
	r.order = orderOf(&r.Container)
	var err error
	r.JSON, err = encode(r.Container)
	return r, err
}

// clone returns a copy that shares nothing that can change.
func clone(c sdk.Container) sdk.Container {
	c.Labels, c.ImageLabels = maps.Clone(c.Labels), slices.Clone(c.ImageLabels)
	c.Image.Digest.Repos, c.Skipped = slices.Clone(c.Image.Digest.Repos), slices.Clone(c.Skipped)
	c.Result = clonedResult(c.Result)
	c.Error = cloned(c.Error)
	c.UpdateKind.Result = clonedResult(c.UpdateKind.Result)
	if c.Decision = cloned(c.Decision); c.Decision != nil {
		c.Decision.Reasons = slices.Clone(c.Decision.Reasons)
	}
	return c
}

func clonedResult(r *sdk.Result) *sdk.Result {
	if r = cloned(r); r == nil || r.Levels == nil {
		return r
	}
	r.Levels = &sdk.Levels{Patch: cloned(r.Levels.Patch), Minor: cloned(r.Levels.Minor), Major: cloned(r.Levels.Major)}
	return r
}

func cloned[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
