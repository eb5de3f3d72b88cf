// Package sshdial makes connections to sockets of another machine through its ssh server, without a program there:
// "direct-streamlocal@openssh.com" of OpenSSH's PROTOCOL, section 2.4, and "direct-tcpip" of RFC 4254, section 7.2.
//
// All connections of a Dialer share one ssh connection, which is made with the first of them, kept alive, and made
// again when it is gone.
package sshdial

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// dialTimeout bounds how long it takes to connect and log in, on all hops together.
	dialTimeout = 20 * time.Second
	// A peer that does not respond to a keepalive within keepaliveTimeout is gone.
	keepaliveInterval = 30 * time.Second
	keepaliveTimeout  = 15 * time.Second
)

// Hop is one ssh server on the way.
type Hop struct {
	User    string
	Address string // host:port
}

// String is the hop as a user writes it, without the port that ssh has by default.
func (h Hop) String() string {
	host, port, err := net.SplitHostPort(h.Address)
	if err != nil || port != defaultPort {
		return h.User + "@" + h.Address
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		host = "[" + host + "]"
	}
	return h.User + "@" + host
}

// Dialer connects to sockets of the last of its hops. Its methods may be called concurrently.
type Dialer struct {
	hops     []Hop
	identity Identity
	known    KnownHosts

	mu     sync.Mutex
	login  *login // the last one, also while it goes on; nil when there is none or it is gone
	closed bool
}

// New makes a dialer. The hops are at least one. It does not connect.
func New(hops []Hop, identity Identity, known KnownHosts) *Dialer {
	return &Dialer{hops: hops, identity: identity, known: known}
}

// Target is the last hop.
func (d *Dialer) Target() Hop { return d.hops[len(d.hops)-1] }

// login is one ssh connection. Only its owner, Dialer.connect, writes client and err, before done is closed.
type login struct {
	done   chan struct{}
	client *client
	err    error
	// used counts the connections through it and those that are about to be.
	used int
}

// DialContext connects to a socket of the last hop: "unix" and a path, or "tcp" and host:port. Errors are *Error.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	l := d.acquire()
	select {
	case <-l.done:
	case <-ctx.Done():
		d.release(l)
		return nil, ctx.Err()
	}
	if l.err != nil {
		d.release(l)
		return nil, l.err
	}
	conn, err := l.client.DialContext(ctx, network, address)
	if err != nil {
		d.release(l)
		return nil, l.client.notOpened(network, address, err)
	}
	return &channel{Conn: conn, release: sync.OnceFunc(func() { d.release(l) })}, nil
}

// acquire returns the login that there is, or begins one.
func (d *Dialer) acquire() *login {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.login == nil {
		d.login = &login{done: make(chan struct{})}
		go d.connect(d.login)
	}
	d.login.used++
	return d.login
}

func (d *Dialer) release(l *login) {
	d.mu.Lock()
	l.used--
	d.mu.Unlock()
	d.closeUnused(l)
}

// closeUnused closes the ssh connection of a closed dialer once nothing uses it.
func (d *Dialer) closeUnused(l *login) {
	d.mu.Lock()
	over := d.closed && l.used == 0
	d.mu.Unlock()
	if !over {
		return
	}
	select {
	case <-l.done:
		if l.client != nil {
			l.client.close()
		}
	default: // connect closes it
	}
}

// connect logs in, and forgets l when that fails or the connection ends. It runs in a goroutine of its own, because
// several callers wait for it, and ends with the connection.
func (d *Dialer) connect(l *login) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	l.client, l.err = d.through(ctx)
	cancel()
	if l.err != nil {
		d.forget(l)
	}
	close(l.done)
	if l.err != nil {
		return
	}
	d.closeUnused(l)
	ended := make(chan struct{})
	go l.client.keepAlive(ended)
	_ = l.client.Wait() // how it ended is the error of each connection through it
	close(ended)
	d.forget(l)
	l.client.close()
}

func (d *Dialer) forget(l *login) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.login == l {
		d.login = nil
	}
}

// Close has the ssh connection closed as soon as no connection through it is open.
func (d *Dialer) Close() {
	d.mu.Lock()
	d.closed = true
	l := d.login
	d.mu.Unlock()
	if l != nil {
		d.closeUnused(l)
	}
}

// channel is a connection through an ssh connection.
type channel struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *channel) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// client is an ssh connection to the last hop.
type client struct {
	*ssh.Client
	hop Hop
	// before are the connections to the hops before it, in their order.
	before []*client
}

func (c *client) close() {
	c.Client.Close()
	for i := len(c.before) - 1; i >= 0; i-- {
		c.before[i].Client.Close()
	}
}

// keepAlive closes the connection when the peer does not respond any more, until ended is closed. A response that
// refuses the request is one.
func (c *client) keepAlive(ended <-chan struct{}) {
	tick := time.NewTicker(keepaliveInterval)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		late := time.AfterFunc(keepaliveTimeout, c.close)
		_, _, err := c.SendRequest("keepalive@openssh.com", true, nil)
		late.Stop()
		if err != nil {
			c.close()
			return
		}
	}
}

// Error is why there is no connection: a sentence for the user.
type Error struct {
	text   string
	remedy string // what to do besides; "" when text says it all
	kind   error  // one of the kinds of package sdk
	cause  error
}

func (e *Error) Error() string        { return e.text }
func (e *Error) Unwrap() error        { return e.cause }
func (e *Error) Is(target error) bool { return target == e.kind }

// Remedy says what to do, besides what the text says.
func (e *Error) Remedy() string { return e.remedy }

// Kind is one of the kinds of package sdk.
func (e *Error) Kind() error { return e.kind }

func unavailable(text string, cause error) *Error {
	return &Error{text: text, kind: sdk.ErrUnavailable, cause: cause}
}

func unauthorized(text, remedy string) *Error {
	return &Error{text: text, remedy: remedy, kind: sdk.ErrUnauthorized}
}

// asError returns what an error is about, when it is an *Error.
func asError(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}
