package plugin

import (
	"context"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Watcher is a configured watcher as the core calls it. It implements
// watcher.Watcher and watcher.EventWatcher.
type Watcher struct{ handle }

// Watcher returns the handle of a watcher in this bundle.
func (s *Supervisor) Watcher(id string) Watcher { return Watcher{handle{id: id, s: s}} }

// List implements watcher.Watcher.
func (w Watcher) List(ctx context.Context) (found []sdk.Container, err error) {
	err = w.call(ctx, "List", "", listTimeout, retryOnce, func(ctx context.Context, c *pluginclient.Client) (err error) {
		found, err = c.Watcher(w.id).List(ctx)
		return err
	})
	return found, err
}

// Watch implements watcher.EventWatcher. It returns when ctx ends or the plugin stops.
func (w Watcher) Watch(ctx context.Context, emit func(watcher.Event)) error {
	return w.call(ctx, "Watch", "", 0, noRetry, func(ctx context.Context, c *pluginclient.Client) error {
		return c.Watcher(w.id).Watch(ctx, emit)
	})
}
