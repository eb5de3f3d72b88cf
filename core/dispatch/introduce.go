package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Backlog is what a trigger is notified of when it runs for the first time.
type Backlog string

const (
	// BacklogEach has it run for what waits as if that had just been found.
	BacklogEach Backlog = "each"
	// BacklogSummary sends one message about all that waits, after the first check.
	BacklogSummary Backlog = "summary"
	// BacklogNone leaves out what waits then.
	BacklogNone Backlog = "none"
)

// backlogSubject is the subject of the delivery about what waits when a trigger runs for the first time.
const backlogSubject = "backlog"

// introductions are the events up to which triggers are not notified of single updates, by their ids:
// those of a trigger that was not introduced yet have no end.
type introductions struct{ upTo map[string]int64 }

const notYet = int64(1<<63 - 1)

// covers reports whether an event is part of the backlog of a trigger.
func (i introductions) covers(t Trigger, e event.Event) bool { return e.ID <= i.upTo[t.ID] }

// introductions returns those of triggers, and introduces triggers to what waits, as far as the events
// tell that the first check is over. Only the planner calls it.
func (d *Dispatcher) introduce(ctx context.Context, triggers []Trigger, events []event.Event) (introductions, error) {
	known := introductions{upTo: map[string]int64{}}
	for _, e := range events {
		if e.Check != nil && !e.Check.Single && (e.Type == event.CheckFinished || e.Type == event.CheckFailed) {
			d.checked[e.Check.Watcher] = true
		}
	}
	for _, t := range triggers {
		if !t.hasBacklog() {
			continue
		}
		have, err := d.introduction(ctx, t)
		if err != nil {
			return known, err
		}
		if have.Due.IsZero() {
			if have, err = d.introduceOne(ctx, t, events[len(events)-1].ID); err != nil {
				return known, err
			}
		}
		known.upTo[t.ID] = have.Event
	}
	return known, nil
}

// hasBacklog reports whether a trigger is introduced to what waits, rather than notified of each update.
func (t Trigger) hasBacklog() bool {
	return t.Auto && t.Summary == nil && (t.Backlog == BacklogSummary || t.Backlog == BacklogNone)
}

// introductionKey is under which the store has when a trigger was introduced.
func introductionKey(t Trigger) string { return backlogSubject + " of " + t.ID }

func (d *Dispatcher) introduction(ctx context.Context, t Trigger) (delivery.Summary, error) {
	key := introductionKey(t)
	if have, known := d.introduced[key]; known {
		return have, nil
	}
	have, err := d.opt.Store.LastSummary(ctx, key)
	if err == nil && !have.Due.IsZero() {
		d.introduced[key] = have
	}
	return have, err
}

// introduceOne plans the message about what waits when the first checks are over, and nothing is stored that the
// events up to upTo do not tell of. Until then, nothing is told of single updates.
func (d *Dispatcher) introduceOne(ctx context.Context, t Trigger, upTo int64) (delivery.Summary, error) {
	if len(d.checked) == 0 || slices.ContainsFunc(d.opt.CheckedAtStart(), func(w string) bool { return !d.checked[w] }) {
		return delivery.Summary{Event: notYet}, nil
	}
	waiting := d.summaryOf(t, nil)
	if last, err := d.opt.Store.LastEvent(ctx); err != nil || last != upTo {
		return delivery.Summary{Event: notYet}, err // the events that follow come at once
	}
	now := delivery.Summary{Due: d.opt.Now(), Event: upTo}
	var ds []delivery.Delivery
	if n := waiting.open(); n > 0 && t.Backlog == BacklogSummary {
		ds = append(ds, newBacklogDelivery(t, waiting, now))
	}
	if err := d.opt.Store.PlanSummary(ctx, introductionKey(t), now, ds...); err != nil {
		return now, err
	}
	d.log.Info("the trigger runs for the first time", "trigger", t.ID, "waiting", waiting.open(), "messages", len(ds))
	d.introduced[introductionKey(t)] = now
	return now, nil
}

// open is how many updates wait and can be carried out, or will be.
func (s summary) open() int { return len(s.approval) + len(s.offered) + len(s.automatic) }

// newBacklogDelivery returns the delivery about what waits.
func newBacklogDelivery(t Trigger, s summary, now delivery.Summary) delivery.Delivery {
	p := summaryPayload{Event: trigger.Event{Type: trigger.SummaryDue, At: sdk.TimeOf(now.Due), Summary: s.counts()}}
	p.Title, p.Body = fmt.Sprintf("%d updates are waiting", s.open()), s.text()
	if s.open() == 1 {
		p.Title = "1 update is waiting"
	}
	payload, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("encode a backlog: %v", err)) // plain data; cannot fail
	}
	return delivery.Delivery{
		Trigger: t.ID, Subject: backlogSubject, Fingerprint: hash(backlogSubject), Event: now.Event, Batch: true, Payload: payload,
	}
}

// Older reports whether an installation has planned deliveries before there were introductions.
func Older(ctx context.Context, s Store) (bool, error) {
	have, err := s.LastSummary(ctx, backlogSubject)
	if err != nil || !have.Due.IsZero() {
		return have.Event > 0, err
	}
	cursor, err := s.Cursor(ctx, Reader)
	return cursor > 0, err
}

// introduceOlder notes, of an installation that has planned deliveries before there were introductions, that
// its triggers know what waits.
func (d *Dispatcher) introduceOlder(ctx context.Context) error {
	const all = backlogSubject
	have, err := d.opt.Store.LastSummary(ctx, all)
	if err != nil || !have.Due.IsZero() {
		return err
	}
	cursor, err := d.opt.Store.Cursor(ctx, Reader)
	if err != nil {
		return err
	}
	now := delivery.Summary{Due: d.opt.Now(), Event: cursor}
	if cursor > 0 {
		for _, t := range d.opt.Triggers.All() {
			if err := d.opt.Store.PlanSummary(ctx, introductionKey(t), now); err != nil {
				return err
			}
		}
	}
	return d.opt.Store.PlanSummary(ctx, all, now)
}
