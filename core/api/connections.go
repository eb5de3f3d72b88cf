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

// connections bounds what all clients together can make the server hold. Past a
// bound somebody has to leave, rather than nobody be let in: whoever has most
// connections gives up one, of those the one that waits longest for its client.
// So it is the same client that pays who opens them, and behind a reverse
// proxy, where all come from one address, the one that makes no progress.
type connections struct {
	most     int // connections
	mostHeld int // bytes
	log      hclog.Logger
	said     sampled

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

	// The rest belongs to all.mu.
	idle  bool      // no request is being answered: it did not come yet, or the answer only has to be taken
	waits int       // how often a request waits for the client: for its body, or to take the answer
	since time.Time // when it became free for a request, or the latest one began
	held  int       // bytes kept for it
}

type connectionKey struct{}

func newConnections(l limits, log hclog.Logger) *connections {
	return &connections{most: l.connections, mostHeld: l.held, log: log, open: map[net.Conn]*connection{}, clients: map[netip.Prefix]int{}}
}

// connectionOf returns the connection of a request's context.
func connectionOf(ctx context.Context) *connection {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	return c
}

// enter counts a new connection in; see http.Server.ConnContext.
func (a *connections) enter(ctx context.Context, conn net.Conn) context.Context {
	c := &connection{all: a, conn: conn, client: networkOf(conn.RemoteAddr()), idle: true, since: time.Now()}
	a.mu.Lock()
	a.open[conn] = c
	a.clients[c.client]++
	leaves := a.shrink()
	a.mu.Unlock()
	a.end(leaves)
	return context.WithValue(ctx, connectionKey{}, c)
}

// networkOf returns the network by which clients are told apart: an address, or
// the network of an IPv6 address, of which everybody has more than can be counted.
func networkOf(address net.Addr) netip.Prefix {
	at, err := netip.ParseAddrPort(address.String())
	if err != nil {
		return netip.Prefix{}
	}
	ip := at.Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	network, _ := ip.Prefix(bits) // not longer than an address
	return network
}

// changed follows a connection; see http.Server.ConnState.
func (a *connections) changed(conn net.Conn, state http.ConnState) {
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

// remove counts a connection out. The lock is held.
func (a *connections) remove(c *connection) {
	delete(a.open, c.conn)
	a.held -= c.held
	if a.clients[c.client]--; a.clients[c.client] == 0 {
		delete(a.clients, c.client)
	}
}

// shrink counts out who has to leave until the bounds hold. The lock is held.
func (a *connections) shrink() (leaves []net.Conn) {
	for len(a.open) > a.most || a.held > a.mostHeld && len(a.open) > 0 {
		c := a.worst(len(a.open) <= a.most)
		a.remove(c)
		leaves = append(leaves, c.conn)
	}
	return leaves
}

// worst returns the connection that has to leave, of those for which something
// is held if that is what there is too much of.
func (a *connections) worst(holding bool) *connection {
	var worst *connection
	now := time.Now()
	for _, c := range a.open {
		if (!holding || c.held > 0) && (worst == nil || a.worse(c, worst, now)) {
			worst = c
		}
	}
	return worst
}

func (a *connections) worse(c, than *connection, now time.Time) bool {
	if n, m := a.clients[c.client], a.clients[than.client]; n != m {
		return n > m
	}
	if stuck := c.stuck(now); stuck != than.stuck(now) {
		return stuck
	}
	return c.since.Before(than.since)
}

// stuckAfter is how long an honest client may let the server wait without a
// reason to doubt it: whoever just came is not the first to leave.
const stuckAfter = 2 * time.Second

func (c *connection) stuck(now time.Time) bool {
	return (c.idle || c.waits > 0) && now.Sub(c.since) >= stuckAfter
}

// end closes connections. What was not sent yet is not kept for them.
func (a *connections) end(leaves []net.Conn) {
	for _, conn := range leaves {
		if secure, ok := conn.(*tls.Conn); ok {
			conn = secure.NetConn() // to say goodbye could take its time
		}
		if plain, ok := conn.(*net.TCPConn); ok {
			_ = plain.SetLinger(0)
		}
		_ = conn.Close()
	}
	if len(leaves) == 0 {
		return
	}
	if before, ok := a.said.due(time.Now()); ok {
		a.log.Warn("clients hold too much: closed what waited longest for one", "client", leaves[0].RemoteAddr().String(), "connections", a.most, "bytes", a.mostHeld, "closed_before", before)
	}
}

// wait notes that the connection waits for its client until goOn is called, and
// that so many bytes are held until release is.
func (c *connection) wait(bytes int) { c.change(1, bytes) }

// goOn ends what wait began.
func (c *connection) goOn(released int) { c.change(-1, -released) }

// answered notes that a request was answered: what is left of its body and of
// the answer is up to the client.
func (c *connection) answered() {
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
	var leaves []net.Conn
	c.waits += waits
	c.held += held
	if c.all.open[c.conn] == c {
		c.all.held += held
		if held > 0 {
			leaves = c.all.shrink()
		}
	}
	c.all.mu.Unlock()
	c.all.end(leaves)
}

// sampled lets one message of a kind pass in a while, with how many did not.
type sampled struct {
	mu      sync.Mutex
	next    time.Time
	skipped int
}

// sampleEvery is how often.
const sampleEvery = time.Minute

func (s *sampled) due(now time.Time) (skipped int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.next) {
		s.skipped++
		return 0, false
	}
	skipped, s.skipped, s.next = s.skipped, 0, now.Add(sampleEvery)
	return skipped, true
}
