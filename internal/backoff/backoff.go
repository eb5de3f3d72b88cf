// Package backoff spaces the attempts of what fails again and again.
package backoff

import (
	"context"
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
