package core

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/event"
)

// restAfter is how long nothing must be recorded before Dogwatch rests.
const restAfter = 250 * time.Millisecond

// restAfterPages is how long nobody must look at a page before Dogwatch rests.
const restAfterPages = 3 * time.Second

// rest has memory given back to the system at once, which is what only setting
// up needed, and then whenever nothing has been recorded for a moment, nor
// anybody looked at a page, until ctx ends: a check or a page needs several times
// what Dogwatch needs until the next one.
func rest(ctx context.Context, bus *event.Bus, looked <-chan struct{}, giveBack func()) error {
	sub := bus.Subscribe()
	defer sub.Close()
	giveBack()
	timer := time.NewTimer(restAfter)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-sub.C():
			timer.Reset(restAfter)
		case <-looked:
			timer.Reset(restAfterPages)
		case <-timer.C:
			giveBack()
		}
	}
}
