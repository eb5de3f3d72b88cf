package oci

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// maxKnown bounds the hosts and token services in memory, whose names registries
// may make up; beyond it everything is learned anew.
const maxKnown = 1024

// Shared is what the registries of one process know together. It is safe for concurrent use.
type Shared struct {
	defaultLogin DefaultLogin // nil when there is none

	mu      sync.Mutex
	hosts   map[string]*host
	issuers map[issuerKey]*issuer
}

// NewShared returns a Shared that knows nothing yet.
func NewShared() *Shared {
	return &Shared{hosts: map[string]*host{}, issuers: map[issuerKey]*issuer{}}
}

// host returns what is known of the host of u.
func (s *Shared) host(u *url.URL) *host {
	key := u.Scheme + "://" + strings.ToLower(u.Host)
	s.mu.Lock()
	defer s.mu.Unlock()
	h, known := s.hosts[key]
	if !known {
		if len(s.hosts) == maxKnown {
			clear(s.hosts)
		}
		h = &host{
			discovered: make(chan struct{}), paused: map[string]time.Time{}, limits: map[string]registry.Limit{},
		}
		if strings.EqualFold(u.Host, dockerHub) {
			h.heads = headWorks
		}
		s.hosts[key] = h
	}
	return h
}

// issuer returns the token service that c names, as seen by one user.
func (s *Shared) issuer(c challenge, user sdk.Credentials) *issuer {
	key := issuerKey{realm: c.realm, service: c.service, public: c.public, user: user}
	s.mu.Lock()
	defer s.mu.Unlock()
	i, known := s.issuers[key]
	if !known {
		if len(s.issuers) == maxKnown {
			clear(s.issuers)
		}
		i = &issuer{named: user != sdk.Credentials{}, tokens: map[string]*token{}}
		s.issuers[key] = i
	}
	return i
}

// host is what is known of one host: what it demands of requests, and what it said of its limits.
type host struct {
	// discovered is closed after the first request: what the host demands is known then.
	discovered chan struct{}

	mu sync.Mutex
	// nextDiscovery is when another request may be sent while none has returned.
	nextDiscovery time.Time
	// demand is the challenge to meet; nil while none is known.
	demand *challenge
	// actions are what scopes must name besides "pull" on this host.
	actions []string
	// paused is until when the host wants no requests, by user name.
	paused map[string]time.Time
	// limits are the rate limits that the host last reported, by user name.
	limits map[string]registry.Limit
	heads  headState
	// redirect is where the host redirects its whole API, until redirectUntil.
	redirect      *url.URL
	redirectUntil time.Time
	// redirectPublic means that it was a public address that redirected.
	redirectPublic bool
}

// dockerHub is where Docker Hub has its registry. It counts each GET of a manifest as a
// pull and supports HEAD (https://docs.docker.com/docker-hub/usage/pulls/): a HEAD that it
// fails is not repeated as GET.
const dockerHub = "registry-1.docker.io"

// headState says whether a host supports HEAD requests for manifests.
type headState int

const (
	headUnknown headState = iota
	headWorks
	headFails
)

// discoveryTime is how long requests wait for the first one before another is sent.
// Few hosts take so long to demand a login, and the cost is one request more.
const discoveryTime = 2 * time.Second

// discover sends the first request alone, so that one request and not all
// discover what the host demands; concurrent ones wait until it calls done. While
// it hangs, one more is sent every discoveryTime.
func (h *host) discover(ctx context.Context) (done func(), err error) {
	for {
		wait := h.discoveryWait(time.Now())
		if wait == 0 {
			return h.finishDiscovery, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-h.discovered:
			timer.Stop()
			return func() {}, nil
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, contextError(ctx)
		}
	}
}

// discoveryWait returns 0 when a request may be sent now, and else the maximum wait.
func (h *host) discoveryWait(now time.Time) (wait time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isDiscovered() {
		return 0
	}
	if wait = h.nextDiscovery.Sub(now); wait > 0 {
		return wait
	}
	h.nextDiscovery = now.Add(discoveryTime)
	return 0
}

// finishDiscovery releases the requests that wait for discovery.
func (h *host) finishDiscovery() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.isDiscovered() {
		close(h.discovered)
	}
}

func (h *host) isDiscovered() bool {
	select {
	case <-h.discovered:
		return true
	default:
		return false
	}
}

// challenge returns what the host demands of every request; nil when nothing is known.
func (h *host) challenge() *challenge {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.demand
}

// learn records a challenge about a repository. It reports whether that changes
// what the next request will carry.
func (h *host) learn(c challenge, repo string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed := h.demand == nil || !h.demand.sameIssuer(c)
	if changed || c.public && !h.demand.public {
		h.demand = &c
	}
	for word := range strings.FieldsSeq(c.scope) {
		actions, matches := strings.CutPrefix(word, "repository:"+repo+":")
		if !matches {
			continue
		}
		for action := range strings.SplitSeq(actions, ",") {
			if readActions[action] && !slices.Contains(h.actions, action) {
				h.actions = append(h.actions, action)
				changed = true
			}
		}
	}
	return changed
}

// readActions are what a registry may demand besides "pull" before it lists tags.
var readActions = map[string]bool{"metadata_read": true}

// scope returns the scope of reading a repository (distribution, "Token Scope Documentation").
func (h *host) scope(repo string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return "repository:" + repo + ":" + strings.Join(append([]string{"pull"}, h.actions...), ",")
}

func (h *host) head() headState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.heads
}

func (h *host) setHead(s headState) {
	h.mu.Lock()
	h.heads = s
	h.mu.Unlock()
}

// redirectTime is for how long requests skip a host that redirects to another one.
const redirectTime = 10 * time.Minute

// setRedirect records a redirect that changes only the host. public means that it
// was a public address that redirected.
func (h *host) setRedirect(from, to *url.URL, public bool) {
	if from.Path != to.Path {
		return
	}
	h.mu.Lock()
	h.redirect, h.redirectUntil, h.redirectPublic = to, time.Now().Add(redirectTime), public
	h.mu.Unlock()
}

// redirectOf returns where a request to u is redirected, and whether a public address has redirected it.
func (h *host) redirectOf(u *url.URL) (to *url.URL, public bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.redirect == nil || time.Now().After(h.redirectUntil) {
		return u, false
	}
	there := *u
	there.Scheme, there.Host = h.redirect.Scheme, h.redirect.Host
	return &there, h.redirectPublic
}

// contextError is the error of a call whose context ended before it had a response.
func contextError(ctx context.Context) error {
	err := fmt.Errorf("waiting for the registry: %w", ctx.Err())
	if errors.Is(err, context.Canceled) {
		return err
	}
	return sdk.WithKind(sdk.ErrUnavailable, err)
}
