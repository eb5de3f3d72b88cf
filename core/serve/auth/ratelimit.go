package auth

import (
	"hash/maphash"
	"sync"
	"time"
)

// limiter is a rate limit (token buckets): each key may act burst times at once,
// and then once per pause. Its memory is fixed: keys share slots by a seeded hash,
// so that a client cannot choose with whom it shares one. Its methods may be
// called concurrently.
type limiter struct {
	burst float64
	pause time.Duration
	seed  maphash.Seed

	mu    sync.Mutex
	slots []tokenBucket
}

type tokenBucket struct {
	used    float64 // how many of the burst
	updated time.Time
	skipped int // samples since the last that was taken
}

func newLimiter(slots, burst int, pause time.Duration) *limiter {
	return &limiter{burst: float64(burst), pause: pause, seed: maphash.MakeSeed(), slots: make([]tokenBucket, slots)}
}

func (l *limiter) slot(key string) *tokenBucket {
	return &l.slots[maphash.String(l.seed, key)%uint64(len(l.slots))]
}

// take lets key act once, or returns how long it must wait until it may.
func (l *limiter) take(key string, now time.Time) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, wait := l.refill(key, now)
	if wait == 0 {
		b.used++
	}
	return wait
}

// wait returns how long key must wait until it may act.
func (l *limiter) wait(key string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, wait := l.refill(key, now)
	return wait
}

// refill returns the bucket of a key as it is now, and how long the key must wait.
// l.mu is held.
func (l *limiter) refill(key string, now time.Time) (*tokenBucket, time.Duration) {
	b := l.slot(key)
	b.used = max(0, b.used-float64(now.Sub(b.updated))/float64(l.pause))
	b.updated = now
	if over := b.used + 1 - l.burst; over > 0 {
		return b, time.Duration(over * float64(l.pause))
	}
	return b, 0
}

// sample takes one of a series, or counts it as skipped. It returns how many
// were skipped since the last that was taken.
func (l *limiter) sample(key string, now time.Time) (skipped int, taken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, wait := l.refill(key, now)
	if wait > 0 {
		b.skipped++
		return 0, false
	}
	b.used++
	skipped, b.skipped = b.skipped, 0
	return skipped, true
}

// refund undoes a take.
func (l *limiter) refund(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.slot(key)
	b.used = max(0, b.used-1)
}

// allowance are the limits that one attempt counts for: it is allowed if every
// limiter lets its key act.
type allowance []keyedLimit

type keyedLimit struct {
	limiter *limiter
	key     string
}

// take counts an attempt, or returns how long to wait until it may be made.
func (a allowance) take(now time.Time) time.Duration {
	for i, c := range a {
		if wait := c.limiter.take(c.key, now); wait > 0 {
			a[:i].refund()
			return wait
		}
	}
	return 0
}

// wait returns how long to wait until an attempt may be made.
func (a allowance) wait(now time.Time) (longest time.Duration) {
	for _, c := range a {
		longest = max(longest, c.limiter.wait(c.key, now))
	}
	return longest
}

// refund undoes a take.
func (a allowance) refund() {
	for _, c := range a {
		c.limiter.refund(c.key)
	}
}
