package auth

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// peer returns the address that a request's connection comes from.
func peer(r *http.Request) netip.Addr {
	p, _ := netip.ParseAddrPort(r.RemoteAddr)
	return p.Addr().Unmap().WithZone("")
}

func (a *Auth) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(a.proxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

// client returns the address of whoever sent a request: of the proxies in
// between, those that are trusted (server.trustedproxies) are believed.
func (a *Auth) client(r *http.Request) netip.Addr {
	at := peer(r)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !a.trusts(at) {
			break
		}
		before, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		at = before.Unmap().WithZone("")
	}
	return at
}

// Address returns the address of whoever sent a request, for people to read.
func (a *Auth) Address(r *http.Request) string {
	if at := a.client(r); at.IsValid() {
		return at.String()
	}
	return ""
}

// bucket is whom guesses are counted for: an address, or the network of an
// IPv6 address, of which everybody has more than can be counted.
func (a *Auth) bucket(r *http.Request) string {
	at := a.client(r)
	if at.Is6() {
		network, _ := at.Prefix(64) // not longer than an address
		return network.String()
	}
	return at.String()
}

// forwarded returns a header by which a trusted proxy tells of the request that it got.
func (a *Auth) forwarded(r *http.Request, header string) string {
	if !a.trusts(peer(r)) {
		return ""
	}
	first, _, _ := strings.Cut(r.Header.Get(header), ",")
	return strings.TrimSpace(first)
}

// secure reports whether the browser speaks TLS, to us or to a proxy.
func (a *Auth) secure(r *http.Request) bool {
	if r.TLS != nil || strings.EqualFold(a.forwarded(r, "X-Forwarded-Proto"), "https") {
		return true
	}
	return a.atPublic(r) && a.opt.Config.PublicURL.Scheme == "https" && !a.onPlainHTTP(r)
}

func (a *Auth) host(r *http.Request) string {
	if host := a.forwarded(r, "X-Forwarded-Host"); host != "" {
		return host
	}
	return r.Host
}

// public returns the address of the server as the browser knows it, without a
// slash at its end: public.url, or else what the request says.
func (a *Auth) public(r *http.Request) string {
	if u := a.opt.Config.PublicURL; u != nil {
		return strings.TrimRight((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), "/")
	}
	scheme := "http"
	if a.secure(r) {
		scheme = "https"
	}
	return strings.TrimRight((&url.URL{Scheme: scheme, Host: a.host(r), Path: a.opt.Config.Server.BasePath}).String(), "/")
}

// LocalPath returns where to go after a login: next, if that is a path on this
// server, and "" otherwise, so that no link leads from our login page to somebody else's.
func LocalPath(next string) string {
	u, err := url.Parse(next)
	switch {
	case err != nil, u.Scheme != "", u.Host != "", u.User != nil, u.Opaque != "",
		!strings.HasPrefix(next, "/"), strings.HasPrefix(next, "//"),
		strings.ContainsFunc(next, func(c rune) bool { return c < ' ' || c == '\\' || c == 0x7f }): // browsers read \ as /, and skip what cannot be seen
		return ""
	}
	return next
}
