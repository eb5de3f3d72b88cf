package words

import (
	"fmt"
	"time"

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
func Relative(d time.Duration) string {
	if d < 0 {
		if d > -time.Second {
			return "now"
		}
		return "in " + Span(-d)
	}
	if d < 5*time.Second {
		return "just now"
	}
	return Span(d) + " ago"
}

// Span is a duration in its largest unit: "45 s", "12 min", "3 h", "8 d", "5 months".
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d < 60*day:
		return fmt.Sprintf("%d d", d/day)
	case d < 2*365*day:
		return fmt.Sprintf("%d months", d/(30*day))
	}
	return fmt.Sprintf("%d years", d/(365*day))
}

// Elapsed is a time that goes on, to the second: "9 s", "2 min 3 s", "1 h 5 min".
func Elapsed(d time.Duration) string {
	if d < time.Minute {
		return Span(max(d, 0))
	}
	return Took(d)
}

// Took is how long something took: "832 ms", "4.1 s", "2 min 3 s", "1 h 5 min".
func Took(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return Span(d)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

// Clock is a time of day where Dogwatch runs, with its date unless that is today's.
func Clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	switch {
	case t.Year() != now.Year():
		return t.Format("2 Jan 2006 15:04")
	case t.YearDay() != now.YearDay():
		return t.Format("2 Jan 15:04")
	}
	return t.Format("15:04")
}
