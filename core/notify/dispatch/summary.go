package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	// summarySubject is the subject of deliveries of summaries.
	summarySubject = "summary"
	// summaryPage is how many events are read at a time for a summary.
	summaryPage = 500
	// summaryLines is at most how many containers each part of a summary names.
	summaryLines = 50
	// namesListed is at most how many containers a line about what they have in common names.
	namesListed = 9
	// maxMissed bounds how many times that passed are looked at to find the last one:
	// more than a year of days.
	maxMissed = 400
)

// Moments are the times at which summaries are due.
type Moments interface {
	// Next returns the first one after a time; zero if there is none.
	Next(after time.Time) time.Time
}

// summaryPayload is the payload of the delivery of a summary: its texts are those of when it was due.
type summaryPayload struct {
	trigger.Event
	Title string `json:"title"`
	Body  string `json:"body"`
}

// NextSummary returns when the next summary of a trigger is due; zero if it sends none.
func (t Trigger) NextSummary(now time.Time) time.Time {
	if t.Summary == nil {
		return time.Time{}
	}
	return t.Summary.Next(now)
}

// summarize plans the summary of a trigger that was due since the last one, if any, and
// returns how long it is until the next is due. Of several that were due while Dogwatch did
// not run, one is sent, about all of that time.
func (d *Dispatcher) summarize(ctx context.Context, t Trigger) (time.Duration, error) {
	now := d.opt.Now()
	last, err := d.lastSummary(ctx, t, now)
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
	upTo, ended, err := d.endedSince(ctx, t, last.Event)
	if err != nil {
		return 0, err
	}
	planned := delivery.Summary{Due: due, Event: upTo}
	var ds []delivery.Delivery
	if s := d.summaryOf(t, ended); !s.empty() || t.SummaryEmpty {
		ds = append(ds, d.newSummaryDelivery(t, s, last.Due, planned))
	}
	if err := d.opt.Store.PlanSummary(ctx, t.ID, planned, ds...); err != nil {
		return 0, err
	}
	d.log.Info("summary planned", "trigger", t.ID, "due", sdk.TimeOf(due), "messages", len(ds))
	d.mu.Lock()
	d.summarized[t.ID] = planned
	d.mu.Unlock()
	return untilNext(t.Summary.Next(due), now), nil
}

// untilNext is how long it is until a time, or for ever.
func untilNext(due, now time.Time) time.Duration {
	if due.IsZero() {
		return maxIdle
	}
	return max(due.Sub(now), 0)
}

// lastSummary returns until when the summaries of a trigger have come. The first is
// about what happens from now on.
func (d *Dispatcher) lastSummary(ctx context.Context, t Trigger, now time.Time) (delivery.Summary, error) {
	d.mu.Lock()
	last, known := d.summarized[t.ID]
	d.mu.Unlock()
	if known {
		return last, nil
	}
	last, err := d.opt.Store.LastSummary(ctx, t.ID)
	if err != nil {
		return last, err
	}
	if last.Due.IsZero() {
		if last.Event, err = d.opt.Store.LastEvent(ctx); err != nil {
			return last, err
		}
		last.Due = now
		if err := d.opt.Store.PlanSummary(ctx, t.ID, last); err != nil {
			return last, err
		}
	}
	d.mu.Lock()
	d.summarized[t.ID] = last
	d.mu.Unlock()
	return last, nil
}

// endedSince returns the ends of operations after an event that a trigger is notified of,
// oldest first, and the id of the last event that was read.
func (d *Dispatcher) endedSince(
	ctx context.Context, t Trigger, after int64,
) (upTo int64, ended []event.Event, err error) {
	for upTo = after; ; {
		page, err := d.opt.Store.Events(ctx, upTo, summaryPage)
		if err != nil {
			return 0, nil, err
		}
		for _, e := range page {
			upTo = e.ID
			if _, is := endOf(e); is && d.concerns(t, e) {
				ended = append(ended, e)
			}
		}
		if len(page) < summaryPage {
			return upTo, ended, nil
		}
	}
}

// concerns reports whether the container of an operation is one of a trigger's.
func (d *Dispatcher) concerns(t Trigger, e event.Event) bool {
	watcherName, name, _ := strings.Cut(e.Subject, "/")
	c, known := d.opt.Containers.ByName(watcherName, name)
	if !known {
		return true
	}
	_, associated := Associated(t.ID, t.IncludeByDefault, c)
	return associated
}

// summary is what a summary tells.
type summary struct {
	updated, failed                    []event.Event
	approval, offered, automatic, held []sdk.Container
	// unchecked are those whose checks fail now.
	unchecked []sdk.Container
}

// summaryOf returns what ended and what is to be decided now, of the containers of a trigger.
func (d *Dispatcher) summaryOf(t Trigger, ended []event.Event) summary {
	var s summary
	for _, e := range ended {
		if e.Type == event.OperationSucceeded {
			s.updated = append(s.updated, e)
		} else {
			s.failed = append(s.failed, e)
		}
	}
	for _, stored := range d.opt.Stored() {
		c, state := *stored, tally.State(stored)
		if _, associated := Associated(t.ID, t.IncludeByDefault, c); associated && tally.Failed(stored) {
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

// empty reports whether nothing was done and nothing is to be decided. What is held alone needs no message.
func (s summary) empty() bool {
	return len(s.updated)+len(s.failed)+len(s.approval)+len(s.offered)+len(s.automatic) == 0
}

func (s summary) counts() *trigger.Summary {
	return &trigger.Summary{
		Updated: len(s.updated), Failed: len(s.failed), Approval: len(s.approval), Offered: len(s.offered),
		Automatic: len(s.automatic), Held: len(s.held),
	}
}

// headline says in one line how many there are of each.
func (s summary) headline() string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{len(s.failed), "did not work"}, {len(s.updated), "updated"}, {len(s.approval), "to approve"},
		{len(s.offered), "offered"}, {len(s.automatic), "automatic"}, {len(s.held), "held"},
		{len(s.unchecked), "could not be checked"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing to do")
}

// text lists the containers, what needs the reader first.
func (s summary) text() string {
	var b strings.Builder
	part(&b, "Did not work", s.failed, func(e event.Event) string {
		return endLine(e) + ": " + cmp.Or(firstLine(e.Operation.Error), "no reason is known")
	})
	part(&b, "To approve", s.approval, updateLine)
	part(&b, "Offered", s.offered, updateLine)
	part(&b, "Updated", s.updated, endLine)
	part(&b, "Will be updated by rule", s.automatic, updateLine)
	part(&b, "Held", s.held, func(c sdk.Container) string { return updateLine(c) + heldBecause(c) })
	part(&b, "Could not be checked", tally.Failures(s.unchecked, failureOf), failureLine)
	return cmp.Or(strings.TrimSuffix(b.String(), "\n"), "Nothing was done, and nothing is to be decided.")
}

// part writes a title and a line for each.
func part[T any](b *strings.Builder, title string, list []T, line func(T) string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", title)
	for i, one := range list {
		if i == summaryLines {
			fmt.Fprintf(b, "- and %d more\n", len(list)-i)
			break
		}
		fmt.Fprintf(b, "- %s\n", line(one))
	}
	b.WriteString("\n")
}

// endLine says which update or rollback ended.
func endLine(e event.Event) string {
	_, name, _ := strings.Cut(e.Subject, "/")
	line := fmt.Sprintf("%s: %s → %s", name, shortImage(e.Operation.From), shortImage(e.Operation.To))
	if e.Operation.Kind == string(operation.Rollback) {
		line += ", a rollback"
	}
	if by := cmp.Or(e.Operation.Trigger, e.Operation.Actor); by != "" {
		line += ", by " + by
	}
	return line
}

func failureOf(c sdk.Container) (cause, err string) {
	if c.Error == nil {
		return "", "no reason is known"
	}
	return c.Error.Cause, firstLine(c.Error.Message)
}

// failureLine says why containers could not be checked, and which.
func failureLine(f tally.Failure[sdk.Container]) string {
	var names []string
	for _, c := range f.Of {
		names = append(names, c.Name)
	}
	if f.Detail != "" {
		return fmt.Sprintf("%s: %d containers (%s)", f.Text, len(names), enumerate(names, namesListed))
	}
	return fmt.Sprintf("%s: %s", enumerate(names, namesListed), f.Text)
}

// enumerate writes some of the names, and how many more there are.
func enumerate(names []string, most int) string {
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// updateLine says which update a container has.
func updateLine(c sdk.Container) string {
	u := c.UpdateKind
	if running, offered := tally.Versions(&c); running != "" {
		return fmt.Sprintf("%s: %s (%s → %s)", c.Name, c.Image.Tag.Value, running, offered)
	}
	if u.Kind == sdk.KindDigest {
		return fmt.Sprintf("%s: %s was rebuilt", c.Name, c.Image.Tag.Value)
	}
	line := fmt.Sprintf("%s: %s → %s", c.Name, u.LocalValue, u.RemoteValue)
	if u.SemverDiff != "" && u.SemverDiff != sdk.DiffUnknown {
		line += " (" + u.SemverDiff + ")"
	}
	return line
}

// heldBecause says what holds an update, and until when.
func heldBecause(c sdk.Container) string {
	if c.Decision == nil || len(c.Decision.Reasons) == 0 {
		return ""
	}
	r := c.Decision.Reasons[0]
	text := ", " + firstLine(r.Text)
	if !r.Until.IsZero() && r.Code != policy.ReasonSnoozed { // which says it itself
		text += ", until " + r.Until.Local().Format("Mon 2006-01-02 15:04")
	}
	return text
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// newSummaryDelivery returns the delivery of a summary. There is one for each time, however often it is planned.
func (d *Dispatcher) newSummaryDelivery(
	t Trigger, s summary, since time.Time, planned delivery.Summary,
) delivery.Delivery {
	p := summaryPayload{
		Event: trigger.Event{
			Type: trigger.SummaryDue, Since: sdk.TimeOf(since), At: sdk.TimeOf(planned.Due), Summary: s.counts(),
		},
	}
	var err error
	if p.Title, p.Body, err = t.Messages.summary(s, p.Event); err != nil {
		// A message with a gap is better than none.
		d.log.Warn("render a template", "trigger", t.ID, "error", err)
	}
	payload, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("encode a summary: %v", err)) // plain data; cannot fail
	}
	return delivery.Delivery{
		Trigger: t.ID, Subject: summarySubject, Fingerprint: hash(summarySubject, fmt.Sprint(planned.Due.Unix())),
		Event: planned.Event, Batch: true, Payload: payload,
	}
}
