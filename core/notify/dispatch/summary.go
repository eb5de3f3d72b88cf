package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/hashicorp/go-hclog"
)

const (
	// summarySubject is the subject of deliveries of summaries.
	summarySubject = "summary"
	// summaryPage is how many events are read at a time for a summary.
	summaryPage = 500
	// maxMissed bounds how many times that passed are looked at to find the last one:
	// more than a year of days.
	maxMissed = 400
)

// summaries plan what triggers in summary mode are told, when it is due.
type summaries struct {
	opt Options
	log hclog.Logger

	mu sync.Mutex
	// last is until when the summaries of triggers have come, as the store has it.
	last map[string]delivery.Summary
}

// plan plans the summary of a trigger that was due since the last one, if any, and
// returns how long it is until the next is due. Of several that were due while Dogwatch did
// not run, one is sent, about all of that time.
func (s *summaries) plan(ctx context.Context, t Trigger) (time.Duration, error) {
	now := s.opt.Now()
	last, err := s.lastOf(ctx, t, now)
	if err != nil {
		return 0, err
	}
	due := t.Summary.Next(last.Due)
	if due.IsZero() || due.After(now) {
		return untilNext(due, now), nil
	}
	for range maxMissed {
		next := t.Summary.Next(due)
		if next.IsZero() || next.After(now) {
			break
		}
		due = next
	}
	upTo, ended, err := s.endedSince(ctx, t, last.Event)
	if err != nil {
		return 0, err
	}
	planned := delivery.Summary{Due: due, Event: upTo}
	ds := dueSummary{summaryOf(t, s.opt.Stored(), ended), last.Due, s.log}.plan(t, event.Event{ID: upTo, At: due})
	if err := s.opt.Store.PlanSummary(ctx, t.ID, planned, ds...); err != nil {
		return 0, err
	}
	s.log.Info("summary planned", "trigger", t.ID, "due", sdk.TimeOf(due), "messages", len(ds))
	s.mu.Lock()
	s.last[t.ID] = planned
	s.mu.Unlock()
	return untilNext(t.Summary.Next(due), now), nil
}

// untilNext is how long it is until a time, or for ever.
func untilNext(due, now time.Time) time.Duration {
	if due.IsZero() {
		return maxIdle
	}
	return max(due.Sub(now), 0)
}

// lastOf returns until when the summaries of a trigger have come. The first is
// about what happens from now on.
func (s *summaries) lastOf(ctx context.Context, t Trigger, now time.Time) (delivery.Summary, error) {
	s.mu.Lock()
	last, known := s.last[t.ID]
	s.mu.Unlock()
	if known {
		return last, nil
	}
	last, err := s.opt.Store.LastSummary(ctx, t.ID)
	if err != nil {
		return last, err
	}
	if last.Due.IsZero() {
		if last.Event, err = s.opt.Store.LastEvent(ctx); err != nil {
			return last, err
		}
		last.Due = now
		if err := s.opt.Store.PlanSummary(ctx, t.ID, last); err != nil {
			return last, err
		}
	}
	s.mu.Lock()
	s.last[t.ID] = last
	s.mu.Unlock()
	return last, nil
}

// endedSince returns the ends of operations after an event that a trigger is notified of,
// oldest first, and the id of the last event that was read.
func (s *summaries) endedSince(
	ctx context.Context, t Trigger, after int64,
) (upTo int64, all []event.Event, err error) {
	for upTo = after; ; {
		page, err := s.opt.Store.Events(ctx, upTo, summaryPage)
		if err != nil {
			return 0, nil, err
		}
		for _, e := range page {
			upTo = e.ID
			if _, ended := endOf(e); ended && isOf(t, e, s.opt.Containers) {
				all = append(all, e)
			}
		}
		if len(page) < summaryPage {
			return upTo, all, nil
		}
	}
}

// dueSummary plans a summary that is due, about what was done since then. There is one for each time, however often it
// is planned.
type dueSummary struct {
	summary summary
	since   time.Time
	log     hclog.Logger
}

func (p dueSummary) plan(t Trigger, e event.Event) []delivery.Delivery {
	if p.summary.empty() && !t.SummaryEmpty {
		return nil
	}
	about := summaryPayload{Event: trigger.Event{
		Type: trigger.SummaryDue, Since: sdk.TimeOf(p.since), At: sdk.TimeOf(e.At), Summary: p.summary.counts(),
	}}
	var err error
	if about.Title, about.Body, err = t.Messages.summary(p.summary, about.Event); err != nil {
		// A message with a gap is better than none.
		p.log.Warn("render a template", "trigger", t.ID, "error", err)
	}
	fingerprint := hash(summarySubject, fmt.Sprint(e.At.Unix()))
	return []delivery.Delivery{newEventDelivery(t, e, summarySubject, fingerprint, about)}
}

// summaryOf returns what ended and what is to be decided now, of the stored containers
// that are a trigger's.
func summaryOf(t Trigger, stored []*sdk.Container, ended []event.Event) summary {
	var s summary
	for _, e := range ended {
		if e.Type == event.OperationSucceeded {
			s.updated = append(s.updated, e)
		} else {
			s.failed = append(s.failed, e)
		}
	}
	for _, now := range stored {
		c, state := *now, tally.State(now)
		if _, associated := Associated(t.ID, t.IncludeByDefault, c); associated && tally.Failed(now) {
			s.unchecked = append(s.unchecked, c)
		}
		if state == "" {
			continue
		}
		if state == sdk.StateHeld { // of which triggers are not notified otherwise
			if accepts(t, c) {
				s.held = append(s.held, c)
			}
			continue
		}
		c, accepted := offeredTo(t, c)
		switch {
		case !accepted:
		case state == sdk.StateAutomatic:
			s.automatic = append(s.automatic, c)
		case tally.Approval(&c):
			s.approval = append(s.approval, c)
		default:
			s.offered = append(s.offered, c)
		}
	}
	for _, list := range [][]sdk.Container{s.approval, s.offered, s.automatic, s.held, s.unchecked} {
		slices.SortFunc(list, func(a, b sdk.Container) int {
			return cmp.Or(cmp.Compare(a.Watcher, b.Watcher), cmp.Compare(a.Name, b.Name))
		})
	}
	return s
}
