package kubernetes

import (
	"context"

	"github.com/dogwatch/dogwatch/plugins/watchers/internal/mirrored"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Watch implements watcher.EventWatcher: it keeps all objects in memory, and calls emit for what changes of them. It
// reconnects by itself, and returns only when ctx ends.
func (k *Kubernetes) Watch(ctx context.Context, emit func(watcher.Event)) error {
	m := k.newMirror()
	k.current.Store(m)
	defer k.current.CompareAndSwap(m, nil) // unless another Watch has begun
	var sources []mirrored.Source
	for _, c := range m.collections() {
		sources = append(sources, c)
	}
	return mirrored.Watch{
		Sources: sources, Log: k.log, Notified: &k.notified, Problem: together,
		List: func(ctx context.Context) ([]watcher.Container, error) { return k.describe(ctx, m) },
	}.Follow(ctx, emit)
}
