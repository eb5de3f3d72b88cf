package check

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// shortPause is the longest Retry-After of a registry that a run waits out.
	shortPause = 5 * time.Second
	// defaultPause is for registries that limit requests without saying for
	// how long, or that limit them again right after the pause they asked for.
	defaultPause = time.Minute
	// longestPause is what a registry is believed: the longest that public ones count over.
	longestPause = 6 * time.Hour
	// failureBudget is how much time a host may cost without any response; then it
	// gets no requests for a silentPause: a circuit breaker that keeps it from
	// holding up the whole run.
	failureBudget = 2 * time.Minute
	silentPause   = time.Minute
)

// queue is the rate limiter of requests to registries: so many at a time to each
// host and in total, and none to a host that asked for a pause.
type queue struct {
	perHost int
	total   chan struct{}
	now     func() time.Time

	mu    sync.Mutex
	hosts map[string]*host
}

// host is what is known of a registry host. It outlives the runs.
type host struct {
	slots chan struct{}

	// These are guarded by the queue's mutex.
	until   time.Time     // no requests before
	reason  string        // why
	limited bool          // it asked for that itself
	silent  time.Duration // what requests without any response have cost since the last response
}

func newQueue(opt Options) *queue {
	return &queue{perHost: max(opt.Limits.PerHost, 1), total: make(chan struct{}, max(opt.Limits.Total, 1)), now: opt.Now, hosts: map[string]*host{}}
}

func (q *queue) host(name string) *host {
	q.mu.Lock()
	defer q.mu.Unlock()
	h := q.hosts[name]
	if h == nil {
		h = &host{slots: make(chan struct{}, q.perHost)}
		q.hosts[name] = h
	}
	return h
}

// do makes one request to a host within the limits. When the host asks for a short
// pause, the request is retried once after it; when it asks for more, every
// request to it fails at once until then.
func (q *queue) do(ctx context.Context, name string, request func(context.Context) error) error {
	h := q.host(name)
	for again := false; ; again = true {
		leave, err := q.enter(ctx, name, h)
		if err != nil {
			return err
		}
		began := q.now()
		err = request(ctx)
		took := q.now().Sub(began)
		// Learnt before the slot is released: the next request must see the pause.
		repeat := ctx.Err() == nil && q.learn(h, err, took, again)
		leave()
		if !repeat {
			return q.postponed(name, h, err)
		}
	}
}

// enter waits for a slot of the host. It fails when the host gets no requests for
// longer than a run waits, or with the error of ctx.
func (q *queue) enter(ctx context.Context, name string, h *host) (leave func(), err error) {
	for {
		if err := q.sitOut(ctx, name, h); err != nil {
			return nil, err
		}
		if err := take(ctx, h.slots); err != nil {
			return nil, err
		}
		if err := take(ctx, q.total); err != nil {
			<-h.slots
			return nil, err
		}
		leave := func() {
			<-q.total
			<-h.slots
		}
		if wait, _, _ := q.pause(h); wait <= 0 {
			return leave, nil
		}
		leave() // the host asked for a pause while this request waited
	}
}

// sitOut waits for the end of a short pause and fails during a long one.
func (q *queue) sitOut(ctx context.Context, name string, h *host) error {
	wait, until, reason := q.pause(h)
	switch {
	case wait <= 0:
		return ctx.Err()
	case wait > shortPause:
		said := name + " " + reason
		err := sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("%s: not asked again before %s", said, until.UTC().Format("2006-01-02 15:04:05 MST")))
		if q.asksForPause(h) {
			err = &postponedError{until: until, reason: said, error: err}
		}
		return err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// postponedError says that a request waits for the end of a pause which its host asked for.
type postponedError struct {
	error
	until  time.Time
	reason string
	// refused means that the host refused this very request.
	refused bool
}

func (e *postponedError) Unwrap() error { return e.error }

// postponed returns the error of a request, as a *postponedError when the host
// asked for a pause with it.
func (q *queue) postponed(name string, h *host, err error) error {
	var limited *sdk.RateLimitedError
	wait, until, reason := q.pause(h)
	if !errors.As(err, &limited) || wait <= 0 {
		return err
	}
	return &postponedError{until: until, reason: name + " " + reason, refused: true, error: err}
}

// asksForPause reports whether the host itself asked to be left alone.
func (q *queue) asksForPause(h *host) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return h.limited
}

// pause returns how long, until when and why the host is to be left alone.
func (q *queue) pause(h *host) (wait time.Duration, until time.Time, reason string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return h.until.Sub(q.now()), h.until, h.reason
}

// learn records how a request went and reports whether to retry it.
func (q *queue) learn(h *host, err error, took time.Duration, again bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	var limited *sdk.RateLimitedError
	switch {
	case errors.As(err, &limited):
		h.silent = 0
		short := limited.After > 0 && limited.After <= shortPause && !again
		pause := limited.After
		if !short {
			pause = min(max(pause, defaultPause), longestPause)
		}
		h.pause(q.now().Add(pause), "limits requests", true)
		return short
	case errors.Is(err, sdk.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		if h.silent += took; h.silent >= failureBudget {
			h.silent = 0
			h.pause(q.now().Add(silentPause), "does not answer", false)
		}
	default:
		h.silent = 0
	}
	return false
}

func (h *host) pause(until time.Time, reason string, limited bool) {
	if until.After(h.until) {
		h.until, h.reason, h.limited = until, reason, limited
	}
}

func take(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
