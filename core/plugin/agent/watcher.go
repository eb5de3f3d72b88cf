package agent

import (
	"context"
	"errors"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Source is the watcher of the agent's own host: that of a plugin which the agent has started.
type Source interface {
	ListRaw(ctx context.Context) ([]watcher.Container, error)
	Watch(ctx context.Context, emit func(watcher.Event)) error
	Probe(ctx context.Context) (sdk.ProbeResult, error)
}

// Watcher is what an agent lets its controller do with the watcher of its host. Its methods may be called
// concurrently.
type Watcher struct{ source Source }

// NewWatcher returns the watcher of an agent.
func NewWatcher(source Source) *Watcher { return &Watcher{source} }

// List implements watcher.Watcher.
func (w *Watcher) List(ctx context.Context) ([]watcher.Container, error) {
	return w.source.ListRaw(ctx)
}

// Watch implements watcher.EventWatcher. The first event has the containers listed: what happened while there was no
// link is not known. While the plugin of the host is down it waits for it.
func (w *Watcher) Watch(ctx context.Context, emit func(watcher.Event)) error {
	emit(watcher.Event{Action: watcher.ActionChanged})
	return w.source.Watch(ctx, emit)
}

// Probe implements sdk.Prober.
func (w *Watcher) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	found, err := w.source.Probe(ctx)
	if errors.Is(err, sdk.ErrUnsupported) {
		return sdk.ProbeResult{Summary: "the agent answers; the watcher of its host has no probe"}, nil
	}
	return found, err
}
