package backoff

import (
	"context"
	"errors"
	"math"
	"testing"
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
