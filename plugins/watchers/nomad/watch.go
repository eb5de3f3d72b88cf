package nomad

import (
	"context"

	"github.com/dogwatch/dogwatch/plugins/watchers/internal/mirrored"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Watch implements watcher.EventWatcher: it keeps the jobs in memory, and calls emit for what changes of them. It
// reconnects by itself, and returns only when ctx ends.
func (n *Nomad) Watch(ctx context.Context, emit func(watcher.Event)) error {
	all := n.mirrors()
	n.current.Store(&all)
	defer n.current.CompareAndSwap(&all, nil) // unless another Watch has begun
	var sources []mirrored.Source
	for _, m := range all {
		sources = append(sources, m)
	}
	return mirrored.Watch{
		Sources: sources, Log: n.log, Notified: &n.notified,
		List: func(context.Context) ([]watcher.Container, error) { return describe(all), nil },
	}.Follow(ctx, emit)
}
