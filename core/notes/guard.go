package notes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// requestTimeout is how long a request may take, with its redirects and its body.
	requestTimeout = 15 * time.Second
	dialTimeout    = 5 * time.Second
	maxRedirects   = 3
)

// errInside: a repository is at an address inside the network.
var errInside = errors.New("its address is inside the network")

// shared are the addresses that netip calls public although they are not: carrier-grade
// NAT (RFC 6598), this network (RFC 1122), benchmarks (RFC 2544), documentation
// (RFC 5737, 3849), reserved (RFC 1112), and translations of IPv4 addresses, among which
// may be private ones (RFC 6052, 8215, 3056, 4380).
var shared = prefixes("100.64.0.0/10", "0.0.0.0/8", "192.0.0.0/24", "198.18.0.0/15", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "2001:db8::/32", "fec0::/10", "::/96")

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// isPublic reports whether an address is one of the public Internet.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(shared, func(p netip.Prefix) bool { return p.Contains(a) })
}

// newClient returns a client that connects where g lets it, unless a transport is given. The address is looked at when it is dialled, so that no name leads inside.
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
	if host, _, err := net.SplitHostPort(address); err != nil || !g.allowed[strings.ToLower(host)] && !g.allowed[strings.ToLower(address)] {
		dialer.Control = refuseInside
	}
	return dialer.DialContext(ctx, network, address)
}

// refuseInside refuses to connect to an address that is not public.
func refuseInside(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !isPublic(at.Addr()) {
		return errInside
	}
	return nil
}
