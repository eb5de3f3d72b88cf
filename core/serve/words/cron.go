package words

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Cron is a cron expression in words, such as "every day at 04:00"; nil for one that takes more than a few.
func Cron(expression string) phrase.Phrase {
	fields := strings.Fields(strings.ToLower(expression))
	if len(fields) == 1 {
		return cronNamed(fields[0])
	}
	if len(fields) == 2 && fields[0] == "@every" {
		return phrase.New("every %s", fields[1])
	}
	seconds := "0"
	if len(fields) == 6 {
		seconds, fields = fields[0], fields[1:]
	}
	if len(fields) != 5 || !isEvery(fields[3]) {
		return nil
	}
	minute, hour, month, week := fields[0], fields[1], fields[2], fields[4]
	daily := isEvery(month) && isEvery(week)
	switch minutes := cronNumbers(minute, 59); {
	case seconds != "0":
		if n := cronStep(seconds, 60); n > 1 && daily && minute == "*" && hour == "*" {
			return phrase.New("every %d seconds", n)
		}
	case daily && hour == "*" && cronStep(minute, 60) > 0:
		return everyMinutes(cronStep(minute, 60))
	case len(minutes) != 1:
	case daily && cronStep(hour, 24) > 0:
		if minutes[0] > 0 {
			return phrase.New("%s at :%s", everyHours(cronStep(hour, 24)), twoDigits(minutes[0]))
		}
		return everyHours(cronStep(hour, 24))
	default:
		var times []phrase.Phrase
		for _, h := range cronNumbers(hour, 23) {
			times = append(times, phrase.Verbatim(twoDigits(h)+":"+twoDigits(minutes[0])))
		}
		if len(times) > 0 {
			return cronDays(month, week, listed(times))
		}
	}
	return nil
}

func cronNamed(name string) phrase.Phrase {
	switch name {
	case "@hourly":
		return everyHours(1)
	case "@daily", "@midnight":
		return cronDays("*", "*", phrase.Verbatim("00:00"))
	case "@weekly":
		return cronDays("*", "0", phrase.Verbatim("00:00"))
	case "@monthly":
		return cronDays("1", "*", phrase.Verbatim("00:00"))
	}
	return nil
}

func isEvery(field string) bool { return field == "*" || field == "?" }

// cronStep returns n of a field "*/n" whose steps are all as long, as n divides whole, and 1 for "*"; 0 for another.
func cronStep(field string, whole int) int {
	if field == "*" {
		return 1
	}
	text, found := strings.CutPrefix(field, "*/")
	n, err := strconv.Atoi(text)
	if !found || err != nil || n < 1 || n == whole || whole%n != 0 {
		return 0
	}
	return n
}

func everyMinutes(n int) phrase.Phrase {
	if n == 1 {
		return phrase.New("every minute")
	}
	return phrase.New("every %d minutes", n)
}

func everyHours(n int) phrase.Phrase {
	if n == 1 {
		return phrase.New("every hour")
	}
	return phrase.New("every %d hours", n)
}

func twoDigits(n int) string { return strconv.Itoa(n/10) + strconv.Itoa(n%10) }

// cronNumbers returns the numbers of a list "6,18", rising; nil for a field that is none, or has others than 0 to most.
func cronNumbers(field string, most int) []int {
	var all []int
	for part := range strings.SplitSeq(field, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > most {
			return nil
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// cronDays says on which days the fields for days of a month and of a week come true, and at which times of these; nil
// where that takes more words.
func cronDays(month, week string, times phrase.Phrase) phrase.Phrase {
	var named []phrase.Phrase
	switch from, to, isRange := strings.Cut(week, "-"); {
	case isEvery(month) && isEvery(week):
		return phrase.New("every day at %s", times)
	case isEvery(week):
		numbers := cronNumbers(month, 31)
		for _, n := range numbers {
			named = append(named, phrase.Verbatim(strconv.Itoa(n)))
		}
		if len(numbers) > 0 && numbers[0] != 0 {
			return phrase.New("on day %s of every month at %s", listed(named), times)
		}
	case !isEvery(month): // a day of the month, or one of the week
	case isRange:
		if cronDay(from) != nil && cronDay(to) != nil {
			return phrase.New("%s to %s at %s", cronDay(from), cronDay(to), times)
		}
	default:
		for part := range strings.SplitSeq(week, ",") {
			named = append(named, cronDay(part))
		}
		if !slices.Contains(named, nil) {
			return phrase.New("every %s at %s", listed(named), times)
		}
	}
	return nil
}

// cronDay is a day of the week, by its number or the beginning of its name; nil for none.
func cronDay(text string) phrase.Phrase {
	for day := range 8 {
		name := time.Weekday(day % 7).String()
		if text == strconv.Itoa(day) || text == strings.ToLower(name[:3]) {
			return phrase.Read(name, "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
		}
	}
	return nil
}

// listed is "a", "a and b", or "a, b and c".
func listed(all []phrase.Phrase) phrase.Phrase {
	last := len(all) - 1
	if last < 1 {
		return phrase.Join("", all...)
	}
	return phrase.New("%s and %s", phrase.Join(", ", all[:last]...), all[last])
}
