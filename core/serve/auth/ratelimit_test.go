package auth

import (
	"testing"
	"time"
)

func TestRateLimiter(t *testing.T) {
	l := newLimiter(64, 3, time.Minute)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 3 {
		if wait := l.take("a", now); wait != 0 {
			t.Fatalf("attempt %d waits %s", i, wait)
		}
	}
	if wait := l.take("a", now); wait != time.Minute {
		t.Errorf("waits %s, want a minute", wait)
	}
	if wait := l.take("a", now.Add(20*time.Second)); wait.Round(time.Millisecond) != 40*time.Second {
		t.Errorf("waits %s, want 40s: what is refused does not count", wait)
	}
	if wait := l.take("a", now.Add(time.Minute)); wait != 0 {
		t.Errorf("waits %s after a minute", wait)
	}
	l.refund("a")
	if wait := l.take("a", now.Add(time.Minute)); wait != 0 {
		t.Errorf("waits %s after it was given back", wait)
	}
	for i := range 3 { // a long pause allows no more than the burst
		if wait := l.take("a", now.Add(24*time.Hour)); wait != 0 {
			t.Errorf("attempt %d of the next day waits %s", i, wait)
		}
	}
	if l.take("a", now.Add(24*time.Hour)) == 0 {
		t.Error("there is no end")
	}
	if len(l.slots) != 64 {
		t.Error("the cache grows without bound")
	}
}
