package history

import (
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// Days returns the days up to now of which anything is known, oldest first, and at most
// the constant Days of them. current are the updates that there are now: of those that
// the log knows nothing of, as nothing has happened to them for so long, all days are
// counted since they are pending. What ended before the first day is forgotten.
func (l *Log) Days(now time.Time, current []Pending) []Day {
	now = now.UTC()
	var unknown []span
	begin := now
	if !l.begin.IsZero() && l.begin.Before(begin) {
		begin = l.begin
	}
	for _, p := range current {
		if _, known := l.open[p.Subject]; !known {
			unknown = append(unknown, span{Pending: p, from: p.Since})
			if !p.Since.IsZero() && p.Since.Before(begin) {
				begin = p.Since
			}
		}
	}
	today := midnight(now)
	first := today.AddDate(0, 0, 1-Days)
	if known := midnight(begin.UTC()); known.After(first) {
		first = known
	}
	l.ended = slices.DeleteFunc(l.ended, func(s span) bool { return !s.to.After(first) })

	var days []Day
	for day := first; !day.After(today); day = day.AddDate(0, 0, 1) {
		days = append(days, Day{Date: day.Format(dateForm)})
	}
	count := func(s span) {
		if s.Kind == "" {
			return
		}
		for i := max(0, daysBetween(first, s.from)); i < len(days); i++ {
			end := first.AddDate(0, 0, i+1)
			if !s.to.IsZero() && s.to.Before(end) {
				break
			}
			if end.After(now) {
				end = now
			}
			days[i].add(s.Kind, end.Sub(s.Since))
		}
	}
	for _, s := range l.ended { // there may be very many
		count(s)
	}
	for _, s := range l.open {
		count(s)
	}
	for _, s := range unknown {
		count(s)
	}
	return days
}

// daysBetween returns on which day after the first a time is; negative before it.
func daysBetween(first, at time.Time) int {
	return int(midnight(at.UTC()).Sub(first) / (24 * time.Hour))
}

func midnight(at time.Time) time.Time {
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
}

// add counts an update that has been pending for an age.
func (d *Day) add(kind string, age time.Duration) {
	const day = 24 * time.Hour
	d.Updates++
	switch kind {
	case sdk.DiffMajor:
		d.Major++
	case sdk.DiffMinor:
		d.Minor++
	case sdk.DiffPatch:
		d.Patch++
	case sdk.DiffPrerelease:
		d.Prerelease++
	case sdk.KindDigest:
		d.Digest++
	default:
		d.Other++
	}
	switch {
	case age < 7*day:
		d.Age.Week++
	case age < 30*day:
		d.Age.Month++
	default:
		d.Age.Older++
	}
}
