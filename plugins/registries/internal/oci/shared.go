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

// maxKnown bounds what registries that invent host names can make us remember;
// beyond it everything is learned anew.
const maxKnown = 1024

// Shared is what the registries of one process know together. It is safe for concurrent use.
type Shared struct {
	lender Lender // nil when nothing is lent

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
		h = &host{slots: make(chan struct{}, maxInFlight), met: make(chan struct{}), paused: map[string]time.Time{}, limits: map[string]registry.Limit{}}
		s.hosts[key] = h
	}
	return h
}

// issuer returns the token service that c names, as seen by one user.
func (s *Shared) issuer(c challenge, user sdk.Credentials) *issuer {
	key := issuerKey{realm: c.realm, service: c.service, user: user}
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

// host is what is known of one host: how it wants to be asked, and how often.
type host struct {
	slots chan struct{}
	// met is closed when a first visitor has left: what the host demands is known then.
	met chan struct{}

	mu sync.Mutex
	// next is when another visitor may go in while none has left.
	next time.Time
	// demand is the challenge to answer; nil while none is known.
	demand *challenge
	// actions are what scopes must name besides "pull" on this host.
	actions []string
	// paused is until when the host wants no requests, by user name.
	paused map[string]time.Time
	// limits are what the host said last of its limits, by user name.
	limits map[string]registry.Limit
	heads  headState
	// moved is where the host's API has gone, until movedUntil.
	moved      *url.URL
	movedUntil time.Time
	// movedPublic means that a public address has said so.
	movedPublic bool
}

// headState tells whether a host answers HEAD requests for manifests.
type headState int

const (
	headUnknown headState = iota
	headWorks
	headFails
)

// meetTime is how long visitors wait for the first one before another goes in.
// Few hosts take so long to demand a login, and what they are asked meanwhile is
// one request more.
const meetTime = 2 * time.Second

// enter lets the first visitor in alone, so that one request and not eight find
// out what the host demands; the others wait until it leaves. While it does not,
// because what it asked about hangs, one more goes in every meetTime.
func (h *host) enter(ctx context.Context) (leave func(), err error) {
	for {
		wait := h.turn(time.Now())
		if wait == 0 {
			return h.meet, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-h.met:
			timer.Stop()
			return func() {}, nil
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, gaveUp(ctx)
		}
	}
}

// turn returns 0 when a visitor may go in now, and else how long it waits at most.
func (h *host) turn(now time.Time) (wait time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known() {
		return 0
	}
	if wait = h.next.Sub(now); wait > 0 {
		return wait
	}
	h.next = now.Add(meetTime)
	return 0
}

// meet lets everybody in.
func (h *host) meet() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.known() {
		close(h.met)
	}
}

func (h *host) known() bool {
	select {
	case <-h.met:
		return true
	default:
		return false
	}
}

// do runs one exchange in one of the host's slots.
func (h *host) do(ctx context.Context, user string, exchange func() error) error {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return gaveUp(ctx)
	}
	defer func() { <-h.slots }()
	h.mu.Lock()
	wait := time.Until(h.paused[user])
	h.mu.Unlock()
	if wait > patience {
		wait = wait.Truncate(time.Second) + time.Second // registries count in seconds
		return sdk.RateLimited(wait, fmt.Errorf("the registry asked for a pause of %v more", wait))
	}
	if err := sleep(ctx, wait); err != nil {
		return err
	}
	return exchange()
}

// challenge returns what the host demands of every request; nil when nothing is known.
func (h *host) challenge() *challenge {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.demand
}

// learn remembers a challenge about a repository. It reports whether that
// changes what the next request will carry.
func (h *host) learn(c challenge, repo string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed := h.demand == nil || !h.demand.sameIssuer(c)
	if changed || c.public && !h.demand.public {
		h.demand = &c
	}
	for word := range strings.FieldsSeq(c.scope) {
		actions, ours := strings.CutPrefix(word, "repository:"+repo+":")
		if !ours {
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

// moveTime is for how long a host that passes questions on to another one is not asked itself.
const moveTime = 10 * time.Minute

// redirect remembers that from is answered by to, when only the host differs.
// public means that a public address has said so.
func (h *host) redirect(from, to *url.URL, public bool) {
	if from.Path != to.Path {
		return
	}
	h.mu.Lock()
	h.moved, h.movedUntil, h.movedPublic = to, time.Now().Add(moveTime), public
	h.mu.Unlock()
}

// follow returns where a question to u is answered, and whether a public address has said so.
func (h *host) follow(u *url.URL) (to *url.URL, public bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.moved == nil || time.Now().After(h.movedUntil) {
		return u, false
	}
	there := *u
	there.Scheme, there.Host = h.moved.Scheme, h.moved.Host
	return &there, h.movedPublic
}

// gaveUp is the error of a call whose context ended before it had an answer.
func gaveUp(ctx context.Context) error {
	err := fmt.Errorf("waiting for the registry: %w", ctx.Err())
	if errors.Is(err, context.Canceled) {
		return err
	}
	return sdk.WithKind(sdk.ErrUnavailable, err)
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return gaveUp(ctx)
	}
}
