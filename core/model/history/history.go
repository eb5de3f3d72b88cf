// Package history says how far behind the containers were, day by day. It replays
// what the log of events says about updates; everything in it is free of I/O. Days
// are those of UTC.
package history

import (
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
)

const (
	// Days is how many days are kept, today included: as long as events are.
	Days = 90
	// maxSpans bounds the memory of a Log, whatever happens in its days.
	maxSpans = 50_000
	dateForm = "2006-01-02"
)

// Change is what an event says about the update of a container.
type Change struct {
	// ID is that of the event.
	ID   int64
	At   time.Time
	Type event.Type
	// Subject is the container's; From is the name that it had before, if it was renamed.
	Subject, From string
	// Kind is that of its update after the event, see tally.Kind; "" when it has none.
	Kind string
}

// Pending is an update that a container has.
type Pending struct {
	Subject string
	// Kind is that of tally.Kind.
	Kind string
	// Since is when the container fell behind. A further version leaves it as it is.
	Since time.Time
}

// span is a time in which the kind of an update was the same.
type span struct {
	Pending
	from, to time.Time
}

// Log is what was replayed so far. The zero Log is that of no events. Its methods may
// not be called concurrently.
type Log struct {
	last  int64
	begin time.Time
	// open are the spans that have not ended, by subject; those of containers without an update have no kind.
	open map[string]span
	// ended are in the order of their ends.
	ended []span
}

// Last returns the id of the newest event that was added; 0 when there is none.
func (l *Log) Last() int64 { return l.last }

// Add replays a change. Changes are added in the order of their events.
func (l *Log) Add(c Change) {
	if l.open == nil {
		l.open, l.begin = map[string]span{}, c.At
	}
	l.last = c.ID
	if c.From != "" && c.From != c.Subject {
		if before, known := l.open[c.From]; known {
			before.Subject = c.Subject
			l.open[c.Subject] = before
			delete(l.open, c.From)
		}
	}
	before, known := l.open[c.Subject]
	if !known {
		before = l.earlier(c)
	}
	after := before
	if c.Type == event.ContainerRemoved {
		delete(l.open, c.Subject)
		l.end(before, c.At)
		return
	}
	if before.Kind != c.Kind {
		l.end(before, c.At)
		after.Kind, after.from = c.Kind, c.At
		if before.Kind == "" {
			after.Since = c.At
		}
	}
	l.open[c.Subject] = after
}

// earlier is what a container was before the first event that is known of it: the log
// does not go back to when it was found.
func (l *Log) earlier(c Change) span {
	s := span{Pending: Pending{Subject: c.Subject, Kind: c.Kind, Since: l.begin}, from: l.begin}
	if c.Type == event.ContainerAdded || c.Type == event.UpdateFound {
		s.Kind = ""
	}
	return s
}

func (l *Log) end(s span, at time.Time) {
	if s.Kind == "" {
		return
	}
	s.to = at
	if len(l.ended) == maxSpans {
		l.ended = slices.Delete(l.ended, 0, maxSpans/10)
	}
	l.ended = append(l.ended, s)
}

// Day is how far behind the containers were at the end of a day, or are now. The
// counts of kinds have the sum Updates, and so have those of Age.
type Day struct {
	// Date is "2026-11-23".
	Date       string `json:"date"`
	Updates    int    `json:"updates"`
	Major      int    `json:"major"`
	Minor      int    `json:"minor"`
	Patch      int    `json:"patch"`
	Prerelease int    `json:"prerelease"`
	Digest     int    `json:"digest"`
	Other      int    `json:"other"`
	Age        Age    `json:"age"`
}

// Age counts updates by how long their containers were behind.
type Age struct {
	// Week is for less than 7 days, Month for less than 30, Older for longer.
	Week  int `json:"week"`
	Month int `json:"month"`
	Older int `json:"older"`
}
