package window

import (
	"iter"
	"slices"
	"sync/atomic"
	"time"
)

const (
	minutesPerDay = 24 * 60
	// horizonDays is how far into the future times are looked for: from one
	// 29 February to the next there are up to eight years.
	horizonDays = 9 * 366
)

// calendar is a set of times on a clock on the wall.
type calendar struct {
	rules    []rule
	location *time.Location
	text     string
	always   bool // the rules cover every minute
	lookBack int  // the days that the longest span reaches into, besides its own
	// latest is what at returned last: until then it holds for all containers that share the rule.
	latest atomic.Pointer[state]
}

// state is whether times from since until until are inside.
type state struct {
	inside       bool
	since, until time.Time
}

// rule is the same spans of time on each of its days.
type rule struct {
	days  days
	spans []span // sorted, apart from each other
}

// span is the minutes from start until end, since midnight of its day; the end may
// be on a later day.
type span struct{ start, end int }

// interval is a span of instants.
type interval struct{ start, end time.Time }

func newCalendar(rules []rule, location *time.Location, text string) *calendar {
	c := &calendar{rules: rules, location: location, text: text}
	for _, r := range rules {
		for _, s := range r.spans {
			c.lookBack = max(c.lookBack, s.end/minutesPerDay)
		}
	}
	c.always = c.isAlways()
	return c
}

// isAlways reports whether the rules cover every minute, without those of single dates.
func (c *calendar) isAlways() bool {
	every := calendar{rules: slices.DeleteFunc(slices.Clone(c.rules), func(r rule) bool {
		_, single := r.days.(dates)
		return single
	})}
	first := dayOf(2000, time.January, 1) // of a leap year
	for s := range every.spans(first-c.lookBack, first+horizonDays) {
		if s.end > first*minutesPerDay {
			return s.start <= first*minutesPerDay && s.end >= (first+horizonDays)*minutesPerDay
		}
	}
	return false
}

func (c *calendar) string() string {
	if c == nil {
		return ""
	}
	return c.text
}

// at reports whether now is inside, and when that changes; zero for never.
func (c *calendar) at(now time.Time) (inside bool, until time.Time) {
	if c == nil {
		return false, time.Time{}
	}
	if c.always {
		return true, time.Time{}
	}
	if s := c.latest.Load(); s != nil && !now.Before(s.since) && (s.until.IsZero() || now.Before(s.until)) {
		return s.inside, s.until
	}
	s := &state{since: now}
	for i := range c.intervals(now) {
		if i.end.After(now) {
			s.inside, s.until = !i.start.After(now), i.start
			if s.inside {
				s.until = i.end
			}
			break
		}
	}
	c.latest.Store(s)
	return s.inside, s.until
}

// empty reports whether there are no times at all.
func (c *calendar) empty() bool {
	first := dayOf(2000, time.January, 1)
	for range c.spans(first, first+horizonDays) {
		return false
	}
	return true
}

// intervals returns the instants of the calendar in order, apart from each other,
// from one that may be over at now.
func (c *calendar) intervals(now time.Time) iter.Seq[interval] {
	return func(yield func(interval) bool) {
		// One more day than the spans reach back: a zone may skip a day.
		first := dayOf(now.In(c.location).Date()) - c.lookBack - 1
		var pending interval
		for s := range c.spans(first, first+c.lookBack+horizonDays) {
			next := c.interval(s)
			switch {
			case pending.start.IsZero():
				pending = next
			case next.start.After(pending.end):
				if !yield(pending) {
					return
				}
				pending = next
			case next.end.After(pending.end):
				pending.end = next.end
			}
		}
		if !pending.start.IsZero() {
			yield(pending)
		}
	}
}

// interval returns the instants of a span of minutes since 1970.
func (c *calendar) interval(s span) interval {
	i := interval{instant(s.start, c.location), instant(s.end, c.location)}
	if !i.end.After(i.start) {
		i.end = i.start.Add(time.Duration(s.end-s.start) * time.Minute)
	}
	return i
}

// spans returns the spans that begin on the days from first until last, in minutes of
// the clock since 1970, in order and apart from each other.
func (c *calendar) spans(first, last int) iter.Seq[span] {
	return func(yield func(span) bool) {
		var pending span
		var today []span
		for day := first; ; day++ {
			day, today = c.next(day, last, today[:0])
			if len(today) == 0 {
				break
			}
			for _, s := range today {
				s.start, s.end = s.start+day*minutesPerDay, s.end+day*minutesPerDay
				switch {
				case pending.end == 0:
					pending = s
				case s.start > pending.end:
					if !yield(pending) {
						return
					}
					pending = s
				default:
					pending.end = max(pending.end, s.end)
				}
			}
		}
		if pending.end != 0 {
			yield(pending)
		}
	}
}

// next returns the first day from day until last on which spans begin, and the spans.
func (c *calendar) next(day, last int, into []span) (int, []span) {
	nearest := last + 1
	for _, r := range c.rules {
		if found, ok := r.days.next(day, last); ok && found <= nearest {
			if found < nearest {
				nearest, into = found, into[:0]
			}
			into = append(into, r.spans...)
		}
	}
	if len(c.rules) > 1 {
		slices.SortFunc(into, func(a, b span) int { return a.start - b.start })
	}
	return nearest, into
}

// instant returns the first instant at which the clock on the wall shows a minute, or
// if it skips it, the first after that.
func instant(minute int, location *time.Location) time.Time {
	wall := time.Unix(int64(minute)*60, 0).UTC()
	// No zone is further than 15 hours from UTC, so these are before and after it.
	before, after := offset(wall.Add(-15*time.Hour), location), offset(wall.Add(15*time.Hour), location)
	first := wall.Add(-before).In(location)
	if before == after || offset(first, location) == before {
		return first
	}
	if second := wall.Add(-after).In(location); offset(second, location) == after {
		return second
	}
	change, _ := first.ZoneBounds()
	return change
}

func offset(t time.Time, location *time.Location) time.Duration {
	_, seconds := t.In(location).Zone()
	return time.Duration(seconds) * time.Second
}
