package event

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestBusMergesAndNeverBlocks(t *testing.T) {
	var b Bus
	b.Wake() // nobody listens
	s := b.Subscribe()
	defer s.Close()
	for range 1000 { // would hang here if a writer waited for its readers
		b.Wake()
	}
	if got := len(s.C()); got != 1 {
		t.Fatalf("%d wake-ups kept, want them merged into 1", got)
	}
	if err := s.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(s.C()); got != 0 {
		t.Fatalf("%d wake-ups left after Wait, want 0", got)
	}
}

func TestBusWakesEveryReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Bus
		var woken atomic.Int32
		for range 5 {
			s := b.Subscribe()
			go func() {
				defer s.Close()
				if s.Wait(t.Context()) == nil {
					woken.Add(1)
				}
			}()
		}
		synctest.Wait()
		if woken.Load() != 0 {
			t.Fatal("a reader woke before the wake-up")
		}
		b.Wake()
		synctest.Wait()
		if got := woken.Load(); got != 5 {
			t.Fatalf("%d readers woke, want 5", got)
		}
	})
}

func TestBusWaitEndsWithItsContext(t *testing.T) {
	var b Bus
	s := b.Subscribe()
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("Wait returned %v, want the context's error", err)
	}
}

func TestBusForgetsClosedReaders(t *testing.T) {
	var b Bus
	s, other := b.Subscribe(), b.Subscribe()
	defer other.Close()
	s.Close()
	s.Close()
	b.Wake()
	if len(s.C()) != 0 || len(other.C()) != 1 {
		t.Fatal("closing one subscription must end that one only")
	}
}

// TestBusLosesNothing has writers count up and a reader that must always see the final count.
func TestBusLosesNothing(t *testing.T) {
	var b Bus
	var written atomic.Int64
	s := b.Subscribe()
	defer s.Close()
	const writers, each = 4, 500
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				written.Add(1)
				b.Wake()
			}
		})
	}
	for written.Load() < writers*each {
		if err := s.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
}
