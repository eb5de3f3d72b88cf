package app

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
)

func TestReleaseWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var bus event.Bus
		var released atomic.Int32
		var checking atomic.Bool
		ended, pageViews := make(chan error), make(chan struct{})
		go func() {
			ended <- releaseWhenIdle(ctx, &bus, pageViews, checking.Load, func() { released.Add(1) })
		}()
		pass := func(d time.Duration, want int32) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := released.Load(); got != want {
				t.Fatalf("memory was released %d times, want %d", got, want)
			}
		}
		pass(0, 1) // what only setting up needed
		pass(idleAfterEvent, 2)
		for range 5 {
			bus.Wake()
			pass(idleAfterEvent/2, 2) // busy
		}
		pass(idleAfterEvent, 3)
		pass(time.Hour, 3) // there is nothing more to release
		pageViews <- struct{}{}
		pass(idleAfterPageView-time.Millisecond, 3)
		pass(time.Millisecond, 4)
		checking.Store(true)
		bus.Wake() // the check begins, and waits for a registry
		pass(time.Minute, 4)
		checking.Store(false)
		bus.Wake()
		pass(idleAfterEvent, 5)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
