package auth

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// peerAddress returns the address that a request's connection comes from.
func peerAddress(r *http.Request) netip.Addr {
	p, _ := netip.ParseAddrPort(r.RemoteAddr)
	return p.Addr().Unmap().WithZone("")
}

func (a *Auth) trustedProxy(address netip.Addr) bool {
	return slices.ContainsFunc(a.proxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

// clientAddress returns the address of the client of a request. X-Forwarded-For
// counts as far as trusted proxies (server.trustedproxies) have written it.
func (a *Auth) clientAddress(r *http.Request) netip.Addr {
	client := peerAddress(r)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !a.trustedProxy(client) {
			break
		}
		before, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		client = before.Unmap().WithZone("")
	}
	return client
}

// Address returns the address of the client of a request; "" when it is unknown.
func (a *Auth) Address(r *http.Request) string {
	if client := a.clientAddress(r); client.IsValid() {
		return client.String()
	}
	return ""
}

// rateKey is the key of a client's rate limit: its address, or the /64 network of
// an IPv6 address, as a client has a whole one.
func (a *Auth) rateKey(r *http.Request) string {
	client := a.clientAddress(r)
	if client.Is6() {
		network, _ := client.Prefix(64) // not longer than an address
		return network.String()
	}
	return client.String()
}

// forwarded returns a header in which a trusted proxy describes the request that it got.
func (a *Auth) forwarded(r *http.Request, header string) string {
	if !a.trustedProxy(peerAddress(r)) {
		return ""
	}
	first, _, _ := strings.Cut(r.Header.Get(header), ",")
	return strings.TrimSpace(first)
}

// usesTLS reports whether the browser uses TLS, to this server or to a proxy.
func (a *Auth) usesTLS(r *http.Request) bool {
	if r.TLS != nil || strings.EqualFold(a.forwarded(r, "X-Forwarded-Proto"), "https") {
		return true
	}
	return a.atPublic(r) && a.opt.Config.PublicURL.Scheme == "https" && !a.onPlainHTTP(r)
}

func (a *Auth) requestHost(r *http.Request) string {
	if host := a.forwarded(r, "X-Forwarded-Host"); host != "" {
		return host
	}
	return r.Host
}

// publicURL returns the address of the server as the browser knows it, without a
// slash at its end: public.url, or else what the request says.
func (a *Auth) publicURL(r *http.Request) string {
	if u := a.opt.Config.PublicURL; u != nil {
		return strings.TrimRight((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), "/")
	}
	scheme := "http"
	if a.usesTLS(r) {
		scheme = "https"
	}
	return strings.TrimRight((&url.URL{
		Scheme: scheme, Host: a.requestHost(r), Path: a.opt.Config.Server.BasePath,
	}).String(), "/")
}
