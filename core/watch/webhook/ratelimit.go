package webhook

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// maxWrong is how many wrong secrets a network may try within wrongWindow.
	maxWrong    = 20
	wrongWindow = 15 * time.Minute
	// maxNetworks bounds the networks that are remembered: beyond it those are forgotten that
	// have tried least.
	maxNetworks = 1024
)

// RateLimit limits how often networks may try wrong secrets. Its zero value is ready; its methods
// may be called concurrently.
type RateLimit struct {
	mu       sync.Mutex
	networks map[netip.Prefix]*attempts
}

type attempts struct {
	n     int
	until time.Time
}

// Wait returns how long the network of an address has to wait before it may try a secret; 0 when
// it need not.
func (l *RateLimit) Wait(from netip.Addr, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.networks[networkOf(from)]; one != nil && one.n >= maxWrong && now.Before(one.until) {
		return one.until.Sub(now)
	}
	return 0
}

// Wrong counts a wrong secret.
func (l *RateLimit) Wrong(from netip.Addr, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	network := networkOf(from)
	one := l.networks[network]
	if one == nil || !now.Before(one.until) {
		if l.networks == nil {
			l.networks = map[netip.Prefix]*attempts{}
		}
		l.makeRoom(now)
		one = &attempts{until: now.Add(wrongWindow)}
		l.networks[network] = one
	}
	one.n++
}

// makeRoom forgets networks when there are too many.
func (l *RateLimit) makeRoom(now time.Time) {
	for least := 2; len(l.networks) >= maxNetworks; least *= 2 {
		for network, one := range l.networks {
			if one.n < least || !now.Before(one.until) {
				delete(l.networks, network)
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
