package core

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/event"
)

func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var bus event.Bus
		var given atomic.Int32
		ended, looked := make(chan error), make(chan struct{})
		go func() { ended <- rest(ctx, &bus, looked, func() { given.Add(1) }) }()
		pass := func(d time.Duration, want int32) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := given.Load(); got != want {
				t.Fatalf("memory was given back %d times, want %d", got, want)
			}
		}
		pass(0, 1) // what only setting up needed
		pass(restAfter, 2)
		for range 5 {
			bus.Wake()
			pass(restAfter/2, 2) // busy
		}
		pass(restAfter, 3)
		pass(time.Hour, 3) // there is nothing more to give
		looked <- struct{}{}
		pass(restAfterPages-time.Millisecond, 3)
		pass(time.Millisecond, 4)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
