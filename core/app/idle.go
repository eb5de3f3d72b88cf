package app

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
)

const (
	// idleAfterEvent is how long after the last event Dogwatch counts as idle.
	idleAfterEvent = 250 * time.Millisecond
	// idleAfterPageView is how long after the last page view it does.
	idleAfterPageView = 3 * time.Second
)

// releaseWhenIdle calls release at once, for what only setting up needed, and
// then whenever Dogwatch becomes idle, until ctx ends: a check or a page needs
// several times the memory that Dogwatch needs until the next one. While checking
// reports that a check is under way, which may wait for its registries, it is not idle.
func releaseWhenIdle(
	ctx context.Context, bus *event.Bus, pageViews <-chan struct{}, checking func() bool, release func(),
) error {
	sub := bus.Subscribe()
	defer sub.Close()
	release()
	timer := time.NewTimer(idleAfterEvent)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-sub.C():
			timer.Reset(idleAfterEvent)
		case <-pageViews:
			timer.Reset(idleAfterPageView)
		case <-timer.C:
			if checking() {
				timer.Reset(idleAfterEvent)
				continue
			}
			release()
		}
	}
}
