// Package backoff spaces the attempts of what fails again and again.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pauses double with each failure, from First up to Longest.
type Pauses struct{ First, Longest time.Duration }

// After returns the pause that follows a number of failures in a row, from 1.
func (p Pauses) After(failures int) time.Duration {
	pause := p.First
	for n := 1; n < failures && pause < p.Longest; n++ {
		pause *= 2
	}
	return min(pause, p.Longest)
}

// Wait waits for a pause. The error is that of ctx, if it ends earlier.
func Wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reconnect waits before the next attempt at a stream: about 1 s, doubled with every attempt in a row, at most about a
// minute. Jitter keeps the many clients of a server that starts again apart. The error is that of ctx, if it ends
// earlier.
func Reconnect(ctx context.Context, attempt int) error {
	pause := Pauses{First: time.Second, Longest: time.Minute}.After(attempt)
	return Wait(ctx, pause/2+rand.N(pause))
}
