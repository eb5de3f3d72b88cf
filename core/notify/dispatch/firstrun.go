package dispatch

import (
	"context"
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/hashicorp/go-hclog"
)

// backlogSubject is the subject of the delivery about what waits when a trigger runs for the first time.
const backlogSubject = "backlog"

// backlogs are the events up to which triggers are not notified of single updates, by their ids. The backlog of a
// trigger that was not notified of it yet has no end.
type backlogs struct{ upTo map[string]int64 }

const notYet = int64(1<<63 - 1)

// covers reports whether an event is part of the backlog of a trigger.
func (b backlogs) covers(t Trigger, e event.Event) bool { return e.ID <= b.upTo[t.ID] }

// firstRuns notify triggers of what waits when they run for the first time.
type firstRuns struct {
	opt Options
	log hclog.Logger
	// checked are the watchers that were checked since the start, announced is when the backlogs of triggers ended,
	// and older whether those of an older installation are noted.
	checked   map[string]bool
	announced map[string]delivery.Summary
	older     bool
}

// backlogs returns those of triggers, and plans the messages about what waits, as far as the events
// tell that the first check is over.
func (f *firstRuns) backlogs(ctx context.Context, triggers []Trigger, events []event.Event) (backlogs, error) {
	known := backlogs{upTo: map[string]int64{}}
	if !f.older {
		if err := f.markOlder(ctx); err != nil {
			return known, err
		}
		f.older = true
	}
	for _, e := range events {
		if e.Check != nil && !e.Check.Single && (e.Type == event.CheckFinished || e.Type == event.CheckFailed) {
			f.checked[e.Check.Watcher] = true
		}
	}
	for _, t := range triggers {
		if !t.hasBacklog() {
			continue
		}
		have, err := f.end(ctx, t)
		if err != nil {
			return known, err
		}
		if have.Due.IsZero() {
			if have, err = f.announce(ctx, t, events[len(events)-1].ID); err != nil {
				return known, err
			}
		}
		known.upTo[t.ID] = have.Event
	}
	return known, nil
}

// backlogKey is under which the store has when the backlog of a trigger ended.
func backlogKey(t Trigger) string { return backlogSubject + " of " + t.ID }

// end returns up to which event the backlog of a trigger goes; zero while it has not ended.
func (f *firstRuns) end(ctx context.Context, t Trigger) (delivery.Summary, error) {
	key := backlogKey(t)
	if have, known := f.announced[key]; known {
		return have, nil
	}
	have, err := f.opt.Store.LastSummary(ctx, key)
	if err == nil && !have.Due.IsZero() {
		f.announced[key] = have
	}
	return have, err
}

// announce plans the message about what waits when the first checks are over, somebody receives it, and nothing is
// stored that the events up to upTo do not tell of. Until then, nothing is told of single updates.
func (f *firstRuns) announce(ctx context.Context, t Trigger, upTo int64) (delivery.Summary, error) {
	unchecked := func(watcher string) bool { return !f.checked[watcher] }
	nobody := t.Received != nil && !t.Received(ctx)
	if nobody || len(f.checked) == 0 || slices.ContainsFunc(f.opt.CheckedAtStart(), unchecked) {
		return delivery.Summary{Event: notYet}, nil
	}
	waiting := summaryOf(t, f.opt.Stored(), nil)
	if last, err := f.opt.Store.LastEvent(ctx); err != nil || last != upTo {
		return delivery.Summary{Event: notYet}, err // the events that follow come at once
	}
	now := delivery.Summary{Due: f.opt.Now(), Event: upTo}
	ds := firstSummary{waiting}.plan(t, event.Event{ID: now.Event, At: now.Due})
	if err := f.opt.Store.PlanSummary(ctx, backlogKey(t), now, ds...); err != nil {
		return now, err
	}
	f.log.Info("the trigger runs for the first time", "trigger", t.ID, "waiting", waiting.open(), "messages", len(ds))
	f.announced[backlogKey(t)] = now
	return now, nil
}

// firstSummary plans the message about what waits, for triggers that want it.
type firstSummary struct{ summary summary }

func (p firstSummary) plan(t Trigger, e event.Event) []delivery.Delivery {
	open := p.summary.open()
	if open == 0 || t.Backlog != BacklogSummary {
		return nil
	}
	about := summaryPayload{
		Event: trigger.Event{Type: trigger.SummaryDue, At: sdk.TimeOf(e.At), Summary: p.summary.counts()},
		Title: fmt.Sprintf("%d updates are waiting", open), Body: p.summary.text(),
	}
	if open == 1 {
		about.Title = "1 update is waiting"
	}
	return []delivery.Delivery{newEventDelivery(t, e, backlogSubject, hash(backlogSubject), about)}
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

// markOlder notes, of an installation that has planned deliveries before triggers had backlogs, that
// its triggers know what waits.
func (f *firstRuns) markOlder(ctx context.Context) error {
	const all = backlogSubject
	have, err := f.opt.Store.LastSummary(ctx, all)
	if err != nil || !have.Due.IsZero() {
		return err
	}
	cursor, err := f.opt.Store.Cursor(ctx, Reader)
	if err != nil {
		return err
	}
	now := delivery.Summary{Due: f.opt.Now(), Event: cursor}
	if cursor > 0 {
		for _, t := range f.opt.Triggers.All() {
			if err := f.opt.Store.PlanSummary(ctx, backlogKey(t), now); err != nil {
				return err
			}
		}
	}
	return f.opt.Store.PlanSummary(ctx, all, now)
}
