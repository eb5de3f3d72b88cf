package api

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// connections limits the connections of all clients and the bytes held for them.
// Past a limit it does not refuse new connections, which would let one client
// lock out the others. It evicts one of the client that has most, and of those
// the one that has waited longest for its client. Behind a reverse proxy, where
// all share one address, that is a connection that makes no progress.
type connections struct {
	max     int // connections
	maxHeld int // bytes
	log     hclog.Logger
	sampler logSampler

	mu      sync.Mutex
	open    map[net.Conn]*connection
	clients map[netip.Prefix]int
	held    int
}

// connection is one of them. All methods may be called on nil, which stands for
// the connection of a request that came over none.
type connection struct {
	all    *connections
	conn   net.Conn
	client netip.Prefix

	// What follows is guarded by all.mu.
	idle  bool      // no handler runs: no request has come yet, or its response only has to be read
	waits int       // how many requests wait for the client: for a body, or to have a response read
	since time.Time // when it became free for a request, or the latest one began
	held  int       // bytes kept for it
}

type connectionKey struct{}

func newConnections(l limits, log hclog.Logger) *connections {
	return &connections{
		max: l.connections, maxHeld: l.held, log: log, open: map[net.Conn]*connection{}, clients: map[netip.Prefix]int{},
	}
}

// connectionOf returns the connection of a request's context.
func connectionOf(ctx context.Context) *connection {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	return c
}

// add counts a new connection; see http.Server.ConnContext.
func (a *connections) add(ctx context.Context, conn net.Conn) context.Context {
	c := &connection{all: a, conn: conn, client: networkOf(conn.RemoteAddr()), idle: true, since: time.Now()}
	a.mu.Lock()
	a.open[conn] = c
	a.clients[c.client]++
	evicted := a.evict()
	a.mu.Unlock()
	a.close(evicted)
	return context.WithValue(ctx, connectionKey{}, c)
}

// networkOf returns the network that identifies a client: an address, or the /64
// network of an IPv6 address, as a client has a whole one.
func networkOf(address net.Addr) netip.Prefix {
	peer, err := netip.ParseAddrPort(address.String())
	if err != nil {
		return netip.Prefix{}
	}
	ip := peer.Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	network, _ := ip.Prefix(bits) // not longer than an address
	return network
}

// stateChanged tracks the state of a connection; see http.Server.ConnState.
func (a *connections) stateChanged(conn net.Conn, state http.ConnState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, here := a.open[conn]
	if !here {
		return
	}
	switch state {
	case http.StateActive:
		c.idle, c.since = false, time.Now()
	case http.StateIdle:
		c.idle, c.since = true, time.Now()
	case http.StateClosed, http.StateHijacked:
		a.remove(c)
	}
}

// remove forgets a connection. The lock is held.
func (a *connections) remove(c *connection) {
	delete(a.open, c.conn)
	a.held -= c.held
	if a.clients[c.client]--; a.clients[c.client] == 0 {
		delete(a.clients, c.client)
	}
}

// evict forgets connections until the limits hold, and returns them to be closed.
// The lock is held.
func (a *connections) evict() (evicted []net.Conn) {
	for len(a.open) > a.max || a.held > a.maxHeld && len(a.open) > 0 {
		c := a.victim(len(a.open) <= a.max)
		a.remove(c)
		evicted = append(evicted, c.conn)
	}
	return evicted
}

// victim returns the connection to evict. With holding it is one of those for
// which bytes are held.
func (a *connections) victim(holding bool) *connection {
	var victim *connection
	now := time.Now()
	for _, c := range a.open {
		if (!holding || c.held > 0) && (victim == nil || a.evictBefore(c, victim, now)) {
			victim = c
		}
	}
	return victim
}

// evictBefore reports whether c is evicted before other.
func (a *connections) evictBefore(c, other *connection, now time.Time) bool {
	if n, m := a.clients[c.client], a.clients[other.client]; n != m {
		return n > m
	}
	if stalled := c.stalled(now); stalled != other.stalled(now) {
		return stalled
	}
	return c.since.Before(other.since)
}

// stallTime is how long a client may let the server wait before its connection
// counts as stalled: a new connection is not the first to be evicted.
const stallTime = 2 * time.Second

func (c *connection) stalled(now time.Time) bool {
	return (c.idle || c.waits > 0) && now.Sub(c.since) >= stallTime
}

// close closes evicted connections. What was not sent yet is dropped.
func (a *connections) close(evicted []net.Conn) {
	for _, conn := range evicted {
		if secure, ok := conn.(*tls.Conn); ok {
			conn = secure.NetConn() // the closing alert of TLS could block
		}
		if plain, ok := conn.(*net.TCPConn); ok {
			_ = plain.SetLinger(0)
		}
		_ = conn.Close()
	}
	if len(evicted) == 0 {
		return
	}
	if before, ok := a.sampler.allow(time.Now()); ok {
		a.log.Warn("clients hold too much: closed what waited longest for one", "client",
			evicted[0].RemoteAddr().String(), "connections", a.max, "bytes", a.maxHeld, "closed_before", before)
	}
}

// startWait notes that the connection waits for its client until endWait is
// called, and that so many bytes are held meanwhile.
func (c *connection) startWait(bytes int) { c.change(1, bytes) }

// endWait ends what startWait began.
func (c *connection) endWait(released int) { c.change(-1, -released) }

// responded notes that the handler has returned: what is left of the request's
// body and of the response is up to the client.
func (c *connection) responded() {
	if c == nil {
		return
	}
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	c.idle = true
}

// hold notes that so many bytes are held for the connection, or with a negative number that they are not.
func (c *connection) hold(bytes int) { c.change(0, bytes) }

func (c *connection) change(waits, held int) {
	if c == nil {
		return
	}
	c.all.mu.Lock()
	var evicted []net.Conn
	c.waits += waits
	c.held += held
	if c.all.open[c.conn] == c {
		c.all.held += held
		if held > 0 {
			evicted = c.all.evict()
		}
	}
	c.all.mu.Unlock()
	c.all.close(evicted)
}
