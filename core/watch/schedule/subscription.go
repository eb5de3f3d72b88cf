package schedule

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// resubscribeMin is the wait before engine events are subscribed to again after
	// the subscription ended, doubled up to resubscribeMax while it ends at once.
	resubscribeMin = 5 * time.Second
	resubscribeMax = 5 * time.Minute
)

// subscribe keeps a subscription to engine events until ctx ends. While a check
// runs, events wait in a bounded queue, and past that in the plugin.
func (s *Schedule) subscribe(ctx context.Context, events chan<- watcher.Event) {
	emit := func(e watcher.Event) {
		select {
		case events <- e:
		case <-ctx.Done():
		}
	}
	pauses, failures := backoff.Pauses{First: resubscribeMin, Longest: resubscribeMax}, 0
	for again := false; ctx.Err() == nil; again = true {
		began := time.Now()
		err := s.watch(ctx, emit, again)
		lived := time.Since(began) >= resubscribeMin
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, sdk.ErrUnsupported):
			s.log.Info("this engine reports no events; containers are found at scheduled checks", "watcher", s.opt.Name)
			return
		case lived || !again:
			failures = 1
			s.log.Warn("engine events ended; subscribing again", "watcher", s.opt.Name, "error", err)
		default:
			failures++
			s.log.Debug("still no engine events", "watcher", s.opt.Name, "error", err)
		}
		_ = backoff.Wait(ctx, pauses.After(failures))
	}
}

// watch follows events until they end. Once they flow again, a check finds what
// happened while they did not.
func (s *Schedule) watch(ctx context.Context, emit func(watcher.Event), again bool) error {
	ended := make(chan struct{})
	var wait sync.WaitGroup
	defer wait.Wait()
	defer close(ended)
	if again {
		wait.Go(func() {
			select {
			case <-time.After(resubscribeMin):
				emit(watcher.Event{Action: watcher.ActionChanged})
			case <-ended:
			}
		})
	}
	return s.opt.Watch(ctx, emit)
}
