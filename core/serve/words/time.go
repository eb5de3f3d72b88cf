package words

import (
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
)

// Exact is a time to the second.
func Exact(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func Instant(instant any) time.Time {
	switch t := instant.(type) {
	case time.Time:
		return t
	case sdk.Time:
		return t.Time
	}
	return time.Time{}
}

// Relative says how long ago something was; negative is in the future.
func Relative(d time.Duration) phrase.Phrase {
	if d < 0 {
		switch n, unit := span(-d); {
		case d > -time.Second:
			return phrase.New("now")
		case unit == days:
			return phrase.New("in %d d", n)
		case unit == months:
			return phrase.New("in %d months", n)
		case unit == years:
			return phrase.New("in %d years", n)
		}
		return phrase.New("in %s", Span(-d))
	}
	switch n, unit := span(d); {
	case d < 5*time.Second:
		return phrase.New("just now")
	case unit == days:
		return phrase.New("%d d ago", n)
	case unit == months:
		return phrase.New("%d months ago", n)
	case unit == years:
		return phrase.New("%d years ago", n)
	}
	return phrase.New("%s ago", Span(d))
}

// unit is a unit of durations; the lengths of months and years are about right.
type unit time.Duration

const (
	seconds = unit(time.Second)
	minutes = unit(time.Minute)
	hours   = unit(time.Hour)
	days    = 24 * hours
	months  = 30 * days
	years   = 365 * days
)

// span returns a duration in its largest unit.
func span(d time.Duration) (n int, in unit) {
	in = years
	switch whole := unit(d); {
	case whole < minutes:
		in = seconds
	case whole < hours:
		in = minutes
	case whole < 2*days:
		in = hours
	case whole < 100*days:
		in = days
	case whole < 2*years:
		in = months
	}
	return int(d / time.Duration(in)), in
}

// Span is a duration in its largest unit: "45 s", "12 min", "3 h", "8 d", "5 months".
func Span(d time.Duration) phrase.Phrase {
	switch n, in := span(d); in {
	case seconds:
		return phrase.New("%d s", n)
	case minutes:
		return phrase.New("%d min", n)
	case hours:
		return phrase.New("%d h", n)
	case days:
		return phrase.New("%d d", n)
	case months:
		return phrase.New("%d months", n)
	default:
		return phrase.New("%d years", n)
	}
}

// Whole is a duration in its largest unit, with its name: "6 days", "3 hours".
func Whole(d time.Duration) phrase.Phrase {
	switch n, in := span(d); in {
	case seconds, minutes:
		return phrase.Count(int(max(d, 0)/time.Minute), "minute")
	case hours:
		return phrase.Count(n, "hour")
	default:
		return phrase.Count(int(d/time.Duration(days)), "day")
	}
}

// Elapsed is a time that goes on, to the second: "9 s", "2 min 3 s", "1 h 5 min".
func Elapsed(d time.Duration) phrase.Phrase {
	if d < time.Minute {
		return Span(max(d, 0))
	}
	return Took(d)
}

// Took is how long something took: "832 ms", "4.1 s", "2 min 3 s", "1 h 5 min".
func Took(d time.Duration) phrase.Phrase {
	switch d = max(d, 0); {
	case d < time.Second:
		return phrase.New("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return phrase.New("%.1f s", d.Seconds())
	case d < time.Minute:
		return Span(d)
	case d < time.Hour:
		return phrase.New("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return phrase.New("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

// Clock is a time of day where Dogwatch runs, with its date unless that is today's.
func Clock(t, now time.Time) phrase.Phrase {
	t, now = t.Local(), now.Local()
	switch {
	case t.Year() != now.Year():
		return phrase.Time("2 Jan 2006 15:04", t)
	case t.YearDay() != now.YearDay():
		return phrase.Time("2 Jan 15:04", t)
	}
	return phrase.Time("15:04", t)
}

// Date is a day, in universal time: "2 Jan 2006".
func Date(t time.Time) phrase.Phrase { return phrase.Time("2 Jan 2006", t.UTC()) }
