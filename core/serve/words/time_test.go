package words

import (
	"testing"
	"time"
)

func TestRelative(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "just now", 6 * time.Second: "6 s ago", 90 * time.Second: "1 min ago", 3 * time.Hour: "3 h ago",
		49 * time.Hour: "2 d ago", 100 * 24 * time.Hour: "3 months ago",
		900 * 24 * time.Hour: "2 years ago", -12 * time.Minute: "in 12 min", -time.Millisecond: "now",
	} {
		if got := Relative(d).String(); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 832 * time.Millisecond: "832 ms", 4100 * time.Millisecond: "4.1 s", 20 * time.Second: "20 s",
		123 * time.Second: "2 min 3 s", 65 * time.Minute: "1 h 5 min",
	} {
		if got := Took(d).String(); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2026, 11, 27, 15, 0, 0, 0, time.Local)
	for want, at := range map[string]time.Time{
		"14:02": now.Add(-58 * time.Minute), "26 Nov 15:00": now.AddDate(0, 0, -1), "27 Nov 2025 15:00": now.AddDate(-1, 0, 0),
	} {
		if got := Clock(at, now).String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
