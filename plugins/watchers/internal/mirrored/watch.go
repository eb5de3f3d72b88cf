package mirrored

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/internal/wake"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// settle is how long changes are gathered before the host hears of them: a rollout changes much at once.
const settle = 500 * time.Millisecond

// Source is a part of what is mirrored, such as one that has Items. Follow keeps it as it is until ctx ends.
type Source interface {
	Follow(ctx context.Context, changed func()) error
	Synced() bool
	Moved() bool
	Problem() error
}

// Synced reports whether all is known.
func Synced[S Source](all []S) bool {
	return !slices.ContainsFunc(all, func(s S) bool { return !s.Synced() })
}

// Watch notifies the host of what changes of a cluster.
type Watch struct {
	Sources []Source
	Log     hclog.Logger
	// List returns the containers of the sources. After an error the next change is waited for.
	List     func(ctx context.Context) ([]watcher.Container, error)
	Notified *orchestrated.Notified
	// Problem makes one error of those of the sources, of which some are nil; without it, it is the first.
	Problem func(errs []error) error
}

// Follow keeps the sources in memory, and calls emit for what changes of them. It reconnects by itself, and returns
// only when ctx ends.
func (w Watch) Follow(ctx context.Context, emit func(watcher.Event)) error {
	changed := wake.New()
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range w.Sources {
		group.Go(func() error { return s.Follow(ctx, changed.Set) })
	}
	group.Go(func() error { return w.notify(ctx, changed, emit) })
	return group.Wait()
}

// notify calls emit for what differs from what the host knows, whenever something has changed, until ctx ends.
func (w Watch) notify(ctx context.Context, changed <-chan struct{}, emit func(watcher.Event)) error {
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
		var problems []error
		for _, s := range w.Sources {
			moved = s.Moved() || moved
			problems = append(problems, s.Problem())
		}
		if !Synced(w.Sources) {
			if problem := w.problem(problems); problem != nil && !warned {
				warned = true
				w.Log.Warn("the cluster cannot be watched, trying again until it can", "error", orchestrated.Sentence(problem))
			}
			if known { // the host finds out that the cluster is gone
				known = false
				emit(watcher.Event{Action: watcher.ActionChanged, At: sdk.TimeOf(time.Now())})
			}
			continue
		}
		if warned {
			warned = false
			w.Log.Info("the cluster can be watched again")
		}
		list, err := w.List(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			w.Log.Debug("what has changed in the cluster is not known", "error", err)
			continue
		}
		for _, e := range w.Notified.Missed(list, moved) {
			emit(e)
		}
		known, moved = true, false
	}
}

func (w Watch) problem(errs []error) error {
	if w.Problem != nil {
		return w.Problem(errs)
	}
	return cmp.Or(errs...)
}
