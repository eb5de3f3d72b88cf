package notes

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// maxWaiting is how many containers wait, and maxRemembered how many updates are known to have been read. What does
	// not fit is wanted again with a later page view.
	maxWaiting    = 50
	maxRemembered = 1000
)

// Prefetcher reads notes before somebody asks for them, so that the page of a container has the warnings of a major
// update at once. Its methods may be called concurrently.
type Prefetcher struct {
	reader reader
	now    func() time.Time
	wanted chan sdk.Container

	mu sync.Mutex
	// until is for how long an update is not wanted again, by image and version.
	until map[string]time.Time
}

// reader reads notes; see Reader.
type reader interface {
	Of(ctx context.Context, c *sdk.Container) Notes
	Known(ctx context.Context, c *sdk.Container) Notes
}

// NewPrefetcher returns a Prefetcher, which reads nothing before Run.
func NewPrefetcher(reader reader, now func() time.Time) *Prefetcher {
	return &Prefetcher{
		reader: reader, now: now, wanted: make(chan sdk.Container, maxWaiting), until: map[string]time.Time{},
	}
}

// Want is for page views: if a container is offered a major update of whose notes none is kept, they are read while Run
// runs. It returns at once.
func (p *Prefetcher) Want(c *sdk.Container) {
	if !c.UpdateAvailable || c.Result == nil || c.UpdateKind.SemverDiff != sdk.DiffMajor {
		return
	}
	key, now := c.Image.Registry.Host+"/"+c.Image.Name+":"+c.Result.Tag, p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Before(p.until[key]) {
		return
	}
	if len(p.until) >= maxRemembered {
		maps.DeleteFunc(p.until, func(_ string, until time.Time) bool { return !now.Before(until) })
		if len(p.until) >= maxRemembered {
			return
		}
	}
	select {
	case p.wanted <- *c:
		p.until[key] = now.Add(fresh)
	default: // there is no room
	}
}

// Run reads what is wanted, one after the other, until ctx ends, and returns nil then.
func (p *Prefetcher) Run(ctx context.Context) error {
	for {
		select {
		case c := <-p.wanted:
			if len(p.reader.Known(ctx, &c).Notes) == 0 {
				p.reader.Of(ctx, &c)
			}
		case <-ctx.Done():
			return nil
		}
	}
}
