package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
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

// backlogs are the events up to which triggers are not notified of single updates, by their ids. The backlog of a
// trigger that was not notified of it yet has no end.
type backlogs struct{ upTo map[string]int64 }

const notYet = int64(1<<63 - 1)

// covers reports whether an event is part of the backlog of a trigger.
func (b backlogs) covers(t Trigger, e event.Event) bool { return e.ID <= b.upTo[t.ID] }

// backlogsOf returns those of triggers, and plans the messages about what waits, as far as the events
// tell that the first check is over. Only the planner calls it.
func (d *Dispatcher) backlogsOf(ctx context.Context, triggers []Trigger, events []event.Event) (backlogs, error) {
	known := backlogs{upTo: map[string]int64{}}
	for _, e := range events {
		if e.Check != nil && !e.Check.Single && (e.Type == event.CheckFinished || e.Type == event.CheckFailed) {
			d.checked[e.Check.Watcher] = true
		}
	}
	for _, t := range triggers {
		if !t.hasBacklog() {
			continue
		}
		have, err := d.backlogEnd(ctx, t)
		if err != nil {
			return known, err
		}
		if have.Due.IsZero() {
			if have, err = d.announceBacklog(ctx, t, events[len(events)-1].ID); err != nil {
				return known, err
			}
		}
		known.upTo[t.ID] = have.Event
	}
	return known, nil
}

// hasBacklog reports whether a trigger is notified of what waits at once, or not at all, rather than of each update.
func (t Trigger) hasBacklog() bool {
	return t.Auto && t.Summary == nil && (t.Backlog == BacklogSummary || t.Backlog == BacklogNone)
}

// backlogKey is under which the store has when the backlog of a trigger ended.
func backlogKey(t Trigger) string { return backlogSubject + " of " + t.ID }

// backlogEnd returns up to which event the backlog of a trigger goes; zero while it has not ended.
func (d *Dispatcher) backlogEnd(ctx context.Context, t Trigger) (delivery.Summary, error) {
	key := backlogKey(t)
	if have, known := d.announced[key]; known {
		return have, nil
	}
	have, err := d.opt.Store.LastSummary(ctx, key)
	if err == nil && !have.Due.IsZero() {
		d.announced[key] = have
	}
	return have, err
}

// announceBacklog plans the message about what waits when the first checks are over, and nothing is stored that the
// events up to upTo do not tell of. Until then, nothing is told of single updates.
func (d *Dispatcher) announceBacklog(ctx context.Context, t Trigger, upTo int64) (delivery.Summary, error) {
	unchecked := func(watcher string) bool { return !d.checked[watcher] }
	if len(d.checked) == 0 || slices.ContainsFunc(d.opt.CheckedAtStart(), unchecked) {
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
	if err := d.opt.Store.PlanSummary(ctx, backlogKey(t), now, ds...); err != nil {
		return now, err
	}
	d.log.Info("the trigger runs for the first time", "trigger", t.ID, "waiting", waiting.open(), "messages", len(ds))
	d.announced[backlogKey(t)] = now
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
		Trigger: t.ID, Subject: backlogSubject, Fingerprint: hash(backlogSubject), Event: now.Event, Batch: true,
		Payload: payload,
	}
}

// Older reports whether an installation has planned deliveries before triggers had backlogs.
func Older(ctx context.Context, s Store) (bool, error) {
	have, err := s.LastSummary(ctx, backlogSubject)
	if err != nil || !have.Due.IsZero() {
		return have.Event > 0, err
	}
	cursor, err := s.Cursor(ctx, Reader)
	return cursor > 0, err
}

// markOlderBacklogs notes, of an installation that has planned deliveries before triggers had backlogs, that
// its triggers know what waits.
func (d *Dispatcher) markOlderBacklogs(ctx context.Context) error {
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
			if err := d.opt.Store.PlanSummary(ctx, backlogKey(t), now); err != nil {
				return err
			}
		}
	}
	return d.opt.Store.PlanSummary(ctx, all, now)
}
