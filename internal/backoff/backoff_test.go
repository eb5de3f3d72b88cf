package backoff

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func TestPausesDoubleUpToLongest(t *testing.T) {
	p := Pauses{First: time.Second, Longest: 10 * time.Second}
	for failures, want := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 4: 8 * time.Second, 5: 10 * time.Second,
		math.MaxInt: 10 * time.Second,
	} {
		if got := p.After(failures); got != want {
			t.Errorf("after %d failures: %s, want %s", failures, got, want)
		}
	}
}

func TestWaitEndsWithContext(t *testing.T) {
	if err := Wait(t.Context(), time.Nanosecond); err != nil {
		t.Error(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := Wait(ended, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestReconnectPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for attempt, want := range map[int]time.Duration{
			1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 6: 32 * time.Second, 7: time.Minute,
			100: time.Minute, 1 << 40: time.Minute,
		} {
			for range 50 {
				start := time.Now()
				if err := Reconnect(t.Context(), attempt); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took < want/2 || took >= want*3/2 {
					t.Errorf("attempt %d paused %s, want about %s", attempt, took, want)
				}
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Reconnect(ctx, 7); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
