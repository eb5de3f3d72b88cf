package window_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy/window"
)

// soak is how many rounds try every kind of window in every zone many times.
const soak = 600

var rounds = flag.Int("rounds", soak/4, fmt.Sprint("how many made-up windows to try; ", soak, " is the soak form"))

var zones = []string{
	"UTC", "Europe/Paris", "America/New_York", "America/Havana", "Asia/Beirut", "Australia/Lord_Howe",
	"Asia/Kathmandu", "America/St_Johns", "Africa/Casablanca", "Pacific/Kiritimati", "Antarctica/Troll",
}

func pick[T any](random *rand.Rand, of ...T) T { return of[random.IntN(len(of))] }

// randomWindow writes a window of one to three parts.
func randomWindow(random *rand.Rand) string {
	clock := func() string { return fmt.Sprintf("%02d:%02d", random.IntN(24), 15*random.IntN(4)) }
	var parts []string
	for range 1 + random.IntN(3) {
		days := pick(random, "daily", "Sat,Sun", "weekdays", "first Sunday", "last Fri", "second,last Mon,Sun", "Mon-Wed", "")
		from := clock()
		switch to := clock(); {
		case random.IntN(4) == 0:
			parts = append(parts,
				fmt.Sprintf("%d %s * %s %s", 15*random.IntN(4), pick(random, "2", "*/6", "22-23", "*"),
					pick(random, "*", "3,10", "*/2"), pick(random, "*", "0", "6-7")))
		case from == to:
			parts = append(parts, fmt.Sprintf("%s %s for %dh", days, from, 1+random.IntN(80)))
		default:
			parts = append(parts, fmt.Sprintf("%s %s-%s", days, from, to))
		}
	}
	return strings.Join(parts, "; ") + " " + pick(random, zones...)
}

func randomFreeze(random *rand.Rand) string {
	first := time.Date(2024, time.January, 1+random.IntN(1500), 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 0, random.IntN(60))
	format := pick(random, "2006-01-02", "01-02")
	return first.Format(format) + ".." + last.Format(format) + pick(random, "", "; 02-29") + " " + pick(random, zones...)
}

func randomTime(random *rand.Rand) time.Time {
	return time.Date(2024, time.January, 1, 0, 0, random.IntN(4*365*24*60*60), 0, time.UTC)
}

// checkUntil holds the moment that At announces against what it reports before, at
// and around it.
func checkUntil(t *testing.T, name string, times window.Times, now time.Time, random *rand.Rand) {
	t.Helper()
	inside, until := times.At(now)
	if until.Sub(now) > 8*366*24*time.Hour {
		return // so far it does not look
	}
	if until.IsZero() {
		until = now.AddDate(1, 0, 0)
	} else {
		if !until.After(now) {
			t.Fatalf("%s at %s: until %s", name, now, until)
		}
		if then, _ := times.At(until); then == inside {
			t.Fatalf("%s at %s: announces a change at %s, but is %v then as before", name, now, until, then)
		}
	}
	last := until.Add(-1)
	for _, between := range []time.Time{last, now.Add(time.Duration(random.Int64N(int64(until.Sub(now)))))} {
		then, same := times.At(between)
		if then != inside {
			t.Fatalf("%s at %s: %v until %s, but %v at %s", name, now, inside, until, then, between)
		}
		if _, announced := times.At(now); !announced.IsZero() && !same.Equal(announced) {
			t.Fatalf("%s at %s: announces %s, and %s at %s", name, now, announced, same, between)
		}
	}
}

func TestUntilIsExactlyWhereAtChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 5))
	for range *rounds {
		w := mustParse(t, randomWindow(random))
		f := mustParseFreeze(t, randomFreeze(random))
		for range 10 {
			now := randomTime(random)
			checkUntil(t, w.String(), w, now, random)
			checkUntil(t, f.String(), f, now, random)
			// The clock jumps to and fro: what was returned before makes no difference.
			inside, until := w.At(now)
			if again, same := mustParse(t, w.String()).At(now); again != inside || !same.Equal(until) {
				t.Fatalf("%s at %s: %v until %s, but %v until %s of a new one", w, now, inside, until, again, same)
			}
		}
	}
}

// TestAtMatchesTheClockOnTheWall holds At of a single span against the hour and the
// minute that a clock shows, on days on which it is not put forward or back.
func TestAtMatchesTheClockOnTheWall(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	for range 5 * *rounds {
		location, err := time.LoadLocation(pick(random, zones...))
		if err != nil {
			t.Fatal(err)
		}
		now := randomTime(random).In(location)
		from, to := random.IntN(24*60), random.IntN(24*60)
		_, before := now.AddDate(0, 0, -1).Zone()
		if _, after := now.AddDate(0, 0, 1).Zone(); before != after || from == to {
			continue
		}
		w, err := window.Parse(fmt.Sprintf("daily %02d:%02d-%02d:%02d", from/60, from%60, to/60, to%60), location)
		if err != nil {
			t.Fatal(err)
		}
		minute := now.Hour()*60 + now.Minute()
		want := from <= minute && minute < to
		if to < from {
			want = from <= minute || minute < to
		}
		if got, _ := w.At(now); got != want {
			t.Errorf("%s at %s: got %v, want %v", w, now, got, want)
		}
	}
}

// TestDailyWindowOpensOnceADay walks through four years of summer and winter times.
func TestDailyWindowOpensOnceADay(t *testing.T) {
	for _, zone := range zones {
		for _, span := range []string{"02:00-05:00", "02:15-02:45", "00:00-00:30", "23:30-01:00"} {
			w := mustParse(t, "daily "+span+" "+zone)
			now := at(t, "2024-01-01 12:00", zone)
			days := 4 * 365
			all := window.Next(w, nil, now, days)
			if got, want := all[len(all)-1].Start, now.AddDate(0, 0, days); len(all) != days ||
				want.Sub(got).Abs() > 24*time.Hour {
				t.Errorf("%s: opening %d is at %s, want one a day until %s", w, len(all), got, want)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"Sat,Sun 02:00-05:00 Europe/Paris", "first Sunday 03:00-06:00", "0 2 * * 6 for 3h", "* 2-4 * * 6",
		"always", "12-20..01-05", "2026-12-20..2027-01-05", "last Fri of the month 22:00 for 3h; daily 1am-2am UTC",
		"none", "2026-12-20..2067-01-05",
		"Fri 22:00 for 7d", "0 0 29 2 *", "9000-12-31", "\u00a0–;", "\xff",
	} {
		f.Add(text, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		now := time.Unix(seconds%(1<<35), 0)
		random := rand.New(rand.NewPCG(1, uint64(seconds)))
		if w, err := window.Parse(text, time.UTC); err == nil {
			if again, err := window.Parse(w.String(), time.Local); err != nil || again.String() != w.String() {
				t.Fatalf("%q is read back as %q, %v", w, again, err)
			}
			checkUntil(t, text, w, now, random)
		}
		if f, err := window.ParseFreeze(text, time.UTC); err == nil {
			if again, err := window.ParseFreeze(f.String(), time.Local); err != nil || again.String() != f.String() {
				t.Fatalf("%q is read back as %q, %v", f, again, err)
			}
			checkUntil(t, text, f, now, random)
		}
	})
}

func BenchmarkAt(b *testing.B) {
	now := at(b, noon, "UTC")
	for _, test := range []struct {
		name  string
		times window.Times
	}{
		{"weekly", mustParse(b, "Sat,Sun 02:00-05:00 Europe/Paris")},
		{"first Sunday", mustParse(b, "first Sunday 02:00-05:00 Europe/Paris")},
		{"cron", mustParse(b, "0 2 * * 6")},
		{"always", mustParse(b, "always")},
		{"freeze to come", mustParseFreeze(b, "12-20..01-05")},
		{"freeze in force", mustParseFreeze(b, "11-01..01-05")},
		{"freeze over", mustParseFreeze(b, "2025-12-20..2026-01-05")},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				test.times.At(now)
			}
		})
	}
}
