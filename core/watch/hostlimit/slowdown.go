package hostlimit

import (
	"context"
	"errors"
	"time"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/sdk"
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

// pause is until when, and why, a host gets no requests.
type pause struct {
	until     time.Time
	reason    string
	requested bool // by the host itself
}

// waitOut waits for the end of a short pause and fails during a long one.
func (l *Limiter) waitOut(ctx context.Context, name string, h *host) error {
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
	return backoff.Wait(ctx, wait)
}

// Paused says why a host gets no requests now, "it limits requests"; "" when it does.
func (l *Limiter) Paused(host string) string {
	if paused, wait := l.paused(l.host(host)); wait > 0 {
		return "it " + paused.reason
	}
	return ""
}

// paused returns the last pause of a host, and how much of it is left.
func (l *Limiter) paused(h *host) (p pause, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return h.pause, h.pause.until.Sub(l.opt.Now())
}

// learn records how a request went and reports whether to retry it.
func (l *Limiter) learn(h *host, err error, took time.Duration, again bool) bool {
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
		h.pauseUntil(l.opt.Now().Add(wait), "limits requests", true)
		return short
	case errors.Is(err, sdk.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		if h.silent = silent + took; h.silent >= failureBudget {
			h.silent = 0
			h.pauseUntil(l.opt.Now().Add(silentPause), "does not answer", false)
		}
	}
	return false
}

// outcome is how a request to a host went.
type outcome struct {
	name  string
	began time.Time
	err   error
	load  sdk.Load
}

// adapt adapts how many requests the host gets at a time.
func (l *Limiter) adapt(h *host, o outcome) {
	var limited *sdk.RateLimitedError
	var before, after int
	why, now := "it limits requests", l.opt.Now()
	switch {
	case o.load.Throttled, errors.As(o.err, &limited):
		before, after = h.overloaded(o.began, now)
	case o.err == nil, o.load.Latency > lateAnswer:
		before, after = h.answered(o.began, now, o.load.Latency)
		why = "it has become slower"
	}
	if before > after {
		l.opt.Log.Debug("a registry gets fewer requests at a time", "host", o.name, "now", after, "before", before,
			"because", why)
	}
}

// pauseUntil begins a pause, unless one is longer already.
func (h *host) pauseUntil(until time.Time, reason string, requested bool) {
	if until.After(h.pause.until) {
		h.pause = pause{until, reason, requested}
	}
}
