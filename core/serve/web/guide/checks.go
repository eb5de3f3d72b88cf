package guide

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
)

// recentChecks is how many beginnings and ends of checks are read to find the last of each watcher.
const recentChecks = 200

// RecentChecks returns the latest beginnings and ends of checks, newest first.
func (h *Handler) RecentChecks(ctx context.Context, actor auth.Actor) ([]event.Event, error) {
	return h.service.History(ctx, actor, event.Filter{
		Types: []event.Type{event.CheckStarted, event.CheckFinished, event.CheckFailed}, Limit: recentChecks,
	})
}

func (h *Handler) lastEnds(ctx context.Context, actor auth.Actor) (map[string]event.Event, error) {
	found, err := h.RecentChecks(ctx, actor)
	return LastChecks(found), err
}

// LastChecks keeps the newest end of a check of all, by watcher.
func LastChecks(newestFirst []event.Event) map[string]event.Event {
	last := map[string]event.Event{}
	for _, e := range newestFirst {
		if _, known := last[e.Subject]; !known && e.Check != nil && !e.Check.Single && e.Type != event.CheckStarted {
			last[e.Subject] = e
		}
	}
	return last
}

// RunningChecks returns which watchers are being checked as a whole: those whose
// newest event is a beginning. One from before this process started never ended.
func RunningChecks(newestFirst []event.Event, started time.Time) map[string]bool {
	running := map[string]bool{}
	for _, e := range newestFirst {
		if _, known := running[e.Subject]; !known && e.Check != nil && !e.Check.Single {
			running[e.Subject] = e.Type == event.CheckStarted && e.At.After(started)
		}
	}
	return running
}
