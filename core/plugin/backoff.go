package plugin

import (
	"math/rand/v2"
	"time"
)

const (
	firstBackoff = time.Second
	lastBackoff  = 2 * time.Minute
	// quietTime without a death forgets earlier ones.
	quietTime = 10 * time.Minute
	// youngAge is how long a process must live for its death not to count as a crash loop.
	youngAge = 10 * time.Second
	// maxCrashes in a row make a bundle broken.
	maxCrashes = 5
)

// backoff decides what a death means: start again now, later, or not at all.
type backoff struct {
	crashes int
	last    time.Time
}

// death is how a process, or an attempt to start one, ended.
type death struct {
	at time.Time
	// lived is 0 when the process never came up.
	lived time.Duration
	// answered is true when it had answered at least one call of its instances.
	answered bool
	// outside is true when a signal from outside ended it.
	outside bool
}

// next returns how long to wait before starting again, and false when the bundle is broken.
func (b *backoff) next(d death) (time.Duration, bool) {
	if !b.last.IsZero() && d.at.Sub(b.last) > quietTime {
		b.crashes = 0
	}
	b.last = d.at
	healthy := d.answered && (d.outside || d.lived >= youngAge)
	if healthy {
		b.crashes = 0
		return 0, true
	}
	b.crashes++
	if b.crashes >= maxCrashes {
		return 0, false
	}
	wait := min(firstBackoff<<(b.crashes-1), lastBackoff)
	return wait/2 + rand.N(wait/2+1), true
}

func (b *backoff) reset() { *b = backoff{} }
