package pluginserver

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/protocol"
)

// instances holds the configured instances of a bundle and knows which calls
// each is serving, so that one is closed only when nothing uses it any more.
type instances struct {
	log hclog.Logger

	mu  sync.Mutex
	all map[string]*instance
}

type instance struct {
	id   string
	impl any
	// ctx ends when the instance is replaced or released. Calls without an
	// end of their own stop then; the others are let finish.
	ctx    context.Context
	retire context.CancelFunc
	calls  int // guarded by instances.mu
	closed chan struct{}
}

// put makes impl the instance id. The one it replaces is closed when its last call ends.
func (t *instances) put(id string, impl any) {
	i := &instance{id: id, impl: impl, closed: make(chan struct{})}
	i.ctx, i.retire = context.WithCancel(context.Background())
	t.mu.Lock()
	old := t.all[id]
	t.all[id] = i
	t.mu.Unlock()
	t.drop(old)
}

// use returns the instance id and counts a call of it, which done ends.
func (t *instances) use(id string) (*instance, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, known := t.all[id]
	if !known {
		return nil, fmt.Errorf("%s: %w", id, protocol.ErrUnknownInstance)
	}
	i.calls++
	return i, nil
}

func (t *instances) done(i *instance) {
	t.mu.Lock()
	i.calls--
	last := i.calls == 0 && i.ctx.Err() != nil
	t.mu.Unlock()
	if last {
		t.close(i)
	}
}

// release forgets the instance id and waits until it is closed or ctx ends.
// An unknown id is no error: there is nothing left to release.
func (t *instances) release(ctx context.Context, id string) error {
	t.mu.Lock()
	i, known := t.all[id]
	delete(t.all, id)
	t.mu.Unlock()
	if !known {
		return nil
	}
	t.drop(i)
	select {
	case <-i.closed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the running calls of %s: %w", id, ctx.Err())
	}
}

// drop retires an instance that is no longer in the table; nil is fine.
func (t *instances) drop(i *instance) {
	if i == nil {
		return
	}
	t.mu.Lock()
	i.retire()
	idle := i.calls == 0
	t.mu.Unlock()
	if idle {
		t.close(i)
	}
}

func (t *instances) close(i *instance) {
	defer close(i.closed)
	if err := closeImpl(i.impl); err != nil {
		t.log.Warn("cannot close instance", "instance", i.id, "error", err)
	}
}

// closeAll releases every instance, giving up when ctx ends.
func (t *instances) closeAll(ctx context.Context) {
	t.mu.Lock()
	var ids []string
	for id := range t.all {
		ids = append(ids, id)
	}
	t.mu.Unlock()
	for _, id := range ids {
		if err := t.release(ctx, id); err != nil {
			t.log.Warn("cannot release instance", "instance", id, "error", err)
		}
	}
}

// closeImpl closes what has a Close method, be it with or without a result.
func closeImpl(impl any) error {
	switch c := impl.(type) {
	case io.Closer:
		return c.Close()
	case interface{ Close() }:
		c.Close()
	}
	return nil
}
