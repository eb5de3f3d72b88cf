package webhook

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// maxGuesses is how many wrong secrets a network may try within guessWindow.
	maxGuesses  = 20
	guessWindow = 15 * time.Minute
	// maxGuessers bounds the networks that are remembered: beyond it those are forgotten that
	// guess least.
	maxGuessers = 1024
)

// Guesses limits how often networks may try wrong secrets. Its zero value is ready; its methods
// may be called concurrently.
type Guesses struct {
	mu sync.Mutex
	of map[netip.Prefix]*guesser
}

type guesser struct {
	n     int
	until time.Time
}

// Wait returns how long the network of an address has to wait before it may try a secret; 0 when
// it need not.
func (g *Guesses) Wait(from netip.Addr, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if one := g.of[networkOf(from)]; one != nil && one.n >= maxGuesses && now.Before(one.until) {
		return one.until.Sub(now)
	}
	return 0
}

// Wrong counts a wrong secret.
func (g *Guesses) Wrong(from netip.Addr, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	network := networkOf(from)
	one := g.of[network]
	if one == nil || !now.Before(one.until) {
		if g.of == nil {
			g.of = map[netip.Prefix]*guesser{}
		}
		g.makeRoom(now)
		one = &guesser{until: now.Add(guessWindow)}
		g.of[network] = one
	}
	one.n++
}

// makeRoom forgets networks when there are too many.
func (g *Guesses) makeRoom(now time.Time) {
	for least := 2; len(g.of) >= maxGuessers; least *= 2 {
		for network, one := range g.of {
			if one.n < least || !now.Before(one.until) {
				delete(g.of, network)
			}
		}
	}
}

// networkOf is an address of IPv4, or the /64 of one of IPv6, of which a client has as many as it wants.
func networkOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // fails for no address, which is one network, too
	return p
}
