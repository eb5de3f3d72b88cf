package window

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk/option"
)

var (
	weekdayNames = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
	ordinalNames = map[string]uint8{
		"last": 1 << 0, "first": 1 << 1, "1st": 1 << 1, "second": 1 << 2, "2nd": 1 << 2,
		"third": 1 << 3, "3rd": 1 << 3, "fourth": 1 << 4, "4th": 1 << 4, "fifth": 1 << 5, "5th": 1 << 5,
	}
	ofTheMonth = lazyregexp.New(`(?i) of (the|each|every) month\b`)
	cronStart  = lazyregexp.New(`^[0-9*?][0-9*?,/-]*$`)
)

// parseWindow reads one part of a window.
func parseWindow(text string) (part, error) {
	if text == "" {
		return part{}, errors.New("there is nothing between two semicolons")
	}
	switch strings.ToLower(text) {
	case "always", "any time", "anytime":
		return part{[]rule{{daily, []span{{0, minutesPerDay}}}}, "always"}, nil
	case "never", "none", "off":
		return part{}, fmt.Errorf(`%q would hold every update for ever; write "always" for no window`, text)
	}
	if strings.HasPrefix(text, "@") {
		return part{}, fmt.Errorf(`%q is not understood; write out when it opens, such as "0 2 * * 6 for 3h"`, text)
	}
	words := strings.Fields(text)
	length := ""
	if n := len(words); n > 2 && strings.EqualFold(words[n-2], "for") {
		words, length = words[:n-2], words[n-1]
	}
	if cronStart().MatchString(words[0]) && len(words) > 2 {
		return parseCron(words, length)
	}
	times := words[len(words)-1]
	if _, err := Zone(times); err == nil {
		return part{}, fmt.Errorf("the time zone %s belongs at the end, and is one for all parts", times)
	}
	if _, err := parseWeekdays(times); err == nil {
		return part{}, fmt.Errorf("%q does not say from when until when", text)
	}
	set, err := parseDays(ofTheMonth().ReplaceAllString(" "+strings.Join(words[:len(words)-1], " "), ""))
	if err != nil {
		return part{}, err
	}
	var spans []span
	if length == "" {
		spans, err = parseSpans(times)
	} else {
		spans, err = parseStarts(times, length)
	}
	return part{[]rule{{set, spans}}, text}, err
}

// parseDays reads "weekdays", "every Sat,Sun" or "first Sunday".
func parseDays(text string) (days, error) {
	if strings.Contains(text, ":") {
		return nil, fmt.Errorf("%q has more than one window: separate them by a semicolon", strings.TrimSpace(text))
	}
	words := slices.DeleteFunc(strings.Fields(text), func(word string) bool {
		return slices.Contains([]string{"on", "at", "from", "the"}, strings.ToLower(word))
	})
	if len(words) > 0 && slices.Contains([]string{"every", "each"}, strings.ToLower(words[0])) {
		words = words[1:]
		if len(words) > 1 {
			return nil,
				fmt.Errorf(`"every %s" is not understood; write "first Sunday" or "first,third Sunday" for days of each month`, strings.Join(words, " "))
		}
	}
	switch len(words) {
	case 0:
		return daily, nil
	case 1:
		return parseWeekdays(words[0])
	case 2:
		which, err := parseOrdinals(words[0])
		if err != nil {
			return nil, err
		}
		named, err := parseWeekdays(words[1])
		if err == nil && (named&workdays == workdays || named == weekend) {
			err = fmt.Errorf(`%q is more than one day after %q; name the day, such as "first Monday", or write a cron expression, such as "0 2 1 * * for 3h"`, words[1], words[0])
		}
		return ordinals{which, named}, err
	}
	return nil, fmt.Errorf("%q is not understood as days", strings.Join(words, " "))
}

func parseOrdinals(text string) (which uint8, err error) {
	for word := range strings.SplitSeq(strings.ToLower(text), ",") {
		bit, known := ordinalNames[word]
		if !known {
			return 0, fmt.Errorf("%q is not understood; before a day comes first, second, third, fourth, fifth or last", word)
		}
		which |= bit
	}
	return which, nil
}

// parseWeekdays reads "Sat,Sun", "Mon-Fri", "weekdays" or "daily".
func parseWeekdays(text string) (weekdays, error) {
	var set weekdays
	for word := range strings.SplitSeq(text, ",") {
		switch strings.ToLower(word) {
		case "daily", "day", "days":
			set |= daily
			continue
		case "weekday", "weekdays":
			set |= workdays
			continue
		case "weekend", "weekends":
			set |= weekend
			continue
		}
		from, to, isRange := strings.Cut(word, "-")
		first, err := parseWeekday(from)
		if err != nil {
			return 0, err
		}
		last := first
		if isRange {
			if last, err = parseWeekday(to); err != nil {
				return 0, err
			}
		}
		for day := first; ; day = (day + 1) % 7 {
			set |= 1 << day
			if day == last {
				break
			}
		}
	}
	return set, nil
}

// parseWeekday reads the name of a day, or its beginning: "Tue", "tues", "Tuesdays".
func parseWeekday(text string) (time.Weekday, error) {
	name := strings.ToLower(text)
	for day, full := range weekdayNames {
		if len(name) >= 3 && strings.HasPrefix(full+"s", name) {
			return time.Weekday(day), nil
		}
	}
	const names = "days are Mon, Tue, Wed, Thu, Fri, Sat, Sun, weekdays, weekends and daily"
	known := append(slices.Clone(weekdayNames), "weekdays", "weekends", "daily")
	for _, full := range weekdayNames {
		known = append(known, full[:3])
	}
	if near := option.Suggest(name, known); near != "" {
		return 0, fmt.Errorf("%q is not a day: did you mean %s?", text, capitalized(near))
	}
	return 0, fmt.Errorf("%q is not a day: %s", text, names)
}

// parseSpans reads "02:00-05:00", several joined by commas.
func parseSpans(text string) ([]span, error) {
	var spans []span
	for word := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(word, "-")
		if !isRange {
			return nil, fmt.Errorf("%q does not say from when until when", word)
		}
		start, err := parseTime(from)
		if err != nil {
			return nil, err
		}
		end, err := parseTime(to)
		if err != nil {
			return nil, err
		}
		switch {
		case start == minutesPerDay:
			return nil, fmt.Errorf("%q begins when the day is over; write 00:00", word)
		case start == end:
			return nil, fmt.Errorf(`%q opens and closes at the same time; write "00:00-24:00" for the whole day`, word)
		case end < start:
			end += minutesPerDay // it closes on the next day
		}
		spans = append(spans, span{start, end})
	}
	return joined(spans), nil
}

// parseStarts reads "02:00", several joined by commas, each of a length.
func parseStarts(text, length string) ([]span, error) {
	minutes, err := parseLength(length)
	if err != nil {
		return nil, err
	}
	var spans []span
	for word := range strings.SplitSeq(text, ",") {
		start, err := parseTime(word)
		if err != nil {
			return nil, err
		}
		spans = append(spans, span{start, start + minutes})
	}
	return joined(spans), nil
}

// joined sorts spans and joins those that overlap.
func joined(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	apart := spans[:1]
	for _, s := range spans[1:] {
		if last := &apart[len(apart)-1]; s.start <= last.end {
			last.end = max(last.end, s.end)
		} else {
			apart = append(apart, s)
		}
	}
	return apart
}

var clock = lazyregexp.New(`^(\d{1,2})(?::(\d\d))?(am|pm)?$`)

// parseTime reads a time of day: "02:00", "2am", "11:30pm", "noon", "midnight", "24:00".
func parseTime(text string) (minute int, err error) {
	lower := strings.ToLower(text)
	switch lower {
	case "noon":
		return minutesPerDay / 2, nil
	case "midnight":
		return 0, nil
	}
	found := clock().FindStringSubmatch(lower)
	if found == nil {
		return 0, fmt.Errorf("%q is not a time of day: write it like 02:00 or 2am", text)
	}
	hour, _ := strconv.Atoi(found[1])
	minute, _ = strconv.Atoi(found[2])
	switch half := found[3]; {
	case half == "" && found[2] == "":
		return 0, fmt.Errorf("%q may be any time of day: write %02d:00 or %sam", text, hour%24, found[1])
	case minute > 59, half != "" && (hour < 1 || hour > 12), hour > 24, hour == 24 && minute > 0:
		return 0, fmt.Errorf("%q is not a time of day: they are 00:00 to 24:00, or 12am to 11:59pm", text)
	case half != "":
		hour %= 12
		if half == "pm" {
			hour += 12
		}
	}
	return hour*60 + minute, nil
}

var lengthPart = lazyregexp.New(`^(\d{1,6})(days?|d|hours?|h|minutes?|min|m)`)

// parseLength reads for how long a window is open, in minutes.
func parseLength(text string) (minutes int, err error) {
	const longest = 7 * minutesPerDay
	for rest := strings.ToLower(text); rest != ""; {
		found := lengthPart().FindStringSubmatch(rest)
		if found == nil {
			return 0, fmt.Errorf("%q is not a duration: write it like 3h or 90m", text)
		}
		n, _ := strconv.Atoi(found[1])
		switch found[2][0] {
		case 'd':
			n *= minutesPerDay
		case 'h':
			n *= 60
		}
		minutes, rest = minutes+n, rest[len(found[0]):]
	}
	if minutes < 1 || minutes > longest {
		return 0, fmt.Errorf("a window of %q would never be open or nearly always: it may last from 1m to 7d", text)
	}
	return minutes, nil
}
