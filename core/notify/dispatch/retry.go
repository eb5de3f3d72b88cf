package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxAttempts is how often a delivery is tried before it is given up.
const maxAttempts = 8

// maxRetryAfter bounds the pause that a receiver may ask for.
const maxRetryAfter = 24 * time.Hour

// retryPauses returns the pauses after each failed attempt but the last.
func retryPauses() [maxAttempts - 1]time.Duration {
	return [...]time.Duration{
		10 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
		time.Hour, 3 * time.Hour, 6 * time.Hour,
	}
}

// retryAfter returns how long to wait after attempt number n failed with err:
// the usual backoff, or longer if the receiver limits the rate.
func retryAfter(n int, err error) time.Duration {
	pauses := retryPauses()
	wait := pauses[min(max(n, 1), len(pauses))-1]
	var limited *sdk.RateLimitedError
	if errors.As(err, &limited) {
		wait = max(wait, min(limited.After, maxRetryAfter))
	}
	return wait
}

// retryAfterExit returns how long to wait after attempt number n, whose outcome
// is unknown because the plugin or this process exited during the call. No other
// host has to be spared, so the first pauses are short; but a second exit soon
// after the first must not meet the same delivery, whose message would arrive a
// third time, and the plugin may be pausing before its own restart. A delivery
// that makes its plugin exit each time waits as any other that fails.
func retryAfterExit(n int) time.Duration {
	pauses := [...]time.Duration{1500 * time.Millisecond, 5 * time.Second, 20 * time.Second}
	if n = max(n, 1); n <= len(pauses) {
		return pauses[n-1]
	}
	return retryAfter(n, nil)
}

// pauseForExit has what else is due for a trigger wait as long as the delivery whose call an exit interrupted: a
// second exit soon after the first must not meet another one either, whose message would arrive twice as well.
func (r *retries) pauseForExit(trigger string) { r.pause(trigger, retryAfterExit(1)) }

// pauseAfter returns how long to wait after attempt number n failed with err.
func (r *retries) pauseAfter(n int, err error) time.Duration {
	if r.opt.Exited(err) {
		return retryAfterExit(n)
	}
	return retryAfter(n, err)
}

// retries decide what follows from a call of a trigger, and when it may be called again.
type retries struct {
	opt Options

	mu sync.Mutex
	// pausedUntil is when triggers that limit the rate may be called again.
	pausedUntil map[string]time.Time
}

// pause keeps a trigger from being called for a while.
func (r *retries) pause(id string, pause time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pausedUntil[id] = r.opt.Now().Add(pause)
}

// paused reports whether a trigger may not be called now.
func (r *retries) paused(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opt.Now().Before(r.pausedUntil[id])
}

// outcome returns what follows from an error of a trigger, or from nil.
func (r *retries) outcome(ctx context.Context, t Trigger, ended delivery.Delivery, err error) delivery.Outcome {
	var limited *sdk.RateLimitedError
	if errors.As(err, &limited) {
		r.pause(t.ID, retryAfter(1, err)) // the rate limit is for what else is due for it, too
	}
	if r.opt.Exited(err) {
		r.pauseForExit(t.ID)
	}
	stopped := ctx.Err() != nil
	switch {
	case err == nil:
		return delivery.Outcome{State: delivery.Sent}
	case t.AtMostOnce && !r.opt.operates(t) && !r.opt.NotStarted(err):
		if stopped || unknown(err) {
			err = fmt.Errorf("outcome unknown, not repeated: %w", err)
		}
		return delivery.Outcome{State: delivery.Failed, Error: err.Error()}
	case stopped: // which says nothing about the trigger: due at the next start
		return delivery.Outcome{State: delivery.Pending, Error: err.Error()}
	case (sdk.Retryable(err) || unknown(err)) && ended.Attempts < maxAttempts:
		return delivery.Outcome{
			State: delivery.Pending, Error: err.Error(), NextAt: r.opt.Now().Add(r.pauseAfter(ended.Attempts, err)),
		}
	}
	return delivery.Outcome{State: delivery.Failed, Error: err.Error()}
}

// unknown reports whether an error leaves open if the call had an effect.
func unknown(err error) bool {
	return errors.Is(err, sdk.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled)
}

// until is when a trigger that is paused may be called again.
func (r *retries) until(id string) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pausedUntil[id]
}
