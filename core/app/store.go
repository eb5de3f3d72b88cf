package app

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
)

// openStore opens the store, which no other Dogwatch may use until it is closed.
func (a *App) openStore(ctx context.Context) error {
	path := a.opt.Config.StoreFile()
	lock, err := store.Acquire(path)
	if err != nil {
		return err
	}
	a.parts.Add(parts.Part{Name: "lock of the store", Close: lock.Release})
	a.store, err = store.Open(ctx, path, store.Options{
		Bus: &a.bus,
		Now: a.opt.Now,
		Log: a.opt.Log,
	})
	if err != nil {
		return err
	}
	a.parts.Add(parts.Part{Name: "store", Run: a.housekeep, Close: func() {
		if err := a.store.Close(); err != nil {
			a.log.Error("close the store", "error", err)
		}
	}})
	a.wudNames, err = a.keepsWUDNames(ctx)
	return err
}

// retention is how long events and finished deliveries are kept.
const retention = 90 * 24 * time.Hour

// housekeep prunes the store once a day.
func (a *App) housekeep(ctx context.Context) error {
	return every(ctx, 24*time.Hour, func() {
		if err := a.store.Prune(ctx, a.opt.Now().Add(-retention)); err != nil && ctx.Err() == nil {
			a.log.Error("prune the store", "error", err)
		}
	})
}

// every calls do at once, and then after each pause, until ctx ends. It returns nil.
func every(ctx context.Context, pause time.Duration, do func()) error {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		do()
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// count counts every event from now on.
func (a *App) count(ctx context.Context) error {
	event.NewTailer(event.TailOptions{
		Log:    a.store,
		Bus:    &a.bus,
		Logger: a.log,
		Handle: func(_ context.Context, page []event.Event) error {
			for _, e := range page {
				a.metrics.Event(e)
			}
			return nil
		},
	}).Run(ctx)
	return nil
}
