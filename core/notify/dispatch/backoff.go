package dispatch

import (
	"errors"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// maxAttempts is how often a delivery is tried before it is given up.
const maxAttempts = 8

// maxRetryAfter bounds the pause that a receiver may ask for.
const maxRetryAfter = 24 * time.Hour

// backoff returns the pauses after each failed attempt but the last.
func backoff() [maxAttempts - 1]time.Duration {
	return [...]time.Duration{
		10 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
		time.Hour, 3 * time.Hour, 6 * time.Hour,
	}
}

// retryAfter returns how long to wait after attempt number n failed with err:
// the usual backoff, or longer if the receiver limits the rate.
func retryAfter(n int, err error) time.Duration {
	pauses := backoff()
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
func (d *Dispatcher) pauseForExit(trigger string) { d.pause(trigger, retryAfterExit(1)) }

// pauseAfter returns how long to wait after attempt number n failed with err.
func (d *Dispatcher) pauseAfter(n int, err error) time.Duration {
	if d.opt.Exited(err) {
		return retryAfterExit(n)
	}
	return retryAfter(n, err)
}
