package detach_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/internal/detach"
)

var errWork = errors.New("work failed")

func TestRunReturnsTheError(t *testing.T) {
	if err := detach.Run(t.Context(), func() error { return errWork }); !errors.Is(err, errWork) {
		t.Errorf("got %v", err)
	}
}

func TestGroupFinishesWorkWhoseCallerLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g detach.Group
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		var done atomic.Bool
		err := g.Run(ctx, func() error {
			time.Sleep(time.Minute)
			done.Store(true)
			return nil
		})
		if !errors.Is(err, context.DeadlineExceeded) || done.Load() {
			t.Fatalf("the caller got %v, work done: %v", err, done.Load())
		}
		g.Stop()
		if !done.Load() {
			t.Error("Stop did not wait for the work")
		}
	})
}

func TestGroupRefusesWorkAfterStop(t *testing.T) {
	var g detach.Group
	if err := g.Do(func() error { return errWork }); !errors.Is(err, errWork) {
		t.Errorf("got %v before Stop", err)
	}
	g.Stop()
	began := false
	for _, run := range []func(func() error) error{g.Do, func(fn func() error) error { return g.Run(t.Context(), fn) }} {
		if err := run(func() error { began = true; return nil }); !errors.Is(err, detach.ErrStopping) || began {
			t.Errorf("got %v, began: %v", err, began)
		}
	}
}
