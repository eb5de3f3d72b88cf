package app

import (
	"context"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk"
)

// deliveryPoll is how often CheckAndDeliver looks whether all is delivered.
const deliveryPoll = 20 * time.Millisecond

// Delivered is what CheckAndDeliver did.
type Delivered struct {
	// Containers are those of the watchers that were checked, as they are stored now.
	Containers []sdk.Container
	// Failures are the watchers that could not be checked.
	Failures []error
	// Pending are the deliveries that did not succeed and will be tried again.
	Pending []delivery.Delivery
	// Problems are what is wrong with the components.
	Problems []config.Problem
}

// CheckAndDeliver does once, without serving, what Run does all the time: it
// checks the named watchers (all when none is named), plans what is pending and
// tries once to deliver what is due. No other Dogwatch may be using the store.
func (a *App) CheckAndDeliver(ctx context.Context, names []string) (Delivered, error) {
	var done Delivered
	a.load(ctx)
	if err := a.discover(ctx); err != nil {
		return done, err
	}
	if err := a.components.Await(ctx); err != nil {
		return done, err
	}
	done.Problems = a.components.Problems()
	watchers := a.components.WatchersNamed(names)
	done.Failures = parts.CheckWatchers(ctx, a.checker, watchers)
	if err := a.deliver(ctx); err != nil {
		return done, err
	}
	for _, r := range a.store.Snapshot().All() {
		if slices.ContainsFunc(watchers, func(w *component.Watcher) bool { return w.Name == r.Container.Watcher }) {
			done.Containers = append(done.Containers, r.Container)
		}
	}
	var err error
	done.Pending, err = a.store.Deliveries(ctx, store.DeliveryFilter{State: delivery.Pending, Limit: 1000})
	return done, err
}

// Progress returns how far the checks are that are under way.
func (a *App) Progress() []check.Progress { return a.checker.Progress() }

// deliver runs the dispatcher until all that happened so far is planned and nothing is
// due, and the updater, for which deliveries wait.
func (a *App) deliver(ctx context.Context) error {
	last, err := a.store.LastEvent(ctx)
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- a.parts.Run(working, "updates", "notifications") }()
	ticker := time.NewTicker(deliveryPoll)
	defer ticker.Stop()
	for err == nil && ctx.Err() == nil {
		var done bool
		if done, err = a.delivered(ctx, last); done {
			break
		}
		select {
		case <-ticker.C:
		case err = <-ended:
			stop()
			return err
		}
	}
	stop()
	<-ended
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// delivered reports whether everything up to an event is planned, nothing is
// due and nothing is under way.
func (a *App) delivered(ctx context.Context, last int64) (bool, error) {
	planned, err := a.store.Cursor(ctx, dispatch.Reader)
	if err != nil || planned < last {
		return false, err
	}
	var triggers []string
	for _, t := range a.components.Triggers() {
		if t.Usable() {
			triggers = append(triggers, t.ID())
		}
	}
	if len(triggers) == 0 {
		return true, nil
	}
	due, any, err := a.store.NextDue(ctx, triggers...)
	if err != nil || any && !due.After(a.opt.Now()) {
		return false, err
	}
	sending, err := a.store.Deliveries(ctx, store.DeliveryFilter{State: delivery.Sending, Limit: 1})
	return len(sending) == 0, err
}
