// Package hostlimit keeps requests to registries within what each host allows: as many at a time to each as it answers
// without getting slower, so many in total, none to a host that asked for a pause or does not answer, and no more than
// its budget has.
package hostlimit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Limiter makes requests to hosts. Its methods may be called concurrently.
type Limiter struct {
	opt   Options
	total chan struct{}

	mu    sync.Mutex
	hosts map[string]*host
	// concurrent are by the host of the API: what several hosts of images lead to is one of them.
	concurrent map[string]*concurrency
}

// Options configure a Limiter.
type Options struct {
	// PerHost is how many requests one host gets at a time at most, Total how many are under way at a time; 1 at least.
	PerHost, Total int
	// Log says when a host gets fewer at a time; nil for no log.
	Log hclog.Logger
	// Budget counts the requests to each host, and knows how many some of them get.
	Budget *budget.Book
	// APIOf returns the registry that serves a host, and the host of its API, "" when that is not known.
	APIOf func(host string) (registry, api string, served bool)
	// Reports returns what the hosts of a registry said last of their limits, without a request to them; nil for
	// nothing.
	Reports func(ctx context.Context, registry string) []registry.Limit
	Now     func() time.Time
}

// host is what is known of a registry host. It outlives the runs.
type host struct {
	*concurrency

	// These are guarded by the mutex of the Limiter.
	pause  pause
	silent time.Duration // what requests without any response have cost since the last response
	// reportRead is when it was last read what the host reports.
	reportRead time.Time
}

// New returns a Limiter.
func New(opt Options) *Limiter {
	if opt.Log == nil {
		opt.Log = hclog.NewNullLogger()
	}
	return &Limiter{
		opt: opt, total: make(chan struct{}, max(opt.Total, 1)), hosts: map[string]*host{},
		concurrent: map[string]*concurrency{},
	}
}

func (l *Limiter) host(name string) *host {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[name]
	if h == nil {
		_, api, _ := l.opt.APIOf(name)
		api = strings.ToLower(cmp.Or(api, name))
		if l.concurrent[api] == nil {
			l.concurrent[api] = newConcurrency(l.opt.PerHost)
		}
		h = &host{concurrency: l.concurrent[api]}
		l.hosts[name] = h
	}
	return h
}

// Concurrency returns how many requests each host gets at a time now, by the names of those that got any.
func (l *Limiter) Concurrency() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[string]int, len(l.hosts))
	for name, h := range l.hosts {
		all[name] = h.now()
	}
	return all
}

// Do makes a request to a host, within its limits and budget, which counts it. pull is whether it reads a manifest,
// which some hosts count as a pull. When the host asks for a short pause, the request is retried once after it; when it
// asks for more, every request to it fails at once until then, with a *PostponedError.
func (l *Limiter) Do(ctx context.Context, name string, pull bool, request func(context.Context) error) error {
	h := l.host(name)
	for again := false; ; again = true {
		leave, err := l.enter(ctx, name, h)
		if err != nil {
			return err
		}
		taken, err := l.take(name, pull)
		if err != nil {
			leave()
			return err
		}
		began := l.opt.Now()
		counted, requests := sdk.CountRequests(ctx)
		err = request(counted)
		took := l.opt.Now().Sub(began)
		made := l.count(taken, name, requests)
		l.readReport(ctx, name)
		// Learnt before the slot is released: the next request must see the pause.
		repeat := ctx.Err() == nil && l.learn(h, err, took, again)
		if ctx.Err() == nil {
			load := requests.Load()
			if load.Latency <= 0 { // its plugin does not say
				load.Latency = took / time.Duration(max(made, 1))
			}
			l.adapt(h, outcome{name, began, err, load})
		}
		leave()
		if !repeat {
			return l.refused(name, h, err)
		}
	}
}

// enter waits for a slot of the host. It fails when the host gets no requests for
// longer than a run waits, or with the error of ctx.
func (l *Limiter) enter(ctx context.Context, name string, h *host) (leave func(), err error) {
	for {
		if err := l.waitOut(ctx, name, h); err != nil {
			return nil, err
		}
		if err := h.enter(ctx, l.opt.Now()); err != nil {
			return nil, err
		}
		if err := take(ctx, l.total); err != nil {
			h.leave(l.opt.Now())
			return nil, err
		}
		leave := func() {
			<-l.total
			h.leave(l.opt.Now())
		}
		if _, wait := l.paused(h); wait <= 0 {
			return leave, nil
		}
		leave() // the host asked for a pause while this request waited
	}
}

// PostponedError says that a request waits for the end of a pause which its host asked for.
type PostponedError struct {
	error
	Until  time.Time
	Reason string
	// Refused means that the host refused this very request.
	Refused bool
}

func (e *PostponedError) Unwrap() error { return e.error }

// Postponed implements updater.Postponed.
func (e *PostponedError) Postponed() (reason string, until time.Time) { return e.Reason, e.Until }

// postponed returns the error of a request that is not made.
func postponed(reason string, until time.Time) *PostponedError {
	return &PostponedError{Until: until, Reason: reason, error: sdk.WithKind(sdk.ErrUnavailable,
		fmt.Errorf("%s: not asked again before %s", reason, until.UTC().Format("2006-01-02 15:04:05 MST")))}
}

// refused returns the error of a request, as a *PostponedError when the host
// asked for a pause with it.
func (l *Limiter) refused(name string, h *host, err error) error {
	if err == nil {
		return nil
	}
	var limited *sdk.RateLimitedError
	paused, wait := l.paused(h)
	if !errors.As(err, &limited) || wait <= 0 {
		return err
	}
	return &PostponedError{Until: paused.until, Reason: name + " " + paused.reason, Refused: true, error: err}
}

func take(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reportPause is how long a report of a host is good enough while requests are made to it.
const reportPause = time.Second
