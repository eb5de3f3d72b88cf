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
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/mirrored"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
)

const (
	// lasting is how long the server is asked to keep a watch, up to a fifth less: many watches do not end at once.
	lasting = time.Hour
	// resync is after how long the objects are listed again although a watch would go on: it finds what that missed.
	resync = 12 * time.Hour
	// maxExpired is how often in a row a list may change too much while its pages are read.
	maxExpired = 3
)

// Collection is the objects of one resource. Its methods may be called concurrently.
type Collection[T any] struct {
	mirrored.Items[string, T]
	client   *cluster.Client
	resource cluster.Resource
	// reduce returns what is kept of an object; false for nothing.
	reduce func(*cluster.Object) (T, bool)
	equal  func(a, b T) bool
	log    hclog.Logger
	pause  func(ctx context.Context, attempt int) error
}

// New returns a collection that has nothing yet. reduce returns what is kept of an object, or false, and equal
// reports whether a change is one of what is kept.
func New[T any](
	c *cluster.Client, r cluster.Resource, reduce func(*cluster.Object) (T, bool), equal func(a, b T) bool,
	log hclog.Logger,
) *Collection[T] {
	return &Collection[T]{client: c, resource: r, reduce: reduce, equal: equal, log: log, pause: backoff.Reconnect}
}

// Load lists the objects once.
func (c *Collection[T]) Load(ctx context.Context) error {
	_, err := c.list(ctx)
	return err
}

// Follow lists the objects and follows their changes until ctx ends, and returns its error. It calls changed, which
// must not block, when objects have changed, and when it loses and finds the server.
func (c *Collection[T]) Follow(ctx context.Context, changed func()) error {
	f := follower[T]{Collection: c, changed: changed}
	return c.Items.Follow(ctx, c.log.With("resource", c.resource.String()), c.pause, changed, f.once)
}

// follower follows one collection.
type follower[T any] struct {
	*Collection[T]
	changed func()
	version string    // up to which the objects are known; "" to list them
	resync  time.Time // when they are listed again
}

// once lists the objects, if need be, and follows a stream to its end. It reports whether that got on. That the server
// has forgotten what it would go on from is no failure: the objects are listed again.
func (f *follower[T]) once(ctx context.Context) (got bool, err error) {
	got, err = f.stream(ctx)
	if errors.Is(err, cluster.ErrExpired) {
		f.log.Debug("listing again", "resource", f.resource.String(), "error", err)
		f.version, err = "", nil
	}
	return got, err
}

func (f *follower[T]) stream(ctx context.Context) (got bool, err error) {
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
	if f.Found() {
		f.changed()
	}
	for {
		kind, o, err := stream.Next()
		if err != nil {
			got = got || time.Since(started) >= mirrored.Progress
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
	c.Replace(items, false)
	return version, nil
}

// apply applies an event, and reports whether it changed what is kept.
func (c *Collection[T]) apply(kind string, o *cluster.Object) bool {
	if kind != cluster.Added && kind != cluster.Modified && kind != cluster.Deleted {
		return false
	}
	item, keep := c.reduce(o)
	return c.Set(key(o), item, keep && kind != cluster.Deleted, c.equal)
}

func key(o *cluster.Object) string { return o.Metadata.Namespace + "/" + o.Metadata.Name }
