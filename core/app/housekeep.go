package app

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
)

// retention is how long events and finished deliveries are kept.
const retention = 90 * 24 * time.Hour

// count counts every event from now on.
func (a *App) count(ctx context.Context) error {
	event.NewTailer(event.TailOptions{Log: a.store, Bus: &a.bus, Logger: a.log,
		Handle: func(_ context.Context, page []event.Event) error {
			for _, e := range page {
				a.metrics.Event(e)
			}
			return nil
		}}).Run(ctx)
	return nil
}

// housekeep prunes the store once a day.
func (a *App) housekeep(ctx context.Context) error {
	ticker := time.NewTicker(24 * time.Hour)
	defer ticker.Stop()
	for {
		if err := a.store.Prune(ctx, a.opt.Now().Add(-retention)); err != nil && ctx.Err() == nil {
			a.log.Error("prune the store", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
