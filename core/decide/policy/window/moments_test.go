package window_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy/window"
)

func TestMoments(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		"daily 08:00": {"2026-03-28T08:00:00Z", "2026-03-29T08:00:00Z", "2026-03-30T08:00:00Z"},
		// summer time begins
		"daily 8am Europe/Paris": {"2026-03-28T07:00:00Z", "2026-03-29T06:00:00Z", "2026-03-30T06:00:00Z"},
		"Mon 08:00":              {"2026-03-30T08:00:00Z", "2026-04-06T08:00:00Z"},
		"weekdays 7am; first Sunday 09:00": {"2026-03-30T07:00:00Z", "2026-03-31T07:00:00Z", "2026-04-01T07:00:00Z",
			"2026-04-02T07:00:00Z", "2026-04-03T07:00:00Z", "2026-04-05T09:00:00Z"},
		"0 8 * * 1": {"2026-03-30T08:00:00Z", "2026-04-06T08:00:00Z"},
		// 02:30 is left out
		"daily 02:30 Europe/Paris":     {"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"},
		"daily 12:00 America/New_York": {"2026-03-28T16:00:00Z", "2026-03-29T16:00:00Z"},
	} {
		m, err := window.ParseMoments(text, time.UTC)
		if err != nil {
			t.Error(err)
			continue
		}
		at := time.Date(2026, time.March, 28, 0, 0, 0, 0, time.UTC)
		for _, w := range want {
			at = m.Next(at)
			if got := at.UTC().Format(time.RFC3339); got != w {
				t.Errorf("%s: %s, want %s", text, got, w)
			}
		}
		if again, err := window.ParseMoments(m.String(), time.UTC); err != nil || !again.Next(at).Equal(m.Next(at)) {
			t.Errorf("%s is written as %q, which is read otherwise: %v", text, m, err)
		}
	}
	m, err := window.ParseMoments("daily 02:30", paris) // the clock is put back at 03:00 that day
	if err != nil {
		t.Fatal(err)
	}
	first := m.Next(time.Date(2026, time.October, 24, 12, 0, 0, 0, time.UTC))
	if next := m.Next(first); next.Sub(first) < 20*time.Hour {
		t.Errorf("it comes twice that day: %v and %v", first, next)
	}
}

func TestMomentsThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "it is empty",
		"daily":                  "daily",
		"daily 08:00-09:00":      "a single time is wanted",
		"daily 08:00 for 2h":     "a single time is wanted",
		"25:00":                  "25:00",
		"Mon 08:00 Europe/Pariz": "unknown time zone",
		"0 8 31 2 *":             "never",
	} {
		m, err := window.ParseMoments(text, time.UTC)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, m, err, want)
		}
	}
	if next := (window.Moments{}).Next(time.Now()); !next.IsZero() {
		t.Errorf("no moments have a next one at %v", next)
	}
}
