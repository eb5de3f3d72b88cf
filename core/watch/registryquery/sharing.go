package registryquery

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// ShareTime is how long the response to one engine's check counts for those of other engines. Checks with one
	// cron expression begin within their jitter of each other, a minute unless configured otherwise.
	ShareTime = 2 * time.Minute
	// maxShared bounds the bytes of responses that are kept for other checks. What does not fit is asked for again.
	maxShared = 8 << 20
)

// sharing has the checks of several engines make the same request once. It may be used concurrently.
type sharing[V any] struct {
	size func(V) int // in bytes

	mu    sync.Mutex
	calls map[string]*call[V]
	kept  int // bytes of the calls that have ended
}

// call is a request that is under way, or was answered.
type call[V any] struct {
	began time.Time
	done  chan struct{}
	value V
	err   error
	size  int
}

// do returns the response to a request that began at since or later: one that is kept, one that is under way, or
// that of ask. With a zero since it always asks. Nobody may change the value.
func (s *sharing[V]) do(ctx context.Context, key string, since, now time.Time, ask func() (V, error)) (V, error) {
	if since.IsZero() {
		return ask()
	}
	for {
		c, mine := s.join(key, since, now)
		if mine {
			c.value, c.err = ask()
			s.end(key, c)
			return c.value, c.err
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
		// The check that asked was stopped, which says nothing about the registry.
		if !errors.Is(c.err, context.Canceled) {
			return c.value, c.err
		}
	}
}

// join returns the request that may be shared, or a new one that the caller has to make.
func (s *sharing[V]) join(key string, since, now time.Time) (c *call[V], mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c = s.calls[key]; c != nil && !c.began.Before(since) {
		return c, false
	}
	if s.calls == nil {
		s.calls = map[string]*call[V]{}
	}
	s.drop(key)
	c = &call[V]{began: now, done: make(chan struct{})}
	s.calls[key] = c
	return c, true
}

// end keeps the response of a request for others. Failures are for those that wait already.
func (s *sharing[V]) end(key string, c *call[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[key] == c {
		if c.err == nil {
			c.size = len(key) + s.size(c.value)
			s.kept += c.size
		}
		if c.err != nil || s.kept > maxShared {
			s.drop(key)
		}
	}
	close(c.done)
}

// drop forgets a response. The caller holds mu.
func (s *sharing[V]) drop(key string) {
	if c := s.calls[key]; c != nil {
		s.kept -= c.size
		delete(s.calls, key)
	}
}

// expire forgets the responses to requests that began before a time.
func (s *sharing[V]) expire(before time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, c := range s.calls {
		if c.size > 0 && c.began.Before(before) {
			s.drop(key)
		}
	}
}

func sizeOfTags(tags []string) int {
	size := 0
	for _, t := range tags {
		size += len(t) + 16 // bytes of a string's header
	}
	return size
}

// expireShared forgets the responses that are too old for the checks of other engines.
func (cl *Client) expireShared() {
	before := cl.opt.Now().Add(-ShareTime)
	cl.tagLists.expire(before)
	cl.digests.expire(before)
}
