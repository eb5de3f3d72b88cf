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

const (
	// A process of ours that died is back within a moment, and nobody else has
	// to be spared: the first tries after that need not wait long. A delivery that keeps killing it does.
	deathPause = time.Second
	quickTries = 3
)

// pause returns how long to wait after attempt number n failed with err.
func (d *Dispatcher) pause(n int, err error) time.Duration {
	if d.opt.Died(err) && n <= quickTries {
		return deathPause
	}
	return retryAfter(n, err)
}
