package notes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

const (
	// requestTimeout is how long a request may take, with its redirects and its body.
	requestTimeout = 15 * time.Second
	dialTimeout    = 5 * time.Second
	maxRedirects   = 3
)

// errInside: a repository is at an address inside the network.
var errInside = errors.New("its address is inside the network")

// newClient returns a client that connects where g lets it, unless a transport is given. The address is looked at when
// it is dialled, so that no name leads inside.
// No proxy is used, since where it connects to could not be seen.
func newClient(g *guard, transport *http.Transport) *http.Client {
	if transport == nil {
		transport = &http.Transport{
			DialContext:         g.dial,
			TLSHandshakeTimeout: dialTimeout, ForceAttemptHTTP2: true, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10,
		}
	}
	return &http.Client{Timeout: requestTimeout, Transport: transport, CheckRedirect: checkRedirect}
}

// checkRedirect follows a repository that was renamed, on the same host.
func checkRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case req.URL.Scheme != "https" || !strings.EqualFold(req.URL.Host, via[0].URL.Host):
		return fmt.Errorf("it redirects to another host, %s", req.URL.Host)
	case len(via) > maxRedirects:
		return errors.New("it redirects too often")
	}
	return nil
}

// guard dials public addresses, and any of allowed hosts.
type guard struct {
	allowed  map[string]bool
	resolver *net.Resolver // nil for that of the system
}

func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: dialTimeout, Resolver: g.resolver}
	if host, _, err := net.SplitHostPort(address); err != nil ||
		!g.allowed[strings.ToLower(host)] && !g.allowed[strings.ToLower(address)] {
		dialer.Control = refuseInside
	}
	return dialer.DialContext(ctx, network, address)
}

// refuseInside refuses to connect to an address that is not public.
func refuseInside(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || !httpclient.PublicAddress(target.Addr()) {
		return errInside
	}
	return nil
}
