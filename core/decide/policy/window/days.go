package window

import "time"

// days is a set of days, which are counted from 1 January 1970.
type days interface {
	// next returns the first day from day until last that is in the set.
	next(day, last int) (int, bool)
}

func dayOf(year int, month time.Month, day int) int {
	return int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

// dateOf returns the month and the day of the month.
func dateOf(day int) (month time.Month, dayOfMonth int) {
	_, month, dayOfMonth = time.Unix(int64(day)*24*60*60, 0).UTC().Date()
	return month, dayOfMonth
}

func weekdayOf(day int) time.Weekday { return time.Weekday(((day+4)%7 + 7) % 7) }

func scan(day, last int, in func(day int) bool) (int, bool) {
	for ; day <= last; day++ {
		if in(day) {
			return day, true
		}
	}
	return 0, false
}

// weekdays is a set of days of the week: bit 0 is Sunday.
type weekdays uint8

const (
	daily    weekdays = 0b1111111
	workdays weekdays = 0b0111110
	weekend  weekdays = 0b1000001
)

func (w weekdays) has(d time.Weekday) bool { return w>>d&1 == 1 }

func (w weekdays) next(day, last int) (int, bool) {
	return scan(day, last, func(day int) bool { return w.has(weekdayOf(day)) })
}

// ordinals are such as the first and the third Sunday of each month.
type ordinals struct {
	which    uint8 // bits 1 to 5, and bit 0 for the last
	weekdays weekdays
}

func (o ordinals) next(day, last int) (int, bool) {
	return scan(day, last, func(day int) bool {
		if !o.weekdays.has(weekdayOf(day)) {
			return false
		}
		month, n := dateOf(day)
		if o.which>>((n-1)/7+1)&1 == 1 {
			return true
		}
		nextWeek, _ := dateOf(day + 7)
		return o.which&1 == 1 && nextWeek != month
	})
}

// cronDays are the days of a cron expression; all three must match.
type cronDays struct {
	months, daysOfMonth uint64
	weekdays            weekdays
}

func (c cronDays) next(day, last int) (int, bool) {
	return scan(day, last, func(day int) bool {
		if !c.weekdays.has(weekdayOf(day)) {
			return false
		}
		month, n := dateOf(day)
		return c.months>>month&1 == 1 && c.daysOfMonth>>n&1 == 1
	})
}

// dates are the days from first until last.
type dates struct{ first, last int }

func (d dates) next(day, last int) (int, bool) {
	day = max(day, d.first)
	return day, day <= min(last, d.last)
}

// yearly are the days from first until last in every year, as month*100+day; first
// may be later in the year than last.
type yearly struct{ first, last int }

func (y yearly) next(day, last int) (int, bool) {
	for day <= last {
		year, month, n := time.Unix(int64(day)*24*60*60, 0).UTC().Date()
		date := int(month)*100 + n
		if y.first <= date && date <= y.last || y.first > y.last && (y.first <= date || date <= y.last) {
			return day, true
		}
		begins := dayOf(year, time.Month(y.first/100), y.first%100)
		if begins <= day {
			begins = dayOf(year+1, time.Month(y.first/100), y.first%100)
		}
		day = begins
	}
	return 0, false
}
