// Package releasedate finds out when newer images were made, and which versions are behind tags that do not say it, for
// pages that show them: checks do not, for a date takes a pull.
package releasedate

import (
	"context"
	"errors"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/internal/wake"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxWaiting is how many releases of one host wait. What does not
// fit is wanted again with the next page view.
const maxWaiting = 200

// Recorder stores what a Finder finds out.
type Recorder interface {
	// Dated stores when a release was made with every container that is offered it.
	Dated(ctx context.Context, r candidate.Release, created sdk.Time) error
	// Versioned stores the version of a release with every container that runs it, or is offered it.
	Versioned(ctx context.Context, r candidate.Release, version string) error
}

// Registries says what registries know of releases; see registryquery.Client.
type Registries interface {
	// MayRead reports whether reading a release can find out more about it now.
	MayRead(r candidate.Release) bool
	// Created returns when a release was made; zero when that is not said.
	Created(ctx context.Context, r candidate.Release) (sdk.Time, error)
	// Version returns which version a release is; "" when that is not said.
	Version(ctx context.Context, r candidate.Release) (string, error)
}

// Finder asks registries. It makes one request to a host at a time, and leaves alone those that have little to spare.
// Its methods may be called concurrently.
type Finder struct {
	client   Registries
	recorder Recorder
	log      hclog.Logger
	wake     wake.Signal

	mu      sync.Mutex
	hosts   map[string]*queue
	waiting map[candidate.Release]bool // to be read, or being read
}

// queue has what is wanted of a host.
type queue struct {
	releases []candidate.Release
	busy     bool // a worker has the queue
}

// New returns a Finder that makes its requests by a client, which is to know where requests are to spare.
func New(client Registries, recorder Recorder, log hclog.Logger) *Finder {
	return &Finder{
		client: client, recorder: recorder, log: log.Named("date"), wake: wake.New(),
		hosts: map[string]*queue{}, waiting: map[candidate.Release]bool{},
	}
}

// Want is for page views: if the date of its update is not
// known, it is found out while Run runs, and stored. Want returns at once.
func (f *Finder) Want(c *sdk.Container) {
	if r, undated := candidate.Undated(c); undated {
		f.want(r)
	}
}

// WantVersions is for the page of a container: where neither a label nor what is known of
// other tags says which version its tag is, that is found out while Run runs, and stored.
// It takes some requests, none of which is a pull where a tag says it. WantVersions returns at once.
func (f *Finder) WantVersions(c *sdk.Container) {
	for _, r := range candidate.Unversioned(c) {
		f.want(r)
	}
}

func (f *Finder) want(r candidate.Release) {
	if !f.client.MayRead(r) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[r.Host]
	if h == nil {
		h = &queue{}
		f.hosts[r.Host] = h
	}
	if f.waiting[r] || len(h.releases) >= maxWaiting {
		return
	}
	h.releases = append(h.releases, r)
	f.waiting[r] = true
	f.wake.Set()
}

// Run finds out what is wanted until ctx ends, and returns nil when it has stopped.
func (f *Finder) Run(ctx context.Context) error {
	var wait sync.WaitGroup
	defer wait.Wait()
	for {
		for _, h := range f.idle() {
			wait.Go(func() { f.work(ctx, h) })
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// idle returns the hosts of which something is wanted and that have no worker. They count as busy from here on.
func (f *Finder) idle() []*queue {
	f.mu.Lock()
	defer f.mu.Unlock()
	var idle []*queue
	for _, h := range f.hosts {
		if len(h.releases) > 0 && !h.busy {
			h.busy = true
			idle = append(idle, h)
		}
	}
	return idle
}

// work finds out what is wanted of a host, one after the other.
func (f *Finder) work(ctx context.Context, h *queue) {
	for {
		r, wanted := f.next(h)
		if !wanted {
			return
		}
		find := f.date
		if r.Digest != "" {
			find = f.version
		}
		err := find(ctx, r)
		f.done(h, r, err != nil)
		if ctx.Err() != nil {
			return
		}
	}
}

func (f *Finder) next(h *queue) (r candidate.Release, wanted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(h.releases) == 0 {
		h.busy = false
		return r, false
	}
	r, h.releases = h.releases[0], h.releases[1:]
	return r, true
}

// done removes a release from those that wait, and all others of a host that has no requests to spare.
func (f *Finder) done(h *queue, r candidate.Release, noneToSpare bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.waiting, r)
	if noneToSpare {
		for _, other := range h.releases {
			delete(f.waiting, other)
		}
		h.releases = nil
	}
}

// date finds out one date and stores it. The error is a registryquery.NoneToSpare.
func (f *Finder) date(ctx context.Context, r candidate.Release) error {
	log := f.log.With("image", r.Host+"/"+r.Name, "tag", r.Tag)
	created, err := f.client.Created(ctx, r)
	var none registryquery.NoneToSpare
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.As(err, &none):
		log.Debug("the date of a release is not asked for now", "reason", none)
		return none
	case err != nil:
		log.Debug("the date of a release could not be had", "error", err)
		return nil
	case created.IsZero():
		log.Debug("a release says no date that can be believed")
		return nil
	}
	log.Debug("found out the date of a release", "date", created)
	if err := f.recorder.Dated(ctx, r, created); err != nil && ctx.Err() == nil {
		log.Error("store the date of a release", "error", err)
	}
	return nil
}

// version finds out which version a digest is, and stores it. The error is a registryquery.NoneToSpare.
func (f *Finder) version(ctx context.Context, r candidate.Release) error {
	log := f.log.With("image", r.Host+"/"+r.Name, "tag", r.Tag, "digest", r.Digest)
	version, err := f.client.Version(ctx, r)
	var none registryquery.NoneToSpare
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.As(err, &none):
		log.Debug("the version of an image is not asked for now", "reason", none)
		return none
	case err != nil:
		log.Debug("the version of an image could not be had", "error", err)
		return nil
	case version == "":
		log.Debug("no tag with the digest of an image was found")
		return nil
	}
	log.Debug("found out the version of an image", "version", version)
	if err := f.recorder.Versioned(ctx, r, version); err != nil && ctx.Err() == nil {
		log.Error("store the version of an image", "error", err)
	}
	return nil
}
