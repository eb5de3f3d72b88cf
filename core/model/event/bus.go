package event

import (
	"context"
	"slices"
	"sync"

	"github.com/dogwatch/dogwatch/internal/wake"
)

// Bus notifies readers of the log that there may be something new, and those who
// want to know it that state has changed that is not in the log. A wake-up
// carries no data, so any number of them merge into one, a writer never waits
// for a reader, and a slow reader is merely late. The zero Bus is ready; its
// methods may be called concurrently.
type Bus struct {
	mu    sync.Mutex
	subs  map[*Subscription]struct{}
	wakes uint64
	// touches counts the calls of Touch, touched has the last one of each type.
	touches uint64
	touched map[Type]uint64
}

// Subscription is that of one reader. At most one wake-up is kept for it.
type Subscription struct {
	bus  *Bus
	all  bool
	wake wake.Signal
}

// Subscribe returns a Subscription that is notified of every later Wake. Subscribe first
// and read the log second, and nothing is missed. The caller must Close it.
func (b *Bus) Subscribe() *Subscription { return b.subscribe(false) }

// SubscribeAll is Subscribe for a reader that every later Touch wakes, too.
func (b *Bus) SubscribeAll() *Subscription { return b.subscribe(true) }

func (b *Bus) subscribe(all bool) *Subscription {
	s := &Subscription{bus: b, all: all, wake: wake.New()}
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
	b.wakes++
	for s := range b.subs {
		s.wake.Set()
	}
}

// Wakes returns how often Wake was called: a reader that has read the log since the
// last change of this number has read all of it.
func (b *Bus) Wakes() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wakes
}

// Touch notifies those of SubscribeAll that state of a type has changed: one whose
// changes are not in the log, such as ComponentChanged. It never blocks.
func (b *Bus) Touch(t Type) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.touches++
	if b.touched == nil {
		b.touched = map[Type]uint64{}
	}
	b.touched[t] = b.touches
	for s := range b.subs {
		if s.all {
			s.wake.Set()
		}
	}
}

// Touched returns, in the order of their names, the types touched since an
// earlier call returned now; and now, to hand in the next time.
func (b *Bus) Touched(since uint64) (types []Type, now uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for t, count := range b.touched {
		if count > since {
			types = append(types, t)
		}
	}
	slices.Sort(types)
	return types, b.touches
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
