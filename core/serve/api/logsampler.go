package api

import (
	"sync"
	"time"
)

// logSampler limits the rate of a log message that clients can cause: one in a
// minute passes, with how many did not.
type logSampler struct {
	mu      sync.Mutex
	next    time.Time
	skipped int
}

const sampleEvery = time.Minute

// allow reports whether the message may be logged now, and if so how many were
// not since the one before.
func (s *logSampler) allow(now time.Time) (skipped int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.next) {
		s.skipped++
		return 0, false
	}
	skipped, s.skipped, s.next = s.skipped, 0, now.Add(sampleEvery)
	return skipped, true
}
