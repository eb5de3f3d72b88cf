package auth

import (
	"hash/maphash"
	"sync"
	"time"
)

// limiter slows somebody down: each key may act burst times at once, and then
// once per pause. Its memory is fixed: keys share slots by a hash that nobody
// outside can predict.
type limiter struct {
	burst float64
	pause time.Duration
	seed  maphash.Seed

	mu    sync.Mutex
	slots []bucket
}

type bucket struct {
	used float64 // how many of the burst
	at   time.Time
}

func newLimiter(slots, burst int, pause time.Duration) *limiter {
	return &limiter{burst: float64(burst), pause: pause, seed: maphash.MakeSeed(), slots: make([]bucket, slots)}
}

func (l *limiter) slot(key string) *bucket {
	return &l.slots[maphash.String(l.seed, key)%uint64(len(l.slots))]
}

// take lets key act once, or returns how long it must wait until it may.
func (l *limiter) take(key string, now time.Time) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.slot(key)
	b.used = max(0, b.used-float64(now.Sub(b.at))/float64(l.pause))
	b.at = now
	if over := b.used + 1 - l.burst; over > 0 {
		return time.Duration(over * float64(l.pause))
	}
	b.used++
	return 0
}

// giveBack undoes a take.
func (l *limiter) giveBack(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.slot(key)
	b.used = max(0, b.used-1)
}
