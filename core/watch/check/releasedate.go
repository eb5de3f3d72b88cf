package check

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// What requests for dates may cost registries. Reading a manifest is a pull to a
// registry that counts them, of which Docker Hub allows 100 in 6 hours without
// an account (docs.docker.com/docker-hub/usage), and checks and engines need them more.
const (
	// datesPerHour is how many dates are fetched from a host that does not say what it allows.
	datesPerHour = 30
	// spareShare is the part of what a host allows that is left for others: a half.
	spareShare = 2
	// usualWindow is how long a limit is believed whose host does not say for how long it counts.
	usualWindow = time.Hour
	// datePause is how long a failed request for a date is not retried.
	datePause = 6 * time.Hour
	// maxDates is how many dates of one host wait. What does not
	// fit is wanted again with the next page view.
	maxDates = 200
	// maxResults bounds what is remembered.
	maxResults = 10_000

	// oldestYear is that of the first date that is believed: builds that are to be
	// the same whenever they are made say 1970 or 1980.
	oldestYear = 1990
	// clockSkew is how far ahead a believable date may be.
	clockSkew = 24 * time.Hour
)

// Released returns when the newer image of a container was made, as the image
// says; zero when there is none, or when that is not known.
func Released(c *sdk.Container, now time.Time) time.Time {
	if !c.UpdateAvailable || c.Result == nil || !believable(c.Result.Created, now) {
		return time.Time{}
	}
	return c.Result.Created.Time
}

func believable(at sdk.Time, now time.Time) bool {
	return at.Year() >= oldestYear && !at.After(now.Add(clockSkew))
}

// Dater finds out when newer tags were made, and which versions are behind tags that do
// not say it, for those who look at them: checks do not, for a date takes a pull. It makes one request to a host at a
// time, and
// leaves alone those that have little to spare. Its methods may be called concurrently.
type Dater struct {
	checker *Checker
	limits  func(ctx context.Context, registry string) []registry.Limit
	log     hclog.Logger
	wake    chan struct{}

	mu      sync.Mutex
	hosts   map[string]*dates
	waiting map[release]bool // to be fetched, or being fetched
	results map[release]dateResult
}

// release is what has a date: the image for a platform behind a tag. With a digest, it is what
// has a version: the image with that digest, which is or was behind the tag.
type release struct {
	host, name, tag string
	platform        sdk.Platform
	digest          string
}

// dates is what is wanted of a host.
type dates struct {
	queue     []release
	busy      bool        // a worker has the queue
	requested []time.Time // within the last hour, while the host did not say what it allows
}

// dateResult is what came of a request.
type dateResult struct {
	made sdk.Time // zero when there is no date
	// again is when a request without a date may be made again; zero for never.
	again time.Time
	// artifact is the type of what is no image.
	artifact string
	// digest is what was behind the tag, version what the image says of its version.
	digest, version string
}

var (
	errPull    = errors.New("its host may count reading it as a pull")
	errNotRead = errors.New("it could not be read a while ago")
)

// refusal says why a host gets no request.
type refusal string

func (r refusal) Error() string { return string(r) }

// NewDater returns a Dater that makes its requests as the checker does. limits returns what
// the hosts of a registry, by its id, allow; see registry.LimitReporter.
func NewDater(c *Checker, limits func(ctx context.Context, registry string) []registry.Limit) *Dater {
	d := &Dater{
		checker: c, limits: limits, log: c.log.Named("date"), wake: make(chan struct{}, 1),
		hosts: map[string]*dates{}, waiting: map[release]bool{}, results: map[release]dateResult{},
	}
	c.fetch.dater.Store(d)
	return d
}

// releaseOf returns the release that a container is offered, and whether its date is to be found out.
func releaseOf(c *sdk.Container) (r release, undated bool) {
	if !c.UpdateAvailable || c.UpdateKind.Kind != sdk.KindTag || c.Result == nil || !c.Result.Created.IsZero() {
		return release{}, false
	}
	img := c.Watched()
	return release{host: img.Registry.Host, name: img.Name, tag: c.Result.Tag, platform: img.Platform()}, true
}

// Want is for page views: if the date of its update is not
// known, it is found out while Run runs, and stored. Want returns at once.
func (d *Dater) Want(c *sdk.Container) {
	if r, undated := releaseOf(c); undated {
		d.want(r)
	}
}

func (d *Dater) want(r release) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a, fetched := d.results[r]; d.waiting[r] ||
		fetched && a.made.IsZero() && (a.again.IsZero() || d.now().Before(a.again)) {
		return
	}
	h := d.hosts[r.host]
	if h == nil {
		h = &dates{}
		d.hosts[r.host] = h
	}
	if len(h.queue) >= maxDates {
		return
	}
	h.queue = append(h.queue, r)
	d.waiting[r] = true
	select {
	case d.wake <- struct{}{}:
	default: // it has been said
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
func (d *Dater) idle() []*dates {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found []*dates
	for _, h := range d.hosts {
		if len(h.queue) > 0 && !h.busy {
			h.busy = true
			found = append(found, h)
		}
	}
	return found
}

// work finds out what is wanted of a host, one after the other.
func (d *Dater) work(ctx context.Context, h *dates) {
	for {
		r, any := d.next(h)
		if !any {
			return
		}
		find := d.date
		if r.digest != "" {
			find = d.version
		}
		err := find(ctx, h, r)
		d.done(h, r, err != nil)
		if ctx.Err() != nil {
			return
		}
	}
}

func (d *Dater) next(h *dates) (r release, any bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(h.queue) == 0 {
		h.busy = false
		return release{}, false
	}
	r, h.queue = h.queue[0], h.queue[1:]
	return r, true
}

// done removes a release from those that wait, and when its host refused all others of the host.
func (d *Dater) done(h *dates, r release, refused bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waiting, r)
	if refused {
		for _, other := range h.queue {
			delete(d.waiting, other)
		}
		h.queue = nil
	}
}

// date finds out one date and stores it. The error is a refusal.
func (d *Dater) date(ctx context.Context, h *dates, r release) error {
	log := d.log.With("image", r.host+"/"+r.name, "tag", r.tag)
	result, known := d.known(r)
	if !known {
		var err error
		result, err = d.fetch(ctx, h, r, true)
		switch refused, is := err.(refusal); {
		case ctx.Err() != nil:
			return nil
		case is:
			log.Debug("the date of a release is not asked for now", "reason", refused)
			return refused
		case err != nil:
			result.again = d.now().Add(datePause)
			log.Debug("the date of a release could not be had", "error", err)
		case result.made.IsZero():
			log.Debug("a release says no date that can be believed")
		default:
			log.Debug("found out the date of a release", "date", result.made)
		}
		d.remember(r, result)
	}
	if result.made.IsZero() {
		return nil
	}
	if err := d.checker.dated(ctx, r, result.made); err != nil && ctx.Err() == nil {
		log.Error("store the date of a release", "error", err)
	}
	return nil
}

// known returns a date that was fetched before: another container may want it.
func (d *Dater) known(r release) (a dateResult, known bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a = d.results[r]
	return a, !a.made.IsZero()
}

func (d *Dater) remember(r release, a dateResult) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.results) >= maxResults { // what is forgotten costs a request at most
		clear(d.results)
	}
	d.results[r] = a
}

// fetch asks the registry for what is behind a tag, if it has requests to spare: a date that can
// be believed, and the type of what is no image. Without pulls it makes none that is one, and
// returns errPull with the digest where it takes one.
func (d *Dater) fetch(ctx context.Context, h *dates, r release, pulls bool) (dateResult, error) {
	match, digest, err := d.resolve(ctx, h, r)
	if err != nil {
		return dateResult{}, err
	}
	return d.read(ctx, match, r, digest, pulls)
}

// resolve returns the registry of a release, and the digest behind its tag.
func (d *Dater) resolve(ctx context.Context, h *dates, r release) (match Match, digest string, err error) {
	match, served := d.checker.opt.Registries.For(r.host)
	if !served {
		return match, "", refusal("no registry serves it")
	}
	if refused := d.permit(ctx, h, match, r.host); refused != "" {
		return match, "", refused
	}
	err = d.checker.fetch.limiter.do(ctx, r.host, func(ctx context.Context) (err error) {
		digest, err = match.Registry.Resolve(ctx, r.repository(), r.tag)
		return err
	})
	return match, digest, err
}

func (r release) repository() registry.Repository {
	return registry.Repository{Host: r.host, Name: r.name, ScopeHints: []string{r.name}}
}

// read returns what is behind a digest, which a registry is asked once for each.
func (d *Dater) read(ctx context.Context, match Match, r release, digest string, pulls bool) (dateResult, error) {
	f := d.checker.fetch
	g := &group{match: match, repo: r.repository()}
	if m, read := cachedManifest(ctx, f.opt.Cache, g.repo, digest, r.platform); read {
		return d.resultOf(digest, m), nil
	}
	if t, known := f.describe(ctx, g, r.tag, digest, r.platform); known && (t.Artifact != "" || !t.Pushed.IsZero()) {
		version := f.describedVersion(ctx, g, r.tag, digest, r.platform)
		return d.resultOf(digest, registry.Manifest{Created: t.Pushed, Artifact: t.Artifact, Version: version}), nil
	}
	if !pulls && match.Describer != nil {
		return dateResult{digest: digest}, errPull
	}
	// Up to here it was no pull, and by now the host may have said what is left.
	if _, refused := d.spare(ctx, match, r.host); refused != "" {
		return dateResult{}, refused
	}
	m, err := f.manifest(ctx, g, digest, r.platform)
	return d.resultOf(digest, m), err
}

func (d *Dater) resultOf(digest string, m registry.Manifest) dateResult {
	result := dateResult{artifact: m.Artifact, digest: digest, version: versionOf(m.Version)}
	if believable(m.Created, d.now()) {
		result.made = m.Created
	}
	return result
}

// permit says why a host gets no request now; "" when it may get one, which is counted.
func (d *Dater) permit(ctx context.Context, h *dates, match Match, host string) refusal {
	limited, refused := d.spare(ctx, match, host)
	switch {
	case refused != "":
		return refused
	case !limited && !d.take(h):
		return refusal("it was asked for enough of them this hour")
	}
	return ""
}

// spare says why a host is to be left alone; "" when it is not. limited is whether
// the host has said what it allows.
func (d *Dater) spare(ctx context.Context, match Match, host string) (limited bool, why refusal) {
	limiter := d.checker.fetch.limiter
	if wait, _, reason := limiter.pause(limiter.host(host)); wait > 0 {
		return false, refusal("it " + reason)
	}
	if u := limiter.budget.Of(host); u.Allowance.Requests > 0 && u.Left()*spareShare < u.Allowance.Requests {
		return true, "less than half of its budget is left"
	}
	base, err := url.Parse(match.URL)
	if err != nil {
		return false, refusal("its address is unknown")
	}
	now := d.now()
	for _, l := range d.limits(ctx, match.ID) {
		switch {
		case !strings.EqualFold(l.Host, base.Host):
		case l.PausedUntil.After(now):
			return true, "it asked for a pause"
		case l.Limit > 0 && now.Before(l.At.Add(cmp.Or(l.Window, usualWindow))):
			if limited = true; l.Remaining*spareShare < l.Limit {
				return true, "less than half of what it allows is left"
			}
		}
	}
	return limited, ""
}

// take counts a request to a host that does not say what it allows, and reports whether it is one too many.
func (d *Dater) take(h *dates) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	h.requested = slices.DeleteFunc(h.requested, func(at time.Time) bool { return now.Sub(at) >= time.Hour })
	if len(h.requested) >= datesPerHour {
		return false
	}
	h.requested = append(h.requested, now)
	return true
}

func (d *Dater) now() time.Time { return d.checker.opt.Now() }

// dated stores the date of a release with every container that is offered it.
// Its event is a change that means nothing to triggers.
func (c *Checker) dated(ctx context.Context, r release, made sdk.Time) error {
	c.commitLock.Lock()
	defer c.commitLock.Unlock()
	stored, err := c.opt.Store.Containers(ctx)
	if err != nil {
		return err
	}
	var change event.Change
	for i := range stored {
		have := &stored[i]
		if is, undated := releaseOf(have); !undated || is != r {
			continue
		}
		have.Result.Created = made
		change.Put = append(change.Put, *have)
		change.Events = append(change.Events, event.Event{
			At: c.opt.Now(), Type: event.ContainerChanged, Subject: event.Subject(*have),
			Payload: event.Payload{Container: have, Aspect: event.Released},
		})
	}
	if len(change.Put) == 0 {
		return nil
	}
	return c.opt.Store.Commit(ctx, change)
}
