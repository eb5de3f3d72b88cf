// Package mirrored keeps in memory what an orchestrator runs, as it is, and notifies the host of what changes of it.
// What comes in is how a list is read and followed, which differs from one orchestrator to the next; what goes out are
// the items, and events.
package mirrored

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Progress is how long a stream lasts that is no failure even without an event.
const Progress = time.Minute

// Items are what is kept of one collection, by key. Its methods may be called concurrently, but Follow by one
// goroutine. The zero value has nothing yet.
type Items[K comparable, T any] struct {
	mu     sync.Mutex
	items  map[K]T
	synced bool
	moved  bool
	// problem is why the server cannot be asked; nil while it can, and before it was.
	problem error
}

// Get returns an item.
func (i *Items[K, T]) Get(key K) (item T, has bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	item, has = i.items[key]
	return item, has
}

// Each calls do with every item. It must not call the collection.
func (i *Items[K, T]) Each(do func(K, T)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for key, item := range i.items {
		do(key, item)
	}
}

// Len is how many there are.
func (i *Items[K, T]) Len() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.items)
}

// Replace puts items in the place of all that there are. moved is whether an event led to that.
func (i *Items[K, T]) Replace(items map[K]T, moved bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.items, i.moved = items, i.moved || moved
}

// Set applies an event: the item is as given, or with keep false there is none any more. It reports whether that is
// a change, as equal sees it.
func (i *Items[K, T]) Set(key K, item T, keep bool, equal func(a, b T) bool) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	was, changed := i.items[key]
	if keep {
		changed = !changed || !equal(was, item)
		i.items[key] = item
	} else {
		delete(i.items, key)
	}
	i.moved = i.moved || changed
	return changed
}

// Synced reports whether the items are those of the server: they were listed, and what changes is heard of.
func (i *Items[K, T]) Synced() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.synced
}

// Problem returns why the server cannot be asked; nil while it can.
func (i *Items[K, T]) Problem() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.problem
}

// Moved reports whether an event has changed the items since the last call, or the server could not be asked.
func (i *Items[K, T]) Moved() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	moved := i.moved
	i.moved = false
	return moved
}

// Found notes that what changes is heard of. It reports whether it was not.
func (i *Items[K, T]) Found() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	was := i.synced
	i.synced, i.problem = true, nil
	return !was
}

// lost notes that the server cannot be asked. It reports whether it could.
func (i *Items[K, T]) lost(err error) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	first := i.problem == nil
	i.synced, i.moved, i.problem = false, true, err
	return first
}

// Follow calls once again and again until ctx ends, and returns its error. once lists and follows one stream to its
// end, and reports whether that got on; after an error the server is lost, until once calls Found. Follow calls
// changed, which must not block, when it loses the server. pause waits between two attempts.
func (i *Items[K, T]) Follow(
	ctx context.Context, log hclog.Logger, pause func(ctx context.Context, attempt int) error, changed func(),
	once func(ctx context.Context) (got bool, err error),
) error {
	for attempt := 1; ; attempt++ {
		got, err := once(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			log.Debug("cannot be watched", "error", err, "attempt", attempt)
			if i.lost(err) {
				changed()
			}
		}
		if got {
			attempt = 1
		}
		if err := pause(ctx, attempt); err != nil {
			return err
		}
	}
}
