package core

import (
	"context"
	"fmt"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/store"
)

// outages hands restore the watchers of which the event log says last that their
// engines cannot be reached.
func outages(ctx context.Context, log *store.Store, restore func(watcher string, of event.Watcher)) error {
	last, err := log.Outages(ctx)
	if err != nil {
		return fmt.Errorf("read the outages of watchers: %w", err)
	}
	for _, e := range last {
		if e.Type == event.WatcherFailed && e.Watcher != nil {
			restore(e.Subject, *e.Watcher)
		}
	}
	return nil
}

// reached notes whether the engine of a watcher answered.
func (a *App) reached(watcher string, err error) {
	if w, known := a.components.Watcher(watcher); known && w.SetReached(err) {
		a.bus.Touch(event.ComponentChanged)
	}
}
