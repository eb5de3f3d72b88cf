package window

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// parseDates reads one part of a freeze.
func parseDates(text string) (part, error) {
	var p part
	if text == "" {
		return p, errors.New("there is nothing between two semicolons")
	}
	if lower := strings.ToLower(text); lower == "none" || lower == "never" {
		return part{text: "none"}, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(item, "..")
		if !isRange {
			to = from
		}
		first, err := parseDate(from)
		if err != nil {
			return p, err
		}
		last, err := parseDate(to)
		if err != nil {
			return p, err
		}
		var set days
		switch {
		case first.year == 0 != (last.year == 0):
			return p, fmt.Errorf("%q has one date with a year and one without", item)
		case first.year == 0:
			set = yearly{first.inYear(), last.inYear()}
		case last.day() < first.day():
			return p, fmt.Errorf("%q ends before it begins", item)
		default:
			set = dates{first.day(), last.day()}
		}
		p.rules = append(p.rules, rule{set, []span{{0, minutesPerDay}}})
	}
	p.text = text
	return p, nil
}

// date is a day of a year, or with year 0 of every year.
type date struct {
	year       int
	month      time.Month
	dayOfMonth int
}

func (d date) day() int    { return dayOf(d.year, d.month, d.dayOfMonth) }
func (d date) inYear() int { return int(d.month)*100 + d.dayOfMonth }

func parseDate(text string) (date, error) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		if t.Year() < 2000 || t.Year() > 9000 {
			return date{}, fmt.Errorf("the year of %q is not between 2000 and 9000", text)
		}
		return date{t.Year(), t.Month(), t.Day()}, nil
	}
	// 2000 is a leap year: 29 February is a day of every year, though not of each.
	if t, err := time.Parse(time.DateOnly, "2000-"+text); err == nil {
		return date{0, t.Month(), t.Day()}, nil
	}
	return date{}, fmt.Errorf("%q is not a date: write it like 2026-12-20, or 12-20 for every year", text)
}
