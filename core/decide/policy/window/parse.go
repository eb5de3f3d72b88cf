package window

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
)

const (
	windowExample = `"Sat,Sun 02:00-05:00 Europe/Paris"`
	freezeExample = `"2026-12-20..2027-01-05", or "12-20..01-05" for every year`
	maxText       = 1000
	maxParts      = 50
)

// Parse reads a window:
//
//	Sat,Sun 02:00-05:00
//	weekdays 1am-4am; weekends 22:00-06:00
//	first Sunday 03:00-06:00, last Fri of the month 22:00 for 3h
//	0 2 * * 6 for 3h
//	always
//
// with a time zone at the end, such as Europe/Paris; zone is the one of texts
// without; nil for that of the machine. A cron expression without a duration opens for
// one hour, and one of every minute ("* 2-4 * * 6") in just these minutes.
func Parse(text string, zone *time.Location) (Window, error) {
	c, err := parse(text, zone, parseWindow)
	if err != nil {
		return Window{}, fmt.Errorf("window %.100q: %w; windows are written like %s", text, err, windowExample)
	}
	if c.empty() {
		return Window{}, fmt.Errorf("window %.100q never opens: change its day or its month", text)
	}
	return Window{c}, nil
}

// ParseFreeze reads a freeze: days from one until another, both included, of one year
// ("2026-12-20..2027-01-05") or of every year ("12-20..01-05"), several joined by a
// semicolon, with a time zone at the end; "none" is never in force. See Parse for the zone.
func ParseFreeze(text string, zone *time.Location) (Freeze, error) {
	c, err := parse(between().ReplaceAllString(text, ".."), zone, parseDates)
	if err != nil {
		return Freeze{}, fmt.Errorf("freeze %.100q: %w; freezes are written like %s", text, err, freezeExample)
	}
	return Freeze{c}, nil
}

var between = lazyregexp.New(`(?i) +(to|until|-|–|—) +`)

// part is what one part of a text means. Its text says it in full.
type part struct {
	rules []rule
	text  string
}

var spaces = []struct {
	pattern func() *regexp.Regexp
	with    string
}{
	{lazyregexp.New(`[\p{Z}\s]+`), " "},
	{lazyregexp.New(`[–—]| (?i:to|until) `), "-"},
	{lazyregexp.New(` ?- ?`), "-"},
	{lazyregexp.New(` ?\.\. ?`), ".."},
	{lazyregexp.New(`(?i) ?, ?(and )?| and `), ","},
	{lazyregexp.New(`(?i)(\d) (h|hours?|m|min|minutes?|d|days?|am|pm)\b`), "$1$2"},
}

// parse reads parts joined by semicolons and the time zone at the end.
func parse(text string, zone *time.Location, read func(text string) (part, error)) (*calendar, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("it is longer than %d characters", maxText)
	}
	for _, s := range spaces {
		text = s.pattern().ReplaceAllString(text, s.with)
	}
	text = strings.TrimRight(strings.TrimSpace(text), "; ")
	if text == "" {
		return nil, errors.New("it is empty")
	}
	if zone == nil {
		zone = time.Local
	}
	if i := strings.LastIndexByte(text, ' '); i >= 0 && isZone(text[i+1:], text[:i]) {
		var err error
		if zone, err = Zone(text[i+1:]); err != nil {
			return nil, err
		}
		text = strings.TrimRight(text[:i], "; ")
	}
	texts := strings.Split(text, ";")
	if len(texts) > maxParts {
		return nil, fmt.Errorf("it has more than %d parts", maxParts)
	}
	var rules []rule
	for i, t := range texts {
		p, err := read(strings.TrimSpace(t))
		if err != nil {
			return nil, err
		}
		rules, texts[i] = append(rules, p.rules...), p.text
	}
	text = strings.Join(texts, "; ")
	if zone != time.Local {
		text += " " + zone.String()
	}
	return newCalendar(rules, zone, text), nil
}

var zoneName = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_+/-]*$`)

// isZone reports whether the last word of a text, after the others, is meant as a time zone.
func isZone(word, before string) bool {
	if strings.HasPrefix(word, "+") || !zoneName().MatchString(word) {
		return strings.HasPrefix(word, "+")
	}
	if _, err := parseSpans(word); err == nil {
		return false
	}
	if _, err := parseWeekdays(word); err == nil {
		return false
	}
	return !strings.HasSuffix(before, ";") && !strings.HasSuffix(before, " for")
}

// Zone reads the name of a time zone.
func Zone(name string) (*time.Location, error) {
	if name != "" {
		if location, err := time.LoadLocation(name); err == nil {
			return location, nil
		}
	}
	const example = "write the name of a place, such as Europe/Paris, or UTC"
	for _, near := range []string{strings.ToUpper(name), capitalized(name)} {
		if _, err := time.LoadLocation(near); err == nil && name != "" {
			return nil, fmt.Errorf("unknown time zone %.60q: did you mean %s?", name, near)
		}
	}
	return nil, fmt.Errorf("unknown time zone %.60q: %s", name, example)
}

// capitalized spells a name as names of time zones are.
func capitalized(name string) string {
	small := map[string]bool{"of": true, "es": true, "au": true}
	words := regexp.MustCompile(`[A-Za-z]+|[^A-Za-z]+`).FindAllString(strings.ToLower(name), -1)
	for i, w := range words {
		if !small[w] {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}
