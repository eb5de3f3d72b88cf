package httpclient

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// reach is how far away an address is.
type reach int

const (
	public    reach = iota
	private         // of this machine or of the networks it is in
	forbidden       // no server is there that an operator could mean
)

// reserved are the addresses that netip calls neither private nor anything else and that are not of
// the public Internet: those of carriers and of overlay networks such as Tailscale (RFC 6598), of this
// network (RFC 1122), of protocols and benchmarks (RFC 6890, 2544), of documentation (RFC 5737, 3849),
// without a use (RFC 1112), the former site-local ones (RFC 3879), and mappings of IPv4 addresses,
// among which may be private ones (RFC 8215, 3056, 4380, 4291).
var reserved = prefixes("100.64.0.0/10", "0.0.0.0/8", "192.0.0.0/24", "198.18.0.0/15", "192.0.2.0/24",
	"198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4", "64:ff9b:1::/48", "2002::/16", "2001::/32", "2001:db8::/32", "fec0::/10", "::/96")

// nat64 maps IPv4 addresses into IPv6 (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// metadata are services that give the secrets of a machine to its processes, at
// addresses that are not link-local: those of Amazon EC2
// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html)
// and of Google Compute Engine over IPv6.
var metadata = []netip.Addr{netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254")}

// reachOf classifies an address, and says what is wrong with a forbidden one.
func reachOf(a netip.Addr) (r reach, what string) {
	if a = a.Unmap().WithZone(""); nat64.Contains(a) {
		bytes := a.As16()
		a = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	switch {
	case a.IsUnspecified():
		return forbidden, "the unspecified address, with which some DNS servers block a name"
	case a.IsMulticast():
		return forbidden, "a multicast address"
	case a.IsLinkLocalUnicast():
		return forbidden, "a link-local address, where clouds keep the secrets of a machine"
	case a == metadata[0], a == metadata[1]:
		return forbidden, "the address of a cloud's metadata service"
	case a.IsLoopback(), a.IsPrivate(), !a.IsGlobalUnicast(),
		slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) }):
		return private, ""
	}
	return public, ""
}

// PublicAddress reports whether an address is one of the public Internet: not of this machine, of
// a private network, or reserved.
func PublicAddress(a netip.Addr) bool {
	r, _ := reachOf(a)
	return r == public
}

// addressError is a refusal to connect to an address.
type addressError struct {
	address netip.Addr
	what    string // "" when it is private and had to be public
}

func (e *addressError) Error() string {
	if e.what == "" {
		return fmt.Sprintf("a server at a public address sends us to the private address %s, which is refused", e.address)
	}
	return fmt.Sprintf("%s is %s: refused", e.address, e.what)
}

func (e *addressError) Unwrap() error { return sdk.ErrUnavailable }

// network is how addresses are found and classified.
type network struct {
	// resolver is that of the system when it is nil.
	resolver *net.Resolver
	reach    func(netip.Addr) (reach, string)
}

// check refuses an address that is further in than most.
func (n network) check(a netip.Addr, most reach) error {
	if r, what := n.reach(a); r > most {
		return &addressError{a, what}
	}
	return nil
}

// dial returns what connects to addresses up to most. A name may stand for any
// address, and for another one each time, so it is the address that is checked.
func (n network) dial(most reach) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Resolver: n.resolver}
	d.Control = func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("dial %s: %w", address, err)
		}
		return n.check(to.Addr(), most)
	}
	return d.DialContext
}

// routes sends each request on the way that is open to it. Each way has
// connections of its own, since addresses are checked when they are dialled. It
// is safe for concurrent use.
type routes struct {
	network
	proxy func(*http.Request) (*url.URL, error)
	// proxied leads to the proxy, wherever the operator has put it; direct to any
	// address that is not forbidden; outward to public addresses only.
	proxied, direct, outward *http.Transport
}

func newRoutes(n network, base *http.Transport) *routes {
	r := &routes{network: n, proxy: base.Proxy, proxied: base}
	base.DialContext = n.dial(forbidden)
	way := func(most reach) *http.Transport {
		t := base.Clone()
		t.Proxy, t.DialContext = nil, n.dial(most)
		return t
	}
	r.direct, r.outward = way(private), way(public)
	return r
}

// RoundTrip implements http.RoundTripper for requests whose context has a redirect chain.
func (r *routes) RoundTrip(req *http.Request) (*http.Response, error) {
	sdk.Requested(req.Context(), req.URL.Host, 1)
	// Neither connecting nor waiting for a connection is the host's time.
	var began, latency atomic.Int64
	start := time.Now()
	resp, err := r.send(req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		WroteRequest:         func(httptrace.WroteRequestInfo) { began.Store(int64(time.Since(start))) },
		GotFirstResponseByte: func() { latency.Store(int64(time.Since(start)) - began.Load()) },
	})))
	if err == nil {
		sdk.Answered(req.Context(), sdk.Load{
			Latency:   time.Duration(latency.Load()),
			Throttled: resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable,
		})
	}
	return resp, err
}

// send sends a request on its way.
func (r *routes) send(req *http.Request) (*http.Response, error) {
	j := req.Context().Value(redirectChainKey{}).(*redirectChain)
	// A name that was public may stand for another address by now, so its own redirects are no exception.
	outward := j.outward || j.public.Load()
	via, err := r.proxy(req)
	switch {
	case err != nil:
		return nil, err
	case via != nil:
		// The proxy looks names up, in a network that may not be ours.
		if err := r.checkHost(req.URL.Hostname(), outward); err != nil {
			return nil, err
		}
		resp, err := r.proxied.RoundTrip(req)
		j.arrive(r.hostReach(req.URL.Hostname()))
		return resp, err
	case outward:
		j.arrive(public)
		return r.outward.RoundTrip(req)
	}
	return r.direct.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if to, ok := info.Conn.RemoteAddr().(*net.TCPAddr); ok {
				arrived, _ := r.reach(to.AddrPort().Addr())
				j.arrive(arrived)
			}
		},
	})))
}

// CloseIdleConnections is what http.Client looks for.
func (r *routes) CloseIdleConnections() {
	for _, t := range []*http.Transport{r.proxied, r.direct, r.outward} {
		t.CloseIdleConnections()
	}
}

// checkHost refuses a host whose text is enough to do so.
func (r *routes) checkHost(host string, outward bool) error {
	most := private
	if outward {
		most = public
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "localhost" { // RFC 6761, section 6.3
		host = "127.0.0.1"
	}
	a, err := netip.ParseAddr(host)
	if err == nil {
		return r.check(a, most)
	}
	// No domain ends in a number, but some programs take 127.1 and 0x7f000001 for addresses (RFC 6943, section 3.1.1).
	if _, err := strconv.ParseUint(last, 0, 64); err == nil {
		return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("%.40s is neither a name nor a complete address: refused", host))
	}
	return nil
}

// hostReach is the reach of a host behind a proxy: a name counts as public, which is what proxies are for.
func (r *routes) hostReach(host string) reach {
	a, err := netip.ParseAddr(host)
	if err != nil {
		return public
	}
	to, _ := r.reach(a)
	return to
}

// redirectChain is what one call of Do and its redirects have in common.
type redirectChain struct {
	// outward means that it must not lead to a private address at all.
	outward bool
	// public means that a server at a public address was requested: its next
	// redirect is not trusted.
	public atomic.Bool
}

type (
	redirectChainKey struct{}
	outwardKey       struct{}
)

func (c *redirectChain) arrive(r reach) {
	if r == public {
		c.public.Store(true)
	}
}

// start returns the context of a new redirect chain.
func start(ctx context.Context) context.Context {
	return context.WithValue(ctx, redirectChainKey{}, &redirectChain{outward: ctx.Value(outwardKey{}) != nil})
}

// Outward returns a context whose requests go to public addresses only: for an
// address that a server at a public address has named (see FromPublic), and
// that may be meant to reach what only we can. A request to another address is
// refused with sdk.ErrUnavailable before anything is sent. Names that a proxy
// looks up are not checked.
func Outward(ctx context.Context) context.Context {
	return context.WithValue(ctx, outwardKey{}, true)
}

// FromPublic reports whether a response of Do, or one of the redirects that led to
// it, came from a public address, which is any that is not of this machine or
// of a private network.
func FromPublic(resp *http.Response) bool {
	if resp.Request == nil {
		return false
	}
	j, ok := resp.Request.Context().Value(redirectChainKey{}).(*redirectChain)
	return ok && j.public.Load()
}
