package words

import (
	"slices"
	"strconv"
	"strings"
)

// Cron is a cron expression in words, such as "every day at 04:00"; "" for one that takes more than a few.
func Cron(expression string) string {
	fields := strings.Fields(strings.ToLower(expression))
	if len(fields) == 1 {
		return cronNames[fields[0]]
	}
	if len(fields) == 2 && fields[0] == "@every" {
		return "every " + fields[1]
	}
	seconds := "0"
	if len(fields) == 6 {
		seconds, fields = fields[0], fields[1:]
	}
	if len(fields) != 5 || !isEvery(fields[3]) {
		return ""
	}
	minute, hour, days := fields[0], fields[1], cronDays(fields[2], fields[4])
	daily := days == "every day"
	switch minutes := cronNumbers(minute, 59); {
	case seconds != "0":
		if n := cronStep(seconds, 60); n > 1 && daily && minute == "*" && hour == "*" {
			return everyUnit(n, "second")
		}
	case daily && hour == "*" && cronStep(minute, 60) > 0:
		return everyUnit(cronStep(minute, 60), "minute")
	case len(minutes) != 1:
	case daily && cronStep(hour, 24) > 0:
		text := everyUnit(cronStep(hour, 24), "hour")
		if minutes[0] > 0 {
			text += " at :" + twoDigits(minutes[0])
		}
		return text
	case days != "":
		var times []string
		for _, h := range cronNumbers(hour, 23) {
			times = append(times, twoDigits(h)+":"+twoDigits(minutes[0]))
		}
		if len(times) > 0 {
			return days + " at " + listed(times)
		}
	}
	return ""
}

var cronNames = map[string]string{
	"@hourly": "every hour", "@daily": "every day at 00:00", "@midnight": "every day at 00:00",
	"@weekly": "every Sunday at 00:00", "@monthly": "on day 1 of every month at 00:00",
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

func everyUnit(n int, unit string) string {
	if n == 1 {
		return "every " + unit
	}
	return "every " + strconv.Itoa(n) + " " + unit + "s"
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

// cronDays says on which days the fields for days of a month and of a week come true; "" where that takes more words.
func cronDays(month, week string) string {
	days := []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	day := func(text string) string {
		if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < len(days) {
			return days[n]
		}
		if i := slices.IndexFunc(days, func(name string) bool { return strings.ToLower(name[:3]) == text }); i >= 0 {
			return days[i]
		}
		return ""
	}
	var named []string
	switch from, to, isRange := strings.Cut(week, "-"); {
	case isEvery(month) && isEvery(week):
		return "every day"
	case isEvery(week):
		for _, n := range cronNumbers(month, 31) {
			named = append(named, strconv.Itoa(n))
		}
		if len(named) > 0 && named[0] != "0" {
			return "on day " + listed(named) + " of every month"
		}
	case !isEvery(month): // a day of the month, or one of the week
	case isRange:
		if day(from) != "" && day(to) != "" {
			return day(from) + " to " + day(to)
		}
	default:
		for part := range strings.SplitSeq(week, ",") {
			named = append(named, day(part))
		}
		if !slices.Contains(named, "") {
			return "every " + listed(named)
		}
	}
	return ""
}

// listed is "a", "a and b", or "a, b and c".
func listed(all []string) string {
	last := len(all) - 1
	if last < 1 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:last], ", ") + " and " + all[last]
}
