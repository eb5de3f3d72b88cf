package schedule

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // machines need not have it
)

// sunday is the first of a month that is a Sunday.
var sunday = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func TestParseCron(t *testing.T) {
	for _, c := range []struct{ expression, first, second string }{
		{"0 * * * *", "2026-03-01 01:00:00", "2026-03-01 02:00:00"},
		{"30 */6 * * *", "2026-03-01 00:30:00", "2026-03-01 06:30:00"},
		{"15 0 3 * * *", "2026-03-01 03:00:15", "2026-03-02 03:00:15"}, // six fields: seconds first
		{" 5\t1-3   * * * ", "2026-03-01 01:05:00", "2026-03-01 02:05:00"},
		{"0 3 * * 7", "2026-03-01 03:00:00", "2026-03-08 03:00:00"},
		{"0 3 * * 0", "2026-03-01 03:00:00", "2026-03-08 03:00:00"},
		{"0 3 * * Sun", "2026-03-01 03:00:00", "2026-03-08 03:00:00"},
		{"0 3 * * 5-7", "2026-03-01 03:00:00", "2026-03-06 03:00:00"},
		{"0 0 * JAN mon-FRI", "2027-01-01 00:00:00", "2027-01-04 00:00:00"},
		{"0 0 13 * 5", "2026-03-13 00:00:00", "2026-11-13 00:00:00"}, // day and weekday
		{"0 0 ? * *", "2026-03-02 00:00:00", "2026-03-03 00:00:00"},
		{"0 */24 * * *", "2026-03-02 00:00:00", "2026-03-03 00:00:00"}, // a step as wide as the field: once
		{"*/60 * * * *", "2026-03-01 01:00:00", "2026-03-01 02:00:00"},
		{"0 0 29 2 *", "2028-02-29 00:00:00", "2032-02-29 00:00:00"},
		{"@hourly", "2026-03-01 01:00:00", "2026-03-01 02:00:00"},
		{"@daily", "2026-03-02 00:00:00", "2026-03-03 00:00:00"},
		{"@weekly", "2026-03-08 00:00:00", "2026-03-15 00:00:00"},
		{"@monthly", "2026-04-01 00:00:00", "2026-05-01 00:00:00"},
		{"@yearly", "2027-01-01 00:00:00", "2028-01-01 00:00:00"},
		{"@every 90m", "2026-03-01 01:30:00", "2026-03-01 03:00:00"},
		{"TZ=Europe/Paris 0 3 * * *", "2026-03-01 02:00:00", "2026-03-02 02:00:00"},
	} {
		times, err := ParseCron(c.expression)
		if err != nil {
			t.Errorf("%q: %v", c.expression, err)
			continue
		}
		first := times.Next(sunday)
		second := times.Next(first)
		if got := first.UTC().Format(time.DateTime); got != c.first {
			t.Errorf("%q first comes true at %s, want %s", c.expression, got, c.first)
		}
		if got := second.UTC().Format(time.DateTime); got != c.second {
			t.Errorf("%q comes true again at %s, want %s", c.expression, got, c.second)
		}
	}
}

func TestParseCronRejects(t *testing.T) {
	for expression, want := range map[string]string{
		"":                     `has 0 fields: write 5 (minute hour day month weekday)`,
		"* * * *":              `has 4 fields`,
		"* * * * * * *":        `has 7 fields`,
		"60 * * * *":           `has the minute "60": write *, or numbers from 0 to 59`,
		"0 60 * * * *":         `has the minute "60"`,
		"60 0 * * * *":         `has the second "60"`,
		"-1 * * * *":           `has the minute "-1"`,
		"*/0 * * * *":          `has the minute "*/0"`,
		"0 24 * * *":           `has the hour "24": write *, or numbers from 0 to 23`,
		"0 0 0 * *":            `has the day "0": write *, or numbers from 1 to 31`,
		"0 0 L * *":            `has the day "L"`,
		"0 0 * 13 *":           `has the month "13": write *, or numbers from 1 to 12 or jan-dec`,
		"0 0 * January *":      `has the month "January"`,
		"0 0 * * 8":            `has the weekday "8": write *, or numbers from 0 to 7 or sun-sat`,
		"0 0 * * someday":      `has the weekday "someday"`,
		"TZ=Mars/Base 0 * * *": `names an unknown time zone "TZ=Mars/Base"`,
		"TZ=UTC 0 24 * * *":    `has the hour "24"`,
		"0 0 31 2 *":           `never comes true`,
		"@reboot":              `is no known shorthand: write @hourly`,
		"@every 100ms":         `at least 1s`,
		"@every soon":          `such as @every 6h`,
	} {
		times, err := ParseCron(expression)
		if err == nil {
			t.Errorf("%q is taken for %v", expression, times)
			continue
		}
		if got := err.Error(); !strings.Contains(got, want) || !strings.HasPrefix(got, `cron expression "`+expression+`"`) {
			t.Errorf("%q: error %q does not say %q", expression, got, want)
		}
	}
}

// TestCronAcrossDaylightSaving: no day is left out when its hour does not exist,
// and a daily check is not made twice when its hour comes twice.
func TestCronAcrossDaylightSaving(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	times, err := ParseCron("30 2 * * *")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		about string
		from  time.Time
		want  []string
	}{
		{"02:30 does not exist", time.Date(2026, 3, 28, 12, 0, 0, 0, paris),
			[]string{"2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"}},
		{"an ordinary night", time.Date(2026, 6, 1, 12, 0, 0, 0, paris),
			[]string{"2026-06-02T02:30:00+02:00", "2026-06-03T02:30:00+02:00"}},
	} {
		at := c.from
		for _, want := range c.want {
			at = times.Next(at)
			if got := at.Format(time.RFC3339); got != want {
				t.Errorf("%s: %s, want %s", c.about, got, want)
			}
		}
	}
	// When 02:30 comes twice the check may run twice, an hour apart, and then a day later.
	at := times.Next(time.Date(2026, 10, 24, 12, 0, 0, 0, paris))
	for at.Day() == 25 {
		at = times.Next(at)
	}
	if got, want := at.Format(time.RFC3339), "2026-10-26T02:30:00+01:00"; got != want {
		t.Errorf("after the night with two 02:30: %s, want %s", got, want)
	}
}

func FuzzParseCron(f *testing.F) {
	for _, seed := range []string{"0 * * * *", "*/24 */60 1-5,7 jan sun", "@every 1h", "TZ=UTC 0 0 1 1 *", "@",
		"* * * * * *"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		times, err := ParseCron(expression)
		switch {
		case err != nil && times != nil:
			t.Fatal("an error and times")
		case err == nil && times.Next(time.Now()).IsZero():
			t.Fatal("accepted though it never comes true")
		}
	})
}
