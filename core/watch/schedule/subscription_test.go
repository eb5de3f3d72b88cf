package schedule

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestScheduleRecordsStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, func(b *bench) {
			b.Watch = func(ctx context.Context, emit func(watcher.Event)) error {
				emit(watcher.Event{Action: watcher.ActionStatus, ContainerID: "a", Status: "paused"})
				emit(watcher.Event{Action: "exec_create", ContainerID: "b"})
				emit(watcher.Event{Action: watcher.ActionStatus, ContainerID: "a", Status: "running"})
				<-ctx.Done()
				return ctx.Err()
			}
		})
		checks, changes := b.after(time.Minute)
		want(t, "checked", checks)
		want(t, "changed", changes)
		if want := []string{"a paused", "a running"}; !slices.Equal(b.status, want) {
			t.Errorf("status %q, want %q", b.status, want)
		}
		b.stop()
	})
}

// TestScheduleBoundsQueuedEvents: events beyond the queue wait in the plugin, and none is lost.
func TestScheduleBoundsQueuedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const burst = 3 * queued
		var emitted atomic.Int64
		b := run(t, func(b *bench) {
			b.AtStart, b.took = true, time.Minute
			b.Watch = func(ctx context.Context, emit func(watcher.Event)) error {
				for range burst {
					emit(watcher.Event{Action: watcher.ActionStatus, ContainerID: "a", Status: "running"})
					emitted.Add(1)
				}
				<-ctx.Done()
				return ctx.Err()
			}
		})
		b.after(time.Second)
		if emitted.Load() != queued {
			t.Errorf("%d events taken during a check, want %d", emitted.Load(), queued)
		}
		b.after(2 * time.Minute)
		if len(b.status) != burst {
			t.Errorf("%d of %d events passed on", len(b.status), burst)
		}
		b.stop()
	})
}

func TestSubscriptionEndsWhenUnsupported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		subscribed := 0
		b := run(t, func(b *bench) {
			b.Watch = func(context.Context, func(watcher.Event)) error {
				subscribed++
				return sdk.WithKind(sdk.ErrUnsupported, errors.New("no events"))
			}
		})
		checks, changes := b.after(65 * time.Minute)
		want(t, "checked", checks, time.Hour)
		want(t, "changed", changes)
		if subscribed != 1 {
			t.Errorf("subscribed %d times", subscribed)
		}
		b.stop()
	})
}

// TestSubscriptionIsRenewed: after a stream that lived, soon; while they end
// at once, ever more rarely. Only a stream that lives again leads to a check.
func TestSubscriptionIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var subscribed []time.Duration
		b := run(t, func(b *bench) {
			b.Times = every(24 * time.Hour)
			b.Watch = func(ctx context.Context, _ func(watcher.Event)) error {
				b.note(&subscribed)
				if n := len(subscribed); n > 1 && n < 6 { // the plugin is down
					return sdk.WithKind(sdk.ErrUnavailable, errors.New("plugin is down"))
				}
				select {
				case <-time.After(10 * time.Minute):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
		_, changes := b.after(19 * time.Minute)
		m, s := time.Minute, time.Second
		back := 10*m + (5+10+20+40+80)*s
		want(t, "subscribed", subscribed, 0, 10*m+5*s, 10*m+15*s, 10*m+35*s, 10*m+75*s, back)
		want(t, "changed", changes, back+resubscribeMin+debounceQuiet)
		b.stop()
	})
}

func TestSubscriptionBackoffIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var subscribed []time.Duration
		b := run(t, func(b *bench) {
			b.Times = every(100 * time.Hour)
			b.Watch = func(context.Context, func(watcher.Event)) error {
				b.note(&subscribed)
				return errors.New("down")
			}
		})
		_, changes := b.after(24 * time.Hour)
		want(t, "changed", changes)
		last := len(subscribed) - 1
		if got := subscribed[last] - subscribed[last-1]; got != resubscribeMax {
			t.Errorf("in the end subscribed every %s, want every %s", got, resubscribeMax)
		}
		b.stop()
	})
}
