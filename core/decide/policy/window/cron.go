package window

import (
	"fmt"
	"strconv"
	"strings"
)

// cronField is one position of a cron expression.
type cronField struct {
	name      string
	low, high int
	words     []string // names of values from low on
}

var cronFields = []cronField{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day", 1, 31, nil},
	{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{"weekday", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// parseCron reads a cron expression of five fields. Day and weekday must both match,
// as in the schedules of Dogwatch.
func parseCron(words []string, length string) (part, error) {
	if len(words) != len(cronFields) {
		return part{},
			fmt.Errorf("a cron expression has five fields (minute, hour, day, month, weekday), this one has %d", len(words))
	}
	var sets [5]uint64
	for i, f := range cronFields {
		var err error
		if sets[i], err = f.parse(words[i]); err != nil {
			return part{}, err
		}
	}
	const everyMinute = 1<<60 - 1
	minutes, text := 60, strings.Join(words, " ")
	switch {
	case length != "":
		var err error
		if minutes, err = parseLength(length); err != nil {
			return part{}, err
		}
		text += " for " + length
	case sets[0] == everyMinute:
		minutes = 1 // it names each minute that is open
	default:
		text += " for 1h"
	}
	var spans []span
	for hour := range 24 {
		for minute := range 60 {
			if start := hour*60 + minute; sets[1]>>hour&1 == 1 && sets[0]>>minute&1 == 1 {
				spans = append(spans, span{start, start + minutes})
			}
		}
	}
	days := cronDays{months: sets[3], daysOfMonth: sets[2], weekdays: weekdays(sets[4]&0x7f | sets[4]>>7)}
	return part{[]rule{{days, joined(spans)}}, text}, nil
}

// parse returns the values of a field as bits.
func (f cronField) parse(text string) (set uint64, err error) {
	for item := range strings.SplitSeq(text, ",") {
		values, every, hasStep := strings.Cut(item, "/")
		step := 1
		if hasStep {
			if step, err = strconv.Atoi(every); err != nil || step < 1 {
				return 0, f.invalid(item)
			}
		}
		low, high := f.low, f.high
		if values != "*" && values != "?" {
			from, to, isRange := strings.Cut(values, "-")
			var known bool
			if low, known = f.value(from); !known {
				return 0, f.invalid(item)
			}
			if isRange {
				high, known = f.value(to)
			} else if !hasStep {
				high = low
			}
			if !known || high < low {
				return 0, f.invalid(item)
			}
		}
		for value := low; value <= high; value += step {
			set |= 1 << value
		}
	}
	return set, nil
}

func (f cronField) value(text string) (int, bool) {
	for i, word := range f.words {
		if strings.EqualFold(text, word) {
			return f.low + i, true
		}
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && len(text) <= 2 && n >= f.low && n <= f.high
}

func (f cronField) invalid(item string) error {
	return fmt.Errorf("%q is not a %s of a cron expression: they are %d to %d, ranges such as %[3]d-%[4]d, and steps such as */%[5]d", item, f.name, f.low, f.high, 2)
}
