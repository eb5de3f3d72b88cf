package event

import (
	"context"
	"sync"
)

// Bus tells readers of the log that there may be something new. A wake-up
// carries no data, so any number of them merge into one, a writer never waits
// for a reader, and a slow reader is merely late. The zero Bus is ready; its
// methods may be called concurrently.
type Bus struct {
	mu   sync.Mutex
	subs map[*Subscription]struct{}
}

// Subscription is one reader's ear. At most one wake-up is kept for it.
type Subscription struct {
	bus  *Bus
	wake chan struct{}
}

// Subscribe returns a Subscription that hears every later Wake. Subscribe first
// and read the log second, and nothing is missed. The caller must Close it.
func (b *Bus) Subscribe() *Subscription {
	s := &Subscription{bus: b, wake: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subs == nil {
		b.subs = map[*Subscription]struct{}{}
	}
	b.subs[s] = struct{}{}
	return s
}

// Wake wakes every reader. It never blocks.
func (b *Bus) Wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subs {
		select {
		case s.wake <- struct{}{}:
		default: // already has one to hear
		}
	}
}

// C returns the channel that delivers wake-ups, for use in a select. It is never closed.
func (s *Subscription) C() <-chan struct{} { return s.wake }

// Wait returns nil at the next wake-up, or at once if one has come since the
// last; else the context's error. A closed Subscription only ends with its context.
func (s *Subscription) Wait(ctx context.Context) error {
	select {
	case <-s.wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	delete(s.bus.subs, s)
}
