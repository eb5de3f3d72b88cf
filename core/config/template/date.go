package template

import (
	"math"
	"strconv"
	"strings"
	"time"
)

const isoLayout = "2006-01-02T15:04:05.000Z"

// dateLayouts are what new Date reads. Without a zone a time is local, a day alone is in UTC.
var dateLayouts = []string{
	"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04",
	time.RFC1123, time.RFC1123Z, "Jan 2, 2006", "2 Jan 2006", "Jan 2, 2006 15:04:05", "2 Jan 2006 15:04:05",
}

// locales maps a language tag to its layouts of a day and of a time, and what stands between them.
var locales = map[string][3]string{
	"en-US": {"1/2/2006", "3:04:05 PM", ", "},
	"en-GB": {"02/01/2006", "15:04:05", ", "},
	"de-DE": {"2.1.2006", "15:04:05", ", "},
	"fr-FR": {"02/01/2006", "15:04:05", " "},
	"sv-SE": {"2006-01-02", "15:04:05", " "},
}

func newDate(r *run, a args) any {
	if len(a) > 1 {
		r.fail(`new Date takes one argument here; write it as text, "2025-01-31T12:00:00Z"`)
	}
	switch v := a.at(0).(type) {
	case *date:
		return v
	case string:
		return &date{parseDate(strings.TrimSpace(v))}
	}
	millis := math.Trunc(r.number(a.at(0)))
	if math.IsNaN(millis) || math.Abs(millis) > 8.64e15 { // the range that JavaScript has
		return &date{}
	}
	return &date{time.UnixMilli(int64(millis))}
}

func parseDate(s string) time.Time {
	for _, layout := range []string{"2006-01-02", "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Local()
		}
	}
	for _, layout := range dateLayouts {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t.Local().Truncate(time.Millisecond)
		}
	}
	return time.Time{}
}

func (d *date) millis() float64 {
	if d.IsZero() {
		return math.NaN()
	}
	return float64(d.UnixMilli())
}

func (d *date) text() string {
	if d.IsZero() {
		return "Invalid Date"
	}
	zone, _ := d.Zone()
	if zone == "UTC" {
		zone = "Coordinated Universal Time"
	}
	return d.Format("Mon Jan 02 2006 15:04:05 GMT-0700") + " (" + zone + ")"
}

// fields are what the getters get; getX is local, getUTCX is not.
var fields = map[string]func(t time.Time) float64{
	"FullYear":     func(t time.Time) float64 { return float64(t.Year()) },
	"Month":        func(t time.Time) float64 { return float64(t.Month() - 1) },
	"Date":         func(t time.Time) float64 { return float64(t.Day()) },
	"Day":          func(t time.Time) float64 { return float64(t.Weekday()) },
	"Hours":        func(t time.Time) float64 { return float64(t.Hour()) },
	"Minutes":      func(t time.Time) float64 { return float64(t.Minute()) },
	"Seconds":      func(t time.Time) float64 { return float64(t.Second()) },
	"Milliseconds": func(t time.Time) float64 { return float64(t.Nanosecond() / int(time.Millisecond)) },
}

// dateField recognises the names of the getters.
func dateField(name string) (field func(time.Time) float64, utc bool) {
	name, ok := strings.CutPrefix(name, "get")
	if !ok {
		return nil, false
	}
	name, utc = strings.CutPrefix(name, "UTC")
	return fields[name], utc
}

var dateMethods = map[string]func(r *run, d *date, a args) any{
	"getTime": func(_ *run, d *date, _ args) any { return d.millis() },
	"valueOf": func(_ *run, d *date, _ args) any { return d.millis() },
	"toISOString": func(r *run, d *date, _ args) any {
		if d.IsZero() {
			r.fail("this date is not valid")
		}
		return d.iso()
	},
	"toJSON":       func(_ *run, d *date, _ args) any { return d.json() },
	"toDateString": func(_ *run, d *date, _ args) any { return d.format("Mon Jan 02 2006") },
	"toUTCString": func(_ *run, d *date, _ args) any {
		return (&date{d.UTC()}).format("Mon, 02 Jan 2006 15:04:05 GMT")
	},
	"toLocaleDateString": func(r *run, d *date, a args) any { return d.format(locale(r, a)[0]) },
	"toLocaleTimeString": func(r *run, d *date, a args) any { return d.format(locale(r, a)[1]) },
	"toLocaleString": func(r *run, d *date, a args) any {
		l := locale(r, a)
		return d.format(l[0] + l[2] + l[1])
	},
}

// method calls a method of a date, getters included.
func (d *date) method(r *run, name string, a args) (any, bool) {
	if f, ok := dateMethods[name]; ok {
		return f(r, d, a), true
	}
	field, utc := dateField(name)
	switch {
	case field == nil:
		return nil, false
	case d.IsZero():
		return math.NaN(), true
	case utc:
		return field(d.UTC()), true
	}
	return field(d.Time), true
}

func (d *date) format(layout string) string {
	if d.IsZero() {
		return "Invalid Date"
	}
	return d.Format(layout)
}

func (d *date) iso() string {
	t := d.UTC()
	if year := t.Year(); year < 0 || year > 9999 { // six digits and a sign
		sign := "+"
		if year < 0 {
			sign, year = "-", -year
		}
		digits := strconv.Itoa(year)
		return sign + strings.Repeat("0", 6-len(digits)) + digits + t.Format(isoLayout)[len(t.Format("2006")):]
	}
	return t.Format(isoLayout)
}

func (d *date) json() any {
	if d.IsZero() {
		return nil
	}
	return d.iso()
}

func locale(r *run, a args) [3]string {
	if len(a) == 0 || a[0] == (undefined{}) {
		return locales["en-US"]
	}
	l, ok := locales[r.text(a[0])]
	if !ok || len(a) > 1 {
		r.fail("dates know the locales en-US, en-GB, de-DE, fr-FR and sv-SE, without options; use toISOString().slice(0, 10) or getFullYear() and the like")
	}
	return l
}
