package tag

import (
	"slices"
	"strings"
)

// maxYearGap is how many years apart two releases of a calendar are at most, as those with
// long support are every other one.
const maxYearGap = 2

// amongMonths reports whether the 10 of the current 23.10 is a month: because there was a tag
// such as 22.04 before it, or because all versions of the repository are years and months, and
// no more years are left out among them than between releases of one calendar.
func (d *search) amongMonths(tags []string) bool {
	start, end, _ := span(d.current)
	numbers := d.current[start:end]
	years, all := []int{yearOf(numbers)}, true
	for _, tag := range tags {
		from, to, hash := span(tag)
		if from == to || hash || !strings.EqualFold(tag[:from], d.raw.prefix) {
			continue
		}
		switch monthOf(tag[from:to]) {
		case noMonth:
			first, _ := digits(tag, from)
			all = all && (len(first) >= 6 || isYear(first)) // a date, which is compared with dates alone
			continue
		case paddedMonth:
			if tag[from:to] < numbers {
				return true
			}
		}
		years = append(years, yearOf(tag[from:to]))
	}
	slices.Sort(years)
	for i := 1; i < len(years) && all; i++ {
		all = years[i]-years[i-1] <= maxYearGap
	}
	return all
}

// yearOf returns the year of a month: the 23 of 23.10.
func yearOf(month string) int { return int(month[0]-'0')*10 + int(month[1]-'0') }

// entersCalendar reports whether v counts by the calendar and the current tag does not. Such
// tags are mostly left over from another scheme.
func (d *search) entersCalendar(v *version) bool {
	if d.running.calendar() {
		return false
	}
	return v.calendar() || (v.month == paddedMonth && !d.months)
}

// calendar reports whether v begins with a year, or with a number that is too long for
// anything but a date or a commit hash that happens to have no letters.
func (v *version) calendar() bool { return isYear(v.main[0]) || len(v.main[0]) >= 6 }

// month says whether numbers begin with a year of two digits and a month.
type month int

func monthOf(numbers string) month {
	const n = len("22.04")
	switch {
	case len(numbers) < n || numbers[2] != '.' || !between(numbers[:2], "10", "99") ||
		(len(numbers) > n && numbers[n] != '.'):
		return noMonth
	case between(numbers[3:n], "01", "09"):
		return paddedMonth
	case between(numbers[3:n], "10", "12"):
		return likeMonth
	}
	return noMonth
}
