package sshdial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"
)

const (
	defaultPort = "22"
	// clientVersion is what servers log, see RFC 4253, section 4.2.
	clientVersion = "SSH-2.0-Dogwatch"
)

// through connects to the last hop by way of the others.
func (d *Dialer) through(ctx context.Context) (*client, error) {
	keys, err := d.identity.load()
	if err != nil {
		return nil, err
	}
	defer keys.close()
	var before []*client
	for i, hop := range d.hops {
		c, err := d.next(ctx, hop, before, keys)
		if err != nil {
			if len(before) > 0 {
				before[len(before)-1].close()
			}
			if i < len(d.hops)-1 {
				err = fmt.Errorf("jump host %s: %w", hop, err)
			}
			return nil, worded(err)
		}
		before = append(before, c)
	}
	return before[len(before)-1], nil
}

// worded makes an error of several layers one *Error with the text of all.
func worded(err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	return &Error{text: err.Error(), remedy: e.remedy, kind: e.kind, cause: e.cause}
}

// next logs in to a hop.
func (d *Dialer) next(ctx context.Context, hop Hop, before []*client, keys *keys) (*client, error) {
	conn, err := reach(ctx, hop, before)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() }) // connections through ssh have no deadlines
	defer stop()
	check, err := d.known.load()
	if err != nil {
		conn.Close()
		return nil, err
	}
	config := &ssh.ClientConfig{
		User: hop.User, Auth: []ssh.AuthMethod{ssh.PublicKeysCallback(keys.signersFor)}, ClientVersion: clientVersion,
		HostKeyAlgorithms: check.algorithms(hop.Address), HostKeyCallback: check.verify,
	}
	c, channels, requests, err := ssh.NewClientConn(conn, hop.Address, config)
	if err != nil {
		conn.Close()
		if ctx.Err() != nil {
			return nil, tooLate(hop)
		}
		return nil, notLoggedIn(hop, keys, err)
	}
	return &client{Client: ssh.NewClient(c, channels, requests), hop: hop, before: before}, nil
}

// reach connects to the ssh server of a hop, from the hop before it if there is one.
func reach(ctx context.Context, hop Hop, before []*client) (net.Conn, error) {
	if len(before) == 0 {
		dialer := &net.Dialer{}
		conn, err := dialer.DialContext(ctx, "tcp", hop.Address)
		if err != nil {
			return nil, notReached(ctx, hop, err)
		}
		return conn, nil
	}
	last := before[len(before)-1]
	conn, err := last.DialContext(ctx, "tcp", hop.Address)
	if err != nil && ctx.Err() != nil {
		return nil, tooLate(hop)
	}
	if err != nil {
		return nil, worded(fmt.Errorf("through jump host %s: %w", last.hop, last.notOpened("tcp", hop.Address, err)))
	}
	return conn, nil
}

func tooLate(hop Hop) error {
	return unavailable(fmt.Sprintf("no answer of the ssh server within %s: check the address and the firewall",
		dialTimeout), context.DeadlineExceeded)
}

func notReached(ctx context.Context, hop Hop, err error) error {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return unavailable(fmt.Sprintf("the name %s is not known: check the address", dns.Name), err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return unavailable("no ssh server listens there: is it running, and is that its port?", err)
	case ctx.Err() != nil, errors.Is(err, os.ErrDeadlineExceeded):
		return tooLate(hop)
	}
	return unavailable(Innermost(err).Error(), err)
}

// notLoggedIn understands why a handshake failed.
func notLoggedIn(hop Hop, keys *keys, err error) error {
	if e, ok := asError(err); ok { // of the host key
		return e
	}
	var (
		none  *ssh.AlgorithmNegotiationError
		text  = err.Error()
		reset = errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
	)
	switch {
	case strings.Contains(text, "unable to authenticate"), strings.Contains(text, "Too many authentication failures"):
		return keys.refused(hop, strings.Contains(text, "Too many"))
	case errors.As(err, &none):
		return unavailable("the ssh server is too old: "+strings.TrimPrefix(none.Error(), "ssh: "), err)
	case strings.Contains(text, "version string"), strings.Contains(text, "invalid packet"):
		return unavailable("what answers there is no ssh server: check the port", err)
	case reset:
		return unavailable("the connection was closed before the login: is that the port of an ssh server, and does it "+
			"take connections from here (MaxStartups, a firewall)?", err)
	}
	return unavailable("the login failed: "+Innermost(err).Error(), err)
}

// notOpened understands why a server does not connect to one of its sockets. OpenSSH gives the same reason for a
// socket that is not there, one that the user may not use, and forwarding that is turned off.
func (c *client) notOpened(network, address string, err error) error {
	var open *ssh.OpenChannelError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case !errors.As(err, &open):
		return unavailable("the ssh connection is gone", err)
	case network == "tcp" && open.Reason == ssh.Prohibited:
		return unauthorized(fmt.Sprintf("the ssh server does not forward to %s (%s): allow it with AllowTcpForwarding in "+
			"its sshd_config", address, open.Message), "")
	case network == "tcp":
		return unavailable(fmt.Sprintf("the ssh server cannot connect to %s (%s)", address, open.Message), err)
	}
	return unauthorized(fmt.Sprintf("the ssh server does not open %s: is the engine running there, may user %s use its "+
		"socket (group docker), and does sshd_config allow it (AllowStreamLocalForwarding)?", address, c.hop.User),
		fmt.Sprintf("on that host: ls -l %s; id %s; sudo sshd -T | grep -i -e streamlocal -e disableforwarding",
			address, c.hop.User))
}

// Innermost is the cause, without the layers that repeat the address.
func Innermost(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}
