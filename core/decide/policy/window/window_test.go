package window_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // machines need not have it

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/policy/window"
)

var (
	_ policy.Window = window.Window{}
	_ policy.Freeze = window.Freeze{}
)

func mustParse(t testing.TB, text string) window.Window {
	t.Helper()
	w, err := window.Parse(text, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func mustParseFreeze(t testing.TB, text string) window.Freeze {
	t.Helper()
	f, err := window.ParseFreeze(text, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func at(t testing.TB, text, zone string) time.Time {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	moment, err := time.ParseInLocation("2006-01-02 15:04", text, location)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

// openings writes openings as "Sat 2026-11-28 02:00 +3h0m".
func openings(all []window.Opening) []string {
	var texts []string
	for _, o := range all {
		text := o.Start.Format("Mon 2006-01-02 15:04")
		if o.End.IsZero() {
			text += " for ever"
		} else {
			text += " +" + strings.TrimSuffix(o.End.Sub(o.Start).String(), "0s")
		}
		texts = append(texts, text)
	}
	return texts
}

// Monday 23 November 2026, 12:00.
const noon = "2026-11-23 12:00"

func TestParseWindow(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string // the next openings
	}{
		{"Sat,Sun 02:00-05:00",
			[]string{"Sat 2026-11-28 02:00 +3h0m", "Sun 2026-11-29 02:00 +3h0m", "Sat 2026-12-05 02:00 +3h0m"}},
		{"sat and sun 2am to 5am", []string{"Sat 2026-11-28 02:00 +3h0m", "Sun 2026-11-29 02:00 +3h0m"}},
		{"on Saturdays, Sundays from 2am until 5:00", []string{"Sat 2026-11-28 02:00 +3h0m", "Sun 2026-11-29 02:00 +3h0m"}},
		{"every Saturday 02:00 – 05:00", []string{"Sat 2026-11-28 02:00 +3h0m", "Sat 2026-12-05 02:00 +3h0m"}},
		{"weekdays 1am-4am",
			[]string{"Tue 2026-11-24 01:00 +3h0m", "Wed 2026-11-25 01:00 +3h0m", "Thu 2026-11-26 01:00 +3h0m",
				"Fri 2026-11-27 01:00 +3h0m", "Mon 2026-11-30 01:00 +3h0m"}},
		{"Mon-Fri 01:00-04:00",
			[]string{"Tue 2026-11-24 01:00 +3h0m", "Wed 2026-11-25 01:00 +3h0m", "Thu 2026-11-26 01:00 +3h0m",
				"Fri 2026-11-27 01:00 +3h0m", "Mon 2026-11-30 01:00 +3h0m"}},
		{"Fri-Mon 01:00-04:00",
			[]string{"Fri 2026-11-27 01:00 +3h0m", "Sat 2026-11-28 01:00 +3h0m", "Sun 2026-11-29 01:00 +3h0m",
				"Mon 2026-11-30 01:00 +3h0m", "Fri 2026-12-04 01:00 +3h0m"}},
		{"weekends noon-midnight", []string{"Sat 2026-11-28 12:00 +12h0m", "Sun 2026-11-29 12:00 +12h0m"}},
		{"daily 22:00-06:00", []string{"Mon 2026-11-23 22:00 +8h0m", "Tue 2026-11-24 22:00 +8h0m"}},
		{"22:00-06:00", []string{"Mon 2026-11-23 22:00 +8h0m", "Tue 2026-11-24 22:00 +8h0m"}},
		{"every day at 22:00 for 90m", []string{"Mon 2026-11-23 22:00 +1h30m", "Tue 2026-11-24 22:00 +1h30m"}},
		{"Fri 22:00 for 2 days", []string{"Fri 2026-11-27 22:00 +48h0m"}},
		{"daily 01:00-02:00, 04:00-05:00",
			[]string{"Tue 2026-11-24 01:00 +1h0m", "Tue 2026-11-24 04:00 +1h0m", "Wed 2026-11-25 01:00 +1h0m"}},
		{"daily 01:00-03:00,02:00-05:00", []string{"Tue 2026-11-24 01:00 +4h0m"}},
		{"first Sunday 03:00-06:00", []string{"Sun 2026-12-06 03:00 +3h0m", "Sun 2027-01-03 03:00 +3h0m"}},
		{"second,4th Tue 03:00-06:00",
			[]string{"Tue 2026-11-24 03:00 +3h0m", "Tue 2026-12-08 03:00 +3h0m", "Tue 2026-12-22 03:00 +3h0m"}},
		{"every last Friday of the month 22:00-02:00", nil},
		{"the last Friday of the month 22:00-02:00", []string{"Fri 2026-11-27 22:00 +4h0m", "Fri 2026-12-25 22:00 +4h0m"}},
		{"fifth Sun 03:00-06:00", []string{"Sun 2026-11-29 03:00 +3h0m", "Sun 2027-01-31 03:00 +3h0m"}},
		{"Sat 02:00-05:00; weekdays 1am-2am;",
			[]string{"Tue 2026-11-24 01:00 +1h0m", "Wed 2026-11-25 01:00 +1h0m", "Thu 2026-11-26 01:00 +1h0m",
				"Fri 2026-11-27 01:00 +1h0m", "Sat 2026-11-28 02:00 +3h0m"}},
		{"Sat 22:00-24:00; Sun 00:00-04:00", []string{"Sat 2026-11-28 22:00 +6h0m", "Sat 2026-12-05 22:00 +6h0m"}},
		{"weekends 00:00-24:00", []string{"Sat 2026-11-28 00:00 +48h0m"}},
		{"always", []string{"Mon 2026-11-23 12:00 for ever"}},
		{"daily 00:00-24:00", []string{"Mon 2026-11-23 12:00 for ever"}},
		{"weekdays 08:00-08:00", nil},
		{"0 2 * * 6 for 3h", []string{"Sat 2026-11-28 02:00 +3h0m", "Sat 2026-12-05 02:00 +3h0m"}},
		{"0 2 * * SAT", []string{"Sat 2026-11-28 02:00 +1h0m"}},
		{"* 2-4 * * 6,7", []string{"Sat 2026-11-28 02:00 +3h0m", "Sun 2026-11-29 02:00 +3h0m"}},
		{"*/30 2-3 * * 1-5", []string{"Tue 2026-11-24 02:00 +2h30m"}},
		{"15 3 1 */3 ?", []string{"Fri 2027-01-01 03:15 +1h0m", "Thu 2027-04-01 03:15 +1h0m"}},
		{"0 3 29 2 *", []string{"Tue 2028-02-29 03:00 +1h0m", "Sun 2032-02-29 03:00 +1h0m"}},
		{"0 3 1 * mon", []string{"Mon 2027-02-01 03:00 +1h0m", "Mon 2027-03-01 03:00 +1h0m"}},
	} {
		t.Run(test.text, func(t *testing.T) {
			w, err := window.Parse(test.text, time.UTC)
			if test.want == nil {
				if err == nil {
					t.Fatalf("got %v, want an error", w)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := openings(window.Next(w, nil, at(t, noon, "UTC"), len(test.want))); !slices.Equal(got, test.want) {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
			again, err := window.Parse(w.String(), nil)
			if err != nil || again.String() != w.String() {
				t.Errorf("%q is read back as %q, %v", w, again, err)
			}
		})
	}
}

func TestParseSaysWhatIsNotUnderstood(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "it is empty",
		" ; ":                              "it is empty",
		"Satt,Sun 02:00-05:00":             `"Satt" is not a day: did you mean Sat?`,
		"Caturday 02:00-05:00":             `did you mean Saturday?`,
		"Xyz 02:00-05:00":                  `"Xyz" is not a day: days are Mon, Tue`,
		"Sat,Sun":                          `"Sat,Sun" does not say from when until when`,
		"Sat 2-5":                          `"2" may be any time of day: write 02:00 or 2am`,
		"Sat 02:00-25:00":                  `"25:00" is not a time of day`,
		"Sat 02:60-05:00":                  `"02:60" is not a time of day`,
		"Sat 13pm-5pm":                     `"13pm" is not a time of day`,
		"Sat 02:00-02:00":                  `opens and closes at the same time; write "00:00-24:00"`,
		"Sat 24:00-02:00":                  `begins when the day is over`,
		"Sat 02:00 for 0h":                 `would never be open`,
		"Sat 02:00 for 0d":                 `would never be open`,
		"Sat 02:00 for 90d":                `from 1m to 7d`,
		"Sat 02:00 for ever":               `"ever" is not a duration: write it like 3h`,
		"Sat 02:00":                        `"02:00" does not say from when until when`,
		"Sat 02:00-05:00;;Sun 02:00-05:00": "nothing between two semicolons",
		"Sat 02:00-05:00, Sun 02:00-05:00": "separate them by a semicolon",
		"Sat 02:00-05:00 Europe/Pari":      `unknown time zone "Europe/Pari": write the name of a place`,
		"Sat 02:00-05:00 europe/paris":     `did you mean Europe/Paris?`,
		"Sat 02:00-05:00 america/new_york": `did you mean America/New_York?`,
		"Sat 02:00-05:00 utc":              `did you mean UTC?`,
		"Sat 02:00-05:00 CEST":             `unknown time zone "CEST": write the name of a place`,
		"Sat 02:00-05:00 +02:00":           `unknown time zone "+02:00"`,
		"Sat 02:00-05:00 ../../etc/passwd": `is not`,
		"Sat 02:00-05:00 Europe/Paris; Sun 02:00-05:00 Europe/Rome": "the time zone Europe/Paris belongs at the end",
		"every second Sunday 02:00-05:00":                           `write "first Sunday" or "first,third Sunday"`,
		"first weekday 02:00-05:00":                                 `name the day, such as "first Monday"`,
		"sixth Sunday 02:00-05:00":                                  `"sixth" is not understood; before a day comes first`,
		"never":                                                     `write "always" for no window`,
		"@weekly":                                                   `write out when it opens`,
		"0 2 * *":                                                   "a cron expression has five fields (minute, hour, day, month, weekday), this one has 4",
		"0 0 2 * * 6":                                               "this one has 6",
		"60 2 * * 6":                                                `"60" is not a minute of a cron expression: they are 0 to 59`,
		"0 2 * * funday":                                            `"funday"`,
		"0 2 30 2 *":                                                "never opens: change its day or its month",
		"*/0 2 * * *":                                               `"*/0" is not a minute`,
		"5-1 2 * * *":                                               `"5-1" is not a minute`,
		strings.Repeat("Sat 02:00-05:00;", 63):                      "longer than 1000 characters",
		strings.Repeat("0:00-1:00;", 51):                            "more than 50 parts",
	} {
		_, err := window.Parse(text, time.UTC)
		if err == nil {
			t.Errorf("%q: no error", text)
		} else if !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "window \"") {
			t.Errorf("%q: got %q, want %q", text, err, want)
		}
	}
}

func TestParseFreeze(t *testing.T) {
	for _, test := range []struct {
		text, now string
		frozen    bool
		until     string
	}{
		{"2026-12-20..2027-01-05", noon, false, "2026-12-20 00:00"},
		{"2026-12-20 .. 2027-01-05", "2026-12-20 00:00", true, "2027-01-06 00:00"},
		{"2026-12-20 to 2027-01-05", "2027-01-05 23:59", true, "2027-01-06 00:00"},
		{"2026-12-20..2027-01-05", "2027-01-06 00:00", false, ""},
		{"2026-11-23", noon, true, "2026-11-24 00:00"},
		{"12-20..01-05", noon, false, "2026-12-20 00:00"},
		{"12-20..01-05", "2030-01-05 12:00", true, "2030-01-06 00:00"},
		{"11-01..11-23, 11-24..12-31; 01-02..01-03", noon, true, "2027-01-01 00:00"},
		{"02-29", noon, false, "2028-02-29 00:00"},
		{"02-29..03-02", "2027-02-01 00:00", false, "2027-03-01 00:00"},
		{"01-01..12-31", noon, true, ""},
		{"none", noon, false, ""},
		{"2026-12-20..2027-01-05 Asia/Tokyo", noon, false, "2026-12-19 15:00"},
	} {
		f := mustParseFreeze(t, test.text)
		frozen, until := f.At(at(t, test.now, "UTC"))
		got := ""
		if !until.IsZero() {
			got = until.UTC().Format("2006-01-02 15:04")
		}
		if frozen != test.frozen || got != test.until {
			t.Errorf("%q at %s: got %v until %q, want %v until %q", test.text, test.now, frozen, got, test.frozen, test.until)
		}
		if again := mustParseFreeze(t, f.String()); again.String() != f.String() {
			t.Errorf("%q is read back as %q", f, again)
		}
	}
}

func TestParseFreezeSaysWhatIsNotUnderstood(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "it is empty",
		"2026-12-20..01-05":      "one date with a year and one without",
		"2027-01-05..2026-12-20": "ends before it begins",
		"2026-02-30":             `"2026-02-30" is not a date: write it like 2026-12-20`,
		"02-30..03-05":           `"02-30" is not a date`,
		"Christmas":              `"Christmas" is not a date`,
		"0026-12-20":             "is not between 2000 and 9000",
		"12-20..01-05 Paris":     `unknown time zone "Paris"`,
	} {
		_, err := window.ParseFreeze(text, time.UTC)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), freezeExample) {
			t.Errorf("%q: got %v, want %q and an example", text, err, want)
		}
	}
}

const freezeExample = `freezes are written like "2026-12-20..2027-01-05"`

func TestZone(t *testing.T) {
	paris, err := window.Zone("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	w, err := window.Parse("Sat 02:00-05:00", paris)
	if err != nil || w.String() != "Sat 02:00-05:00 Europe/Paris" {
		t.Errorf("got %q, %v", w, err)
	}
	if _, err := window.Zone(""); err == nil {
		t.Error("no error of an empty name")
	}
	if w, err := window.Parse("Sat 02:00-05:00", nil); err != nil || w.String() != "Sat 02:00-05:00" {
		t.Errorf("zone of the machine: got %q, %v", w, err)
	}
}

func TestZeroIsNeverInForce(t *testing.T) {
	for _, times := range []window.Times{window.Window{}, window.Freeze{}} {
		if inside, until := times.At(time.Now()); inside || !until.IsZero() {
			t.Errorf("%T: got %v, %v", times, inside, until)
		}
	}
}

// The clocks of Europe/Paris go from 02:00 to 03:00 on 28 March 2027, and from 03:00
// to 02:00 on 31 October 2027.
func TestWindowAcrossSummerTime(t *testing.T) {
	for _, test := range []struct{ text, now, start, end string }{
		{"daily 02:00-05:00 Europe/Paris", "2027-03-27 12:00", "2027-03-28T01:00Z", "2027-03-28T03:00Z"},
		{"daily 02:30-05:00 Europe/Paris", "2027-03-27 12:00", "2027-03-28T01:00Z", "2027-03-28T03:00Z"},
		{"daily 02:15-02:45 Europe/Paris", "2027-03-27 12:00", "2027-03-28T01:00Z", "2027-03-28T01:30Z"},
		{"daily 01:30-02:30 Europe/Paris", "2027-03-27 12:00", "2027-03-28T00:30Z", "2027-03-28T01:00Z"},
		{"daily 22:00-06:00 Europe/Paris", "2027-03-27 12:00", "2027-03-27T21:00Z", "2027-03-28T04:00Z"},
		{"daily 02:00-05:00 Europe/Paris", "2027-10-30 12:00", "2027-10-31T00:00Z", "2027-10-31T04:00Z"},
		{"daily 02:15-02:45 Europe/Paris", "2027-10-30 12:00", "2027-10-31T00:15Z", "2027-10-31T00:45Z"},
		{"daily 02:30-03:00 Europe/Paris", "2027-10-30 12:00", "2027-10-31T00:30Z", "2027-10-31T02:00Z"},
		{"daily 01:00-02:00,03:00-04:00 Europe/Paris", "2027-03-27 12:00", "2027-03-28T00:00Z", "2027-03-28T02:00Z"},
		// Half an hour, in the other hemisphere.
		{"daily 02:00-02:30 Australia/Lord_Howe", "2027-10-02 00:00", "2027-10-02T15:30Z", "2027-10-02T16:00Z"},
		// Midnight that is not there, and midnight that is there twice.
		{"daily 00:00-01:00 Asia/Beirut", "2024-03-30 12:00", "2024-03-30T22:00Z", "2024-03-30T23:00Z"},
		{"daily 23:30-00:30 Asia/Beirut", "2024-10-26 12:00", "2024-10-26T20:30Z", "2024-10-26T22:30Z"},
		// A day that was skipped.
		{"Fri 02:00-05:00 Pacific/Apia", "2011-12-29 12:00", "2011-12-30T10:00Z", "2011-12-30T13:00Z"},
	} {
		got := window.Next(mustParse(t, test.text), nil, at(t, test.now, "UTC"), 2)
		if len(got) < 2 {
			t.Fatalf("%s: got %v", test.text, got)
		}
		const minute = "2006-01-02T15:04Z"
		if start, end := got[0].Start.UTC().Format(minute), got[0].End.UTC().Format(minute); start != test.start ||
			end != test.end {
			t.Errorf("%s after %s: got %s to %s, want %s to %s", test.text, test.now, start, end, test.start, test.end)
		}
		if next := got[1].Start.Sub(got[0].Start); next < 22*time.Hour {
			t.Errorf("%s after %s opens again after %s", test.text, test.now, next)
		}
	}
}

func TestNextOutsideAFreeze(t *testing.T) {
	now := at(t, noon, "UTC")
	for _, test := range []struct {
		open, freeze string
		want         []string
	}{
		{"Sat 02:00-05:00", "2026-11-25..2026-12-06", []string{"Sat 2026-12-12 02:00 +3h0m", "Sat 2026-12-19 02:00 +3h0m"}},
		{"weekends 00:00-24:00", "2026-11-28", []string{"Sun 2026-11-29 00:00 +24h0m", "Sat 2026-12-05 00:00 +48h0m"}},
		{"daily 11:00-13:00", "none", []string{"Mon 2026-11-23 12:00 +1h0m", "Tue 2026-11-24 11:00 +2h0m"}},
		{"always", "2026-12-20..2027-01-05", []string{"Mon 2026-11-23 12:00 +636h0m", "Wed 2027-01-06 00:00 for ever"}},
		{"always", "none", []string{"Mon 2026-11-23 12:00 for ever"}},
		{"always", "01-01..12-31", nil},
		{"0 2 24 12 *", "12-20..01-05", nil},
	} {
		got := openings(window.Next(mustParse(t, test.open), mustParseFreeze(t, test.freeze), now, 2))
		if !slices.Equal(got, test.want) {
			t.Errorf("%s without %s: got %q, want %q", test.open, test.freeze, got, test.want)
		}
	}
	if got := openings(window.Next(nil, nil, now, 3)); !slices.Equal(got, []string{"Mon 2026-11-23 12:00 for ever"}) {
		t.Errorf("without rules: got %q", got)
	}
}

func ExampleNext() {
	w, _ := window.Parse("first Sunday 03:00-06:00 Europe/Paris", nil)
	for _, o := range window.Next(w, nil, time.Date(2026, time.November, 23, 0, 0, 0, 0, time.UTC), 2) {
		fmt.Println(o.Start, o.End.Sub(o.Start))
	}
	// Output:
	// 2026-12-06 03:00:00 +0100 CET 3h0m0s
	// 2027-01-03 03:00:00 +0100 CET 3h0m0s
}
