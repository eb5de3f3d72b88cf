package nomad

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// settle is how long changes are gathered before the host hears of them.
const settle = 500 * time.Millisecond

// Watch implements watcher.EventWatcher: it keeps the jobs in memory, and calls emit for what changes of them. It
// reconnects by itself, and returns only when ctx ends.
func (n *Nomad) Watch(ctx context.Context, emit func(watcher.Event)) error {
	all := n.mirrors()
	n.mu.Lock()
	n.current = all
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if len(n.current) > 0 && n.current[0] == all[0] { // no other Watch has begun
			n.current = nil
		}
	}()
	changed := make(chan struct{}, 1)
	group, ctx := errgroup.WithContext(ctx)
	for _, m := range all {
		group.Go(func() error {
			return m.follow(ctx, func() {
				select {
				case changed <- struct{}{}:
				default: // it is being told already
				}
			})
		})
	}
	group.Go(func() error { return n.notify(ctx, all, changed, emit) })
	return group.Wait()
}

// notify calls emit for what differs from what the host knows, whenever something has changed, until ctx ends.
func (n *Nomad) notify(ctx context.Context, all []*mirror, changed <-chan struct{}, emit func(watcher.Event)) error {
	known, moved, warned := false, false, false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
		if err := backoff.Wait(ctx, settle); err != nil {
			return err
		}
		var problem error
		for _, m := range all {
			m.mu.Lock()
			moved, m.moved = moved || m.moved, false
			if m.problem != nil {
				problem = m.problem
			}
			m.mu.Unlock()
		}
		if !synced(all) {
			if problem != nil && !warned {
				warned = true
				n.log.Warn("the cluster cannot be watched, trying again until it can", "error", sentence(problem))
			}
			if known { // the host finds out that the cluster is gone
				known = false
				emit(watcher.Event{Action: watcher.ActionChanged, At: sdk.TimeOf(time.Now())})
			}
			continue
		}
		if warned {
			warned = false
			n.log.Info("the cluster can be watched again")
		}
		for _, e := range n.notified.Missed(describe(all), moved) {
			emit(e)
		}
		known, moved = true, false
	}
}

// synced reports whether all jobs are known, and what changes of them is heard of.
func synced(all []*mirror) bool {
	for _, m := range all {
		m.mu.Lock()
		is := m.synced
		m.mu.Unlock()
		if !is {
			return false
		}
	}
	return true
}
