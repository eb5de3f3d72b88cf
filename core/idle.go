package core

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/event"
)

const (
	// idleAfterEvent is how long after the last event Dogwatch counts as idle.
	idleAfterEvent = 250 * time.Millisecond
	// idleAfterPageView is how long after the last page view it does.
	idleAfterPageView = 3 * time.Second
	// trimEvery is how often the program's pages are given back during a check.
	trimEvery = 25 * time.Millisecond
)

// releaseWhenIdle calls release at once, for what only setting up needed, and
// then whenever Dogwatch becomes idle, until ctx ends: a check or a page needs
// several times the memory that Dogwatch needs until the next one. While events
// come, it calls trim every 25 ms: a check walks through most of the
// program, and needs little of it at a time.
func releaseWhenIdle(ctx context.Context, bus *event.Bus, pageViews <-chan struct{}, release, trim func()) error {
	sub := bus.Subscribe()
	defer sub.Close()
	release()
	timer := time.NewTimer(idleAfterEvent)
	defer timer.Stop()
	trimmed, trimTimer := time.Now(), time.NewTimer(trimEvery)
	trimTimer.Stop()
	defer trimTimer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-sub.C():
			timer.Reset(idleAfterEvent)
			if wait := trimEvery - time.Since(trimmed); wait > 0 {
				trimTimer.Reset(wait)
				continue
			}
			trim()
			trimmed = time.Now()
		case <-trimTimer.C:
			trim()
			trimmed = time.Now()
		case <-pageViews:
			timer.Reset(idleAfterPageView)
		case <-timer.C:
			release()
		}
	}
}
