package oci

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/dogwatch/dogwatch/sdk"
)

// A registry names the token service itself, so it could name any address. The
// rules for what it may name:
//
//   - never a link-local address, where clouds serve secrets of the machine;
//   - https, or http when the registry itself is asked over http;
//   - credentials go to the registry's own host name on any port, to hosts of
//     the same registrable domain, and to the hosts listed in Config.TokenHosts;
//   - without credentials, any host: the request then holds nothing but names.

// checkTarget applies the first two rules to wherever a registry sends us.
func checkTarget(from, to *url.URL) error {
	switch {
	case to.Scheme != "https" && to.Scheme != "http" || to.Host == "" || to.User != nil:
		return lie("names a malformed address")
	case isLinkLocal(to.Hostname()):
		return lie("sends us to the link-local address %s", to.Hostname())
	case to.Scheme == "http" && from.Scheme == "https":
		return lie("sends us to the unencrypted address http://%s", to.Host)
	}
	return nil
}

// realm returns the address of the token service that c names.
func (c challenge) realmURL(registry *url.URL) (*url.URL, error) {
	realm, err := url.Parse(c.realm)
	if err != nil {
		return nil, lie("names a malformed token service")
	}
	if err := checkTarget(registry, realm); err != nil {
		return nil, err
	}
	return realm, nil
}

// trusts applies the third rule.
func (r *Registry) trusts(registry, other *url.URL) bool {
	a, b := strings.ToLower(registry.Hostname()), strings.ToLower(other.Hostname())
	if a == b || slices.Contains(r.TokenHosts, b) || slices.Contains(r.TokenHosts, strings.ToLower(other.Host)) {
		return true
	}
	if isAddress(a) || isAddress(b) {
		return false
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(a)
	return err == nil && (b == domain || strings.HasSuffix(b, "."+domain))
}

// untrusted explains why no credentials were sent.
func (r *Registry) untrusted(realm *url.URL) error {
	text := fmt.Sprintf("the credentials were not sent to %s, which is not of the registry's own domain", realm.Host)
	if r.TokenHostsKey != "" {
		text += fmt.Sprintf("; if it is the right token service, add it to %s.%s", r.Instance, r.TokenHostsKey)
	}
	return sdk.WithKind(sdk.ErrUnauthorized, errors.New(text))
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

func isLinkLocal(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLinkLocalUnicast()
}

// isLoopback reports whether a host with optional port is this machine, which
// engines too ask without encryption.
func isLoopback(host string) bool {
	u := url.URL{Host: host}
	name := strings.ToLower(u.Hostname())
	a, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && a.IsLoopback()
}
