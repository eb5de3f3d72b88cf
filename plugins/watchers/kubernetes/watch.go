package kubernetes

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// settle is how long changes are gathered before the host hears of them: a rollout changes many objects at once.
const settle = 500 * time.Millisecond

// Watch implements watcher.EventWatcher: it keeps all objects in memory, and calls emit for what changes of them. It
// reconnects by itself, and returns only when ctx ends.
func (k *Kubernetes) Watch(ctx context.Context, emit func(watcher.Event)) error {
	m := k.newMirror()
	k.setMirror(m, nil)
	defer k.setMirror(nil, m)
	changed := make(chan struct{}, 1)
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range m.collections() {
		group.Go(func() error {
			return c.Follow(ctx, func() {
				select {
				case changed <- struct{}{}:
				default: // it is being told already
				}
			})
		})
	}
	group.Go(func() error { return k.tell(ctx, m, changed, emit) })
	return group.Wait()
}

// setMirror makes m the mirror that List reads; with was only in its place.
func (k *Kubernetes) setMirror(m, was *mirror) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if was == nil || k.current == was {
		k.current = m
	}
}

// tell calls emit for what differs from what the host knows, whenever something has changed, until ctx ends.
func (k *Kubernetes) tell(ctx context.Context, m *mirror, changed <-chan struct{}, emit func(watcher.Event)) error {
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
		moved = m.moved() || moved
		if !m.synced() {
			if problem := m.problem(); problem != nil && !warned {
				warned = true
				k.log.Warn("the cluster cannot be watched, trying again until it can", "error", sentence(problem))
			}
			if known { // the host finds out that the cluster is gone
				known = false
				emit(watcher.Event{Action: watcher.ActionChanged, At: sdk.TimeOf(time.Now())})
			}
			continue
		}
		if warned {
			warned = false
			k.log.Info("the cluster can be watched again")
		}
		list, err := k.describe(ctx, m)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			k.log.Debug("the nodes of the cluster are not known", "error", err)
			continue
		}
		for _, e := range k.notified.Missed(list, moved) {
			emit(e)
		}
		known, moved = true, false
	}
}
