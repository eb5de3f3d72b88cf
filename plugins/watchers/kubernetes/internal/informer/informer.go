// Package informer keeps the objects of a Kubernetes cluster in memory as they are: it lists them once and follows what
// changes. What comes in is a client of the API server and what of an object is to be kept; what goes out are the
// objects, and word that they changed.
//
// It asks for nothing again that it has: https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
package informer

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
)

const (
	// lasting is how long the server is asked to keep a watch, up to a fifth less: many watches do not end at once.
	lasting = time.Hour
	// resync is after how long the objects are listed again although a watch would go on: it finds what that missed.
	resync = 12 * time.Hour
	// minBackoff and maxBackoff bound the pauses before the server is asked again.
	minBackoff, maxBackoff = time.Second, time.Minute
	// progress is how long a watch lasts that is no failure even without an event.
	progress = time.Minute
	// maxExpired is how often in a row a list may change too much while its pages are read.
	maxExpired = 3
)

// Collection is the objects of one resource. Its methods may be called concurrently.
type Collection[T any] struct {
	client   *cluster.Client
	resource cluster.Resource
	// reduce returns what is kept of an object; false for nothing.
	reduce func(*cluster.Object) (T, bool)
	equal  func(a, b T) bool
	log    hclog.Logger
	pause  func(ctx context.Context, attempt int) error

	mu     sync.Mutex
	items  map[string]T
	synced bool
	moved  bool
	// problem is why the server cannot be asked; nil while it can, and before it was.
	problem error
}

// New returns a collection that has nothing yet. reduce returns what is kept of an object, or false, and equal
// reports whether a change is one of what is kept.
func New[T any](
	c *cluster.Client, r cluster.Resource, reduce func(*cluster.Object) (T, bool), equal func(a, b T) bool,
	log hclog.Logger,
) *Collection[T] {
	return &Collection[T]{client: c, resource: r, reduce: reduce, equal: equal, log: log, pause: pause}
}

// pause waits before the next attempt: about 1 s, doubled with every attempt in a row, at most about a minute. Jitter
// keeps the watches of a server that starts again apart.
func pause(ctx context.Context, attempt int) error {
	p := backoff.Pauses{First: minBackoff, Longest: maxBackoff}.After(attempt)
	return backoff.Wait(ctx, p/2+rand.N(p))
}

// Load lists the objects once.
func (c *Collection[T]) Load(ctx context.Context) error {
	_, err := c.list(ctx)
	return err
}

// Each calls do with every object. It must not call the collection.
func (c *Collection[T]) Each(do func(T)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, item := range c.items {
		do(item)
	}
}

// Synced reports whether the objects are those of the cluster: they were listed, and what changes is heard of.
func (c *Collection[T]) Synced() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.synced
}

// Problem returns why the server cannot be asked; nil while it can.
func (c *Collection[T]) Problem() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.problem
}

// Moved reports whether an event has changed the objects since the last call, or the server could not be asked.
func (c *Collection[T]) Moved() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	moved := c.moved
	c.moved = false
	return moved
}

// Follow lists the objects and follows their changes until ctx ends, and returns its error. It calls changed, which
// must not block, when objects have changed, and when it loses and finds the server.
func (c *Collection[T]) Follow(ctx context.Context, changed func()) error {
	f := follower[T]{Collection: c, changed: changed}
	for attempt := 1; ; attempt++ {
		progress, err := f.once(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
		case errors.Is(err, cluster.ErrExpired):
			c.log.Debug("listing again", "resource", c.resource.String(), "error", err)
			f.version = ""
		default:
			f.lost(err, attempt)
		}
		if progress {
			attempt = 1
		}
		if err := c.pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// follower follows one collection.
type follower[T any] struct {
	*Collection[T]
	changed func()
	version string    // up to which the objects are known; "" to list them
	resync  time.Time // when they are listed again
}

// once lists the objects, if need be, and follows one stream to its end. It reports whether that got on.
func (f *follower[T]) once(ctx context.Context) (got bool, err error) {
	if f.version == "" || time.Now().After(f.resync) {
		version, err := f.list(ctx)
		if err != nil {
			return false, err
		}
		f.version, f.resync = version, time.Now().Add(resync)
		f.changed()
	}
	started := time.Now()
	stream, err := f.client.Watch(ctx, f.resource, f.version, lasting-rand.N(lasting/5))
	if err != nil {
		return false, err
	}
	defer stream.Close()
	if f.found() {
		f.changed()
	}
	for {
		kind, o, err := stream.Next()
		if err != nil {
			got = got || time.Since(started) >= progress
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return got, err
		}
		got = true
		if o.Metadata.ResourceVersion != "" {
			f.version = o.Metadata.ResourceVersion
		}
		if f.apply(kind, o) {
			f.changed()
		}
	}
}

// lost notes that the server cannot be asked.
func (f *follower[T]) lost(err error, attempt int) {
	f.log.Debug("cannot be watched", "resource", f.resource.String(), "error", err, "attempt", attempt)
	f.mu.Lock()
	first := f.problem == nil
	f.synced, f.moved, f.problem = false, true, err
	f.mu.Unlock()
	if first {
		f.changed()
	}
}

// found notes that what changes is heard of. It reports whether it was not.
func (c *Collection[T]) found() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.synced
	c.synced, c.problem = true, nil
	return !was
}

// list replaces the objects by those that the server lists.
func (c *Collection[T]) list(ctx context.Context) (version string, err error) {
	var items map[string]T
	for range maxExpired {
		items = map[string]T{}
		version, err = c.client.List(ctx, c.resource, func(o *cluster.Object) {
			if item, keep := c.reduce(o); keep {
				items[key(o)] = item
			}
		})
		if !errors.Is(err, cluster.ErrExpired) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items = items
	return version, nil
}

// apply applies an event, and reports whether it changed what is kept.
func (c *Collection[T]) apply(kind string, o *cluster.Object) bool {
	if kind != cluster.Added && kind != cluster.Modified && kind != cluster.Deleted {
		return false
	}
	item, keep := c.reduce(o)
	c.mu.Lock()
	defer c.mu.Unlock()
	was, had := c.items[key(o)]
	changed := had
	if kind == cluster.Deleted || !keep {
		delete(c.items, key(o))
	} else {
		c.items[key(o)] = item
		changed = !had || !c.equal(was, item)
	}
	c.moved = c.moved || changed
	return changed
}

func key(o *cluster.Object) string { return o.Metadata.Namespace + "/" + o.Metadata.Name }
