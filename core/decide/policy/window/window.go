// Package window reads the times in which updates are offered and carried out, and
// the days in which they are not, as users write them: "Sat,Sun 02:00-05:00
// Europe/Paris", "2026-12-20..2027-01-05".
//
// Times are those of a clock on the wall. Where it is put forward, a window opens
// at the first instant that there is, and one that falls into the gap as a whole
// opens after it for as long as ever. Where it is put back, a window opens at the
// first of the two times and not again at the second.
package window

import "time"

// Window is a set of times that opens and closes again. The zero Window never opens.
type Window struct{ *calendar }

// At reports whether it is open, and when that changes next; zero for never.
func (w Window) At(now time.Time) (open bool, until time.Time) { return w.at(now) }

// String returns how users write it, with its time zone.
func (w Window) String() string { return w.string() }

// Freeze is a set of days in which nothing is offered. The zero Freeze is never in force.
type Freeze struct{ *calendar }

// At reports whether it is in force, and when that changes next; zero for never.
func (f Freeze) At(now time.Time) (frozen bool, until time.Time) { return f.at(now) }

// String returns how users write it, with its time zone.
func (f Freeze) String() string { return f.string() }

// Times are a window or a freeze.
type Times interface {
	At(now time.Time) (inside bool, until time.Time)
}

// Opening is one time in which updates may pass.
type Opening struct {
	// Start is when it opens; for one that is open already, the time of the question.
	Start time.Time
	// End is when it closes; zero for never.
	End time.Time
}

// Next returns the next n openings of a window outside a freeze, the one that is open
// now included; nil stands for no window (always open) and no freeze. None means
// that a window never opens outside its freeze in the years to come.
func Next(open, freeze Times, now time.Time, n int) []Opening {
	var all []Opening
	horizon := now.AddDate(0, 0, horizonDays)
	start := time.Time{} // of the opening that t is in
	for t := now; len(all) < n; {
		inside, until := both(open, freeze, t)
		switch {
		case inside && start.IsZero():
			start = t
		case !inside && !start.IsZero():
			all = append(all, Opening{Start: start, End: t})
			start = time.Time{}
		}
		if until.IsZero() || until.After(horizon) {
			if inside {
				all = append(all, Opening{Start: start, End: until})
			}
			return all
		}
		t = until
	}
	return all
}

// both reports whether a window is open outside a freeze, and when to look again.
func both(open, freeze Times, t time.Time) (inside bool, until time.Time) {
	inside = true
	if freeze != nil {
		frozen, end := freeze.At(t)
		if frozen {
			return false, end
		}
		until = end
	}
	if open != nil {
		var end time.Time
		inside, end = open.At(t)
		switch {
		case !inside:
			return false, end
		case until.IsZero() || !end.IsZero() && end.Before(until):
			until = end
		}
	}
	return inside, until
}
