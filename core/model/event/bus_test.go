package event

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestBusMergesAndNeverBlocks(t *testing.T) {
	var b Bus
	b.Wake() // without a reader
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

func TestBusWakeNotifiesEverySubscription(t *testing.T) {
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

// TestBusTouchNotifiesSubscribeAll alone; each learns what changed since its last call.
func TestBusTouchNotifiesSubscribeAll(t *testing.T) {
	var b Bus
	reader, page := b.Subscribe(), b.SubscribeAll()
	defer reader.Close()
	defer page.Close()
	_, seen := b.Touched(0)
	for range 1000 {
		b.Touch(WorkChanged)
		b.Touch(ComponentChanged)
	}
	if len(reader.C()) != 0 || len(page.C()) != 1 || b.Wakes() != 0 {
		t.Errorf("the reader has %d wake-ups, the page %d", len(reader.C()), len(page.C()))
	}
	types, now := b.Touched(seen)
	if want := []Type{ComponentChanged, WorkChanged}; !slices.Equal(types, want) {
		t.Errorf("touched are %v, want %v", types, want)
	}
	if types, _ := b.Touched(now); len(types) > 0 {
		t.Errorf("touched again are %v", types)
	}
	b.Touch(WorkChanged)
	if types, _ := b.Touched(now); !slices.Equal(types, []Type{WorkChanged}) {
		t.Errorf("touched later are %v", types)
	}
	b.Wake()
	if len(reader.C()) != 1 || b.Wakes() != 1 {
		t.Error("a wake-up is for all")
	}
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

func TestBusCloseEndsSubscription(t *testing.T) {
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

// TestBusKeepsTheLastWakeUp has writers count up and a reader that must always see the final count.
func TestBusKeepsTheLastWakeUp(t *testing.T) {
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
