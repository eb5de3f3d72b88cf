package registryquery

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

const (
	// shortPause is the longest Retry-After of a registry that a run waits out.
	shortPause = 5 * time.Second
	// defaultPause is for registries that limit requests without saying for
	// how long, or that limit them again right after the pause they asked for.
	defaultPause = time.Minute
	// maxPause bounds the pause that a registry asks for: the longest period that public ones count over.
	maxPause = 6 * time.Hour
	// failureBudget is how much time a host may cost without any response; then it
	// gets no requests for a silentPause: a circuit breaker that keeps it from
	// holding up the whole run.
	failureBudget = 2 * time.Minute
	silentPause   = time.Minute
)

// limiter keeps the rate limit of requests to registries: so many at a time to each
// host and in total, and none to a host that asked for a pause.
type limiter struct {
	perHost int
	total   chan struct{}
	budget  *budget.Book
	now     func() time.Time
	// registries and reports say where requests go, and what is reported there; see Options.
	registries Registries
	reports    func(ctx context.Context, registry string) []registry.Limit

	mu    sync.Mutex
	hosts map[string]*host
}

// host is what is known of a registry host. It outlives the runs.
type host struct {
	slots chan struct{}

	// These are guarded by the mutex of the limiter.
	pause  pause
	silent time.Duration // what requests without any response have cost since the last response
	// reportRead is when it was last read what the host reports.
	reportRead time.Time
}

// pause is until when, and why, a host gets no requests.
type pause struct {
	until     time.Time
	reason    string
	requested bool // by the host itself
}

func newLimiter(opt Options) *limiter {
	return &limiter{
		perHost: max(opt.Limits.PerHost, 1), total: make(chan struct{}, max(opt.Limits.Total, 1)), budget: opt.Budget,
		now: opt.Now, registries: opt.Registries, reports: opt.Reports, hosts: map[string]*host{},
	}
}

func (l *limiter) host(name string) *host {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[name]
	if h == nil {
		h = &host{slots: make(chan struct{}, l.perHost)}
		l.hosts[name] = h
	}
	return h
}

// do makes a request to a host within the limits; see Client.Request. pull is whether it reads a manifest.
func (l *limiter) do(ctx context.Context, name string, pull bool, request func(context.Context) error) error {
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
		began := l.now()
		counted, requests := sdk.CountRequests(ctx)
		err = request(counted)
		took := l.now().Sub(began)
		l.count(taken, name, requests)
		l.readReport(ctx, name)
		// Learnt before the slot is released: the next request must see the pause.
		repeat := ctx.Err() == nil && l.learn(h, err, took, again)
		leave()
		if !repeat {
			return l.refused(name, h, err)
		}
	}
}

// enter waits for a slot of the host. It fails when the host gets no requests for
// longer than a run waits, or with the error of ctx.
func (l *limiter) enter(ctx context.Context, name string, h *host) (leave func(), err error) {
	for {
		if err := l.waitOut(ctx, name, h); err != nil {
			return nil, err
		}
		if err := take(ctx, h.slots); err != nil {
			return nil, err
		}
		if err := take(ctx, l.total); err != nil {
			<-h.slots
			return nil, err
		}
		leave := func() {
			<-l.total
			<-h.slots
		}
		if _, wait := l.paused(h); wait <= 0 {
			return leave, nil
		}
		leave() // the host asked for a pause while this request waited
	}
}

// waitOut waits for the end of a short pause and fails during a long one.
func (l *limiter) waitOut(ctx context.Context, name string, h *host) error {
	paused, wait := l.paused(h)
	switch {
	case wait <= 0:
		return ctx.Err()
	case wait > shortPause:
		postponed := postponed(name+" "+paused.reason, paused.until)
		if !paused.requested {
			return postponed.error
		}
		return postponed
	}
	return backoff.Sleep(ctx, wait)
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
func (l *limiter) refused(name string, h *host, err error) error {
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

// paused returns the last pause of a host, and how much of it is left.
func (l *limiter) paused(h *host) (p pause, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return h.pause, h.pause.until.Sub(l.now())
}

// learn records how a request went and reports whether to retry it.
func (l *limiter) learn(h *host, err error, took time.Duration, again bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	silent := h.silent
	if h.silent = 0; err == nil {
		return false
	}
	var limited *sdk.RateLimitedError
	switch {
	case errors.As(err, &limited):
		short := limited.After > 0 && limited.After <= shortPause && !again
		wait := limited.After
		if !short {
			wait = min(max(wait, defaultPause), maxPause)
		}
		h.pauseUntil(l.now().Add(wait), "limits requests", true)
		return short
	case errors.Is(err, sdk.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		if h.silent = silent + took; h.silent >= failureBudget {
			h.silent = 0
			h.pauseUntil(l.now().Add(silentPause), "does not answer", false)
		}
	}
	return false
}

// pauseUntil begins a pause, unless one is longer already.
func (h *host) pauseUntil(until time.Time, reason string, requested bool) {
	if until.After(h.pause.until) {
		h.pause = pause{until, reason, requested}
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

// allowed says what leaves a host the fewest requests, and who says so.
func allowed(u budget.Use) string {
	if u.ByReport() {
		return fmt.Sprintf("%s, as it reports", u.Reported)
	}
	return fmt.Sprintf("%s (check.budgets)", u.Allowance)
}

// take takes what a question costs from what a host allows. When that is used up, the question is
// postponed until there is something again.
func (l *limiter) take(host string, pull bool) (budget.Taken, error) {
	taken, until := l.budget.Take(host, pull)
	if until.IsZero() {
		return taken, nil
	}
	use := l.budget.Of(host)
	reason := fmt.Sprintf("%s has no request left of its budget, %s", host, allowed(use))
	if pull && use.Reported.Pulls && use.LeftAsReported() == 0 {
		reason = fmt.Sprintf("%s has no pull left, as it reports", host)
	}
	return taken, postponed(reason, until)
}

// reportPause is how long a report of a host is good enough while requests are made to it.
const reportPause = time.Second

// readReport passes on what a host said of its limit, which its plugin knows without a request.
func (l *limiter) readReport(ctx context.Context, name string) {
	if l.reports == nil {
		return
	}
	h, now := l.host(name), l.now()
	l.mu.Lock()
	again := now.Sub(h.reportRead) >= reportPause
	if again {
		h.reportRead = now
	}
	l.mu.Unlock()
	if !again {
		return
	}
	match, served := l.registries.For(name)
	if !served {
		return
	}
	api := apiHost(match)
	for _, r := range l.reports(ctx, match.ID) {
		if strings.EqualFold(r.Host, api) {
			l.budget.Report(name, budget.Report{
				Allowance: budget.Allowance{Requests: int(r.Limit), Per: r.Window}, Remaining: int(r.Remaining),
				At: r.At.Time, ResetsAt: r.ResetsAt.Time, Pulls: r.Pulls,
			})
		}
	}
}

// count counts what a question cost. What went to the host of the registry's API went to the
// host of images, whose names users know.
func (l *limiter) count(taken budget.Taken, name string, requests *sdk.Requests) {
	hosts, known := requests.ByHost()
	if match, served := l.registries.For(name); served && len(hosts) > 0 {
		if api := apiHost(match); api != "" && !strings.EqualFold(api, name) && hosts[api] > 0 {
			hosts[name] += hosts[api]
			delete(hosts, api)
		}
	}
	taken.Done(hosts, known)
}

// apiHost is where the requests of a registry go; "" when that is not known.
func apiHost(m Match) string {
	if base, err := url.Parse(m.URL); err == nil {
		return base.Host
	}
	return ""
}
