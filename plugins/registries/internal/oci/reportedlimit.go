package oci

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

const (
	// maxWait is the maximum wait of a call for a host that asks for a pause. A
	// longer pause is an error, for the caller to plan around.
	maxWait = 2 * time.Second
	// maxPause is the longest pause: the longest window of public registries.
	maxPause = 6 * time.Hour
	// maxLimitHosts bounds the hosts whose limits one registry reports; beyond it all are learned anew.
	maxLimitHosts = 64
	// maxLimit, maxWindow and maxSource bound what is accepted of a host's rate limit headers.
	maxLimit  = 1e12
	maxWindow = 31 * 24 * time.Hour
	maxSource = 64
)

// limitHosts are the hosts that reported rate limits to one registry, and to which
// of its users. Its zero value is empty.
type limitHosts struct {
	mu    sync.Mutex
	hosts map[string]account // by host
}

// account is a host as one user sees it.
type account struct {
	url  *url.URL
	user string
}

func (t *limitHosts) add(a account) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := strings.ToLower(a.url.Host)
	if _, known := t.hosts[key]; !known && len(t.hosts) == maxLimitHosts {
		clear(t.hosts)
	}
	if t.hosts == nil {
		t.hosts = map[string]account{}
	}
	t.hosts[key] = a
}

func (t *limitHosts) all() map[string]account {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.hosts)
}

// Limits implements registry.LimitReporter.
func (r *Registry) Limits() []registry.Limit {
	var limits []registry.Limit
	all, now := r.limitHosts.all(), time.Now()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		l, known := r.shared.host(all[name].url).limit(all[name].user, now)
		if l.Host = name; known {
			limits = append(limits, l)
		}
	}
	return limits
}

// recordLimit records the rate limit that a response reports for its host. One
// from another host, after a redirect, is ignored.
func (r *Registry) recordLimit(to *url.URL, user string, resp *http.Response) {
	if l, reported := limitIn(resp.Header, time.Now()); reported && resp.Request.URL.Host == to.Host {
		r.shared.host(to).setLimit(user, l)
		r.limitHosts.add(account{to, user})
	}
}

// recordPause pauses a host after a response that is due to its rate limit.
func (r *Registry) recordPause(to *url.URL, user string, e *statusError) {
	if !e.limited() {
		return
	}
	h := r.shared.host(to)
	if e.limit.Limit > 0 {
		h.setLimit(user, e.limit)
	}
	h.pause(user, e.after)
	r.limitHosts.add(account{to, user})
}

// pause keeps requests of a user away from the host for a time.
func (h *host) pause(user string, d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if until := time.Now().Add(min(d, maxPause)); until.After(h.paused[user]) {
		h.paused[user] = until
	}
}

func (h *host) setLimit(user string, l registry.Limit) {
	l.At = sdk.TimeOf(time.Now())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.limits[user] = l
}

// limit returns the rate limit that the host reported to a user, and whether any is known.
func (h *host) limit(user string, now time.Time) (registry.Limit, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, known := h.limits[user]
	if until := h.paused[user]; until.After(now) {
		l.PausedUntil = sdk.TimeOf(until)
	}
	return l, known || !l.PausedUntil.IsZero()
}

// limitIn reads the rate limit in the headers of a response, and whether there is
// one: those of Docker Hub (https://docs.docker.com/docker-hub/usage/pulls/) and of
// GitLab, which follow a draft of the IETF (draft-ietf-httpapi-ratelimit-headers-03),
// or those of GitHub (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api).
// The header with whom it counts is Docker Hub's, which counts pulls and not requests.
func limitIn(h http.Header, now time.Time) (registry.Limit, bool) {
	for _, prefix := range []string{"RateLimit-", "X-RateLimit-"} {
		limit, window, ok := quota(h.Get(prefix + "Limit"))
		remaining, _, also := quota(h.Get(prefix + "Remaining"))
		if !ok || !also || limit == 0 {
			continue
		}
		source, _ := httpclient.Truncate(httpclient.Clean(h.Get("Docker-RateLimit-Source")), maxSource)
		return registry.Limit{
			Limit: limit, Remaining: min(remaining, limit), Window: window, Source: source,
			Pulls: source != "", ResetsAt: resetIn(h.Get(prefix+"Reset"), now),
		}, true
	}
	return registry.Limit{}, false
}

// resetIn reads when a limit begins anew, which the draft has as seconds from now, GitHub
// and GitLab as seconds since 1970; zero when that is no time of the next month.
func resetIn(text string, now time.Time) sdk.Time {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n <= 0 {
		return sdk.Time{}
	}
	in := n
	if n > int64(maxWindow/time.Second) {
		in = n - now.Unix()
	}
	if in <= 0 || in > int64(maxWindow/time.Second) {
		return sdk.Time{}
	}
	return sdk.TimeOf(now.Add(time.Duration(in) * time.Second))
}

// quota reads "100;w=21600", or "100, 100;w=21600, 1000;w=86400": the first number
// counts, with the window of the first item that has this number and a window.
func quota(text string) (n int64, window time.Duration, ok bool) {
	for item := range strings.SplitSeq(text, ",") {
		number, params, _ := strings.Cut(strings.TrimSpace(item), ";")
		v, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || v < 0 || v > maxLimit {
			break
		}
		if !ok {
			n, ok = v, true
		}
		if window = windowIn(params); v == n && window > 0 {
			return n, window, true
		}
	}
	return n, 0, ok
}

// windowIn finds the seconds of "w=21600" among parameters; 0 when there are none.
func windowIn(params string) time.Duration {
	for param := range strings.SplitSeq(params, ";") {
		text, found := strings.CutPrefix(strings.TrimSpace(param), "w=")
		seconds, err := strconv.ParseInt(text, 10, 64)
		if found && err == nil && seconds > 0 {
			return time.Duration(min(seconds, int64(maxWindow/time.Second))) * time.Second
		}
	}
	return 0
}

// retryAfterIn finds the time to wait in a message such as GitHub's
// "retry-after: 1.16ms, allowed: 44000/minute"; 0 when there is none.
func retryAfterIn(message string) time.Duration {
	word := wordAfter(message, "retry-after:")
	d, err := time.ParseDuration(word)
	if err != nil || d < 0 {
		return 0
	}
	return min(d, 24*time.Hour)
}

// allowedIn finds the limit in such a message; the zero value when there is none.
// Nothing of it remains.
func allowedIn(message string) registry.Limit {
	number, per, _ := strings.Cut(wordAfter(message, "allowed:"), "/")
	window := map[string]time.Duration{
		"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour,
	}[per]
	limit, err := strconv.ParseInt(number, 10, 64)
	if err != nil || limit <= 0 || limit > maxLimit || window == 0 {
		return registry.Limit{}
	}
	return registry.Limit{Limit: limit, Window: window}
}

// wordAfter returns the word that follows label in a message, in lower case.
func wordAfter(message, label string) string {
	_, rest, _ := strings.Cut(strings.ToLower(message), label)
	word, _, _ := strings.Cut(strings.TrimSpace(rest), ",")
	word, _, _ = strings.Cut(word, " ")
	return strings.TrimSpace(word)
}

// limitReason distinguishes the two limits of Docker Hub: pulls, which come back
// after hours, and requests in a short time
// (https://docs.docker.com/docker-hub/usage/pulls/). Other registries are quoted.
func limitReason(message string, h http.Header) string {
	lower := strings.ToLower(message)
	left, _, _ := strings.Cut(h.Get("RateLimit-Remaining"), ";")
	switch {
	case strings.Contains(lower, "pull rate limit") || strings.TrimSpace(left) == "0":
		text := "the pull limit of the account or address is used up"
		if limit := h.Get("RateLimit-Limit"); limit != "" {
			text += " (" + limit + ")"
		}
		return text + "; logging in raises it"
	case lower == "" || lower == "too many requests":
		return "too many requests in a short time"
	}
	return message
}

// throttle runs one exchange after the pause that the rate limit of the host demands; a longer pause than maxWait is
// a *sdk.RateLimitedError. How many run at a time is for who calls the registry to say (core/watch/hostlimit): a call
// makes its requests one after the other.
func (h *host) throttle(ctx context.Context, user string, exchange func() error) error {
	h.mu.Lock()
	wait := time.Until(h.paused[user])
	h.mu.Unlock()
	if wait > maxWait {
		wait = wait.Truncate(time.Second) + time.Second // registries count in seconds
		return sdk.RateLimited(wait, fmt.Errorf("the registry asked for a pause of %v more", wait))
	}
	if wait > 0 && backoff.Wait(ctx, wait) != nil {
		return contextError(ctx)
	}
	return exchange()
}
