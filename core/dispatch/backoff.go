package dispatch

import (
	"errors"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// waits are the pauses after each failed attempt but the last.
var waits = []time.Duration{
	10 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
	time.Hour, 3 * time.Hour, 6 * time.Hour,
}

// maxAttempts is how often a delivery is tried before it is given up.
var maxAttempts = len(waits) + 1

// maxWait bounds what the other side may ask for.
const maxWait = 24 * time.Hour

// retryAfter returns how long to wait after attempt number n failed with err:
// the usual pause, or longer if the other side asked for it.
func retryAfter(n int, err error) time.Duration {
	wait := waits[min(max(n, 1), len(waits))-1]
	var limited *sdk.RateLimitedError
	if errors.As(err, &limited) {
		wait = max(wait, min(limited.After, maxWait))
	}
	return wait
}

// lostPauses are the pauses after the first attempts whose outcome was lost,
// because the plugin or this process itself was killed during the call. Nobody
// else has to be spared, so they are short; but a second death right after the
// first must not meet the same delivery, whose message would arrive a third
// time, and the plugin may be pausing before its own restart. A delivery that
// keeps killing what delivers it waits as any other that fails.
var lostPauses = []time.Duration{1500 * time.Millisecond, 5 * time.Second, 20 * time.Second}

// pause returns how long to wait after attempt number n failed with err.
func (d *Dispatcher) pause(n int, err error) time.Duration {
	if d.opt.Died(err) {
		return lostPause(n)
	}
	return retryAfter(n, err)
}

// lostPause returns how long to wait after the outcome of attempt number n was lost.
func lostPause(n int) time.Duration {
	if n = max(n, 1); n <= len(lostPauses) {
		return lostPauses[n-1]
	}
	return retryAfter(n, nil)
}
