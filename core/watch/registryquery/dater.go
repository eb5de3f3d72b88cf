package registryquery

import (
	"context"
	"errors"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxWaiting is how many releases of one host wait. What does not
// fit is wanted again with the next page view.
const maxWaiting = 200

// Recorder stores what a Dater finds out.
type Recorder interface {
	// Dated stores when a release was made with every container that is offered it.
	Dated(ctx context.Context, r candidate.Release, created sdk.Time) error
	// Versioned stores the version of a release with every container that runs it, or is offered it.
	Versioned(ctx context.Context, r candidate.Release, version string) error
}

// Dater finds out when newer tags were made, and which versions are behind tags that do
// not say it, for those who look at them: checks do not, for a date takes a pull. It makes one request to a host at a
// time, and leaves alone those that have little to spare. Its methods may be called concurrently.
type Dater struct {
	client   *Client
	recorder Recorder
	log      hclog.Logger
	wake     chan struct{}

	mu      sync.Mutex
	hosts   map[string]*queue
	waiting map[candidate.Release]bool // to be read, or being read
}

// queue has what is wanted of a host.
type queue struct {
	releases []candidate.Release
	busy     bool // a worker has the queue
}

// NewDater returns a Dater that makes its requests by a client, which is to know where requests are to spare.
func NewDater(client *Client, recorder Recorder, log hclog.Logger) *Dater {
	return &Dater{
		client: client, recorder: recorder, log: log.Named("date"), wake: make(chan struct{}, 1),
		hosts: map[string]*queue{}, waiting: map[candidate.Release]bool{},
	}
}

// Want is for page views: if the date of its update is not
// known, it is found out while Run runs, and stored. Want returns at once.
func (d *Dater) Want(c *sdk.Container) {
	if r, undated := candidate.Undated(c); undated {
		d.want(r)
	}
}

// WantVersions is for the page of a container: where neither a label nor what is known of
// other tags says which version its tag is, that is found out while Run runs, and stored.
// It takes some requests, none of which is a pull where a tag says it. WantVersions returns at once.
func (d *Dater) WantVersions(c *sdk.Container) {
	for _, r := range candidate.Unversioned(c) {
		d.want(r)
	}
}

func (d *Dater) want(r candidate.Release) {
	result, known := d.client.releases.get(r)
	if known && result.created.IsZero() && (result.retry.IsZero() || d.client.opt.Now().Before(result.retry)) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.hosts[r.Host]
	if h == nil {
		h = &queue{}
		d.hosts[r.Host] = h
	}
	if d.waiting[r] || len(h.releases) >= maxWaiting {
		return
	}
	h.releases = append(h.releases, r)
	d.waiting[r] = true
	select {
	case d.wake <- struct{}{}:
	default: // it is awake already
	}
}

// Run finds out what is wanted until ctx ends, and returns nil when it has stopped.
func (d *Dater) Run(ctx context.Context) error {
	var wait sync.WaitGroup
	defer wait.Wait()
	for {
		for _, h := range d.idle() {
			wait.Go(func() { d.work(ctx, h) })
		}
		select {
		case <-d.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// idle returns the hosts of which something is wanted and that have no worker. They count as busy from here on.
func (d *Dater) idle() []*queue {
	d.mu.Lock()
	defer d.mu.Unlock()
	var idle []*queue
	for _, h := range d.hosts {
		if len(h.releases) > 0 && !h.busy {
			h.busy = true
			idle = append(idle, h)
		}
	}
	return idle
}

// work finds out what is wanted of a host, one after the other.
func (d *Dater) work(ctx context.Context, h *queue) {
	for {
		r, wanted := d.next(h)
		if !wanted {
			return
		}
		find := d.date
		if r.Digest != "" {
			find = d.version
		}
		err := find(ctx, r)
		d.done(h, r, err != nil)
		if ctx.Err() != nil {
			return
		}
	}
}

func (d *Dater) next(h *queue) (r candidate.Release, wanted bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(h.releases) == 0 {
		h.busy = false
		return r, false
	}
	r, h.releases = h.releases[0], h.releases[1:]
	return r, true
}

// done removes a release from those that wait, and all others of a host that has no requests to spare.
func (d *Dater) done(h *queue, r candidate.Release, noneToSpare bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waiting, r)
	if noneToSpare {
		for _, other := range h.releases {
			delete(d.waiting, other)
		}
		h.releases = nil
	}
}

// date finds out one date and stores it. The error is noneToSpare.
func (d *Dater) date(ctx context.Context, r candidate.Release) error {
	log := d.log.With("image", r.Host+"/"+r.Name, "tag", r.Tag)
	result, err := d.client.inspect(ctx, r, true, nil)
	var none noneToSpare
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.As(err, &none):
		log.Debug("the date of a release is not asked for now", "reason", none)
		return none
	case err != nil:
		log.Debug("the date of a release could not be had", "error", err)
		return nil
	case result.created.IsZero():
		log.Debug("a release says no date that can be believed")
		return nil
	}
	log.Debug("found out the date of a release", "date", result.created)
	if err := d.recorder.Dated(ctx, r, result.created); err != nil && ctx.Err() == nil {
		log.Error("store the date of a release", "error", err)
	}
	return nil
}

// version finds out which version a digest is, and stores it. The error is noneToSpare.
func (d *Dater) version(ctx context.Context, r candidate.Release) error {
	log := d.log.With("image", r.Host+"/"+r.Name, "tag", r.Tag, "digest", r.Digest)
	version, retry, err := d.client.findVersion(ctx, r)
	var none noneToSpare
	if errors.As(err, &none) {
		log.Debug("the version of an image is not asked for now", "reason", none)
		return none
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		retry = d.client.opt.Now().Add(datePause)
		log.Debug("the version of an image could not be had", "error", err)
	case version == "":
		log.Debug("no tag with the digest of an image was found")
	default:
		log.Debug("found out the version of an image", "version", version)
		if err := d.recorder.Versioned(ctx, r, version); err != nil && ctx.Err() == nil {
			log.Error("store the version of an image", "error", err)
		}
	}
	d.client.releases.put(r, reading{retry: retry})
	return nil
}
