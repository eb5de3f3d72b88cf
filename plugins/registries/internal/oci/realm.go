package oci

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// A registry names the token service itself, so it could name any address. The
// rules for what it may name:
//
//   - https, or http when the registry itself is requested over http;
//   - credentials go to the registry's own host name on any port, to hosts of
//     the same registrable domain, and to the hosts listed in Config.TokenHosts;
//   - without credentials, any host: the request then holds nothing but names;
//   - a registry at a public address names public ones only, unless the host is
//     listed in Config.TokenHosts: servers of private networks may be reachable
//     from here only. That counts for its own host name as well, which may stand
//     for another address by the time of the next request.
//
// Addresses where no registry can be, such as link-local ones, are refused by
// the HTTP client, which also checks redirects.

// realmURL returns the address of the token service that c names.
func (c challenge) realmURL(registry *url.URL) (*url.URL, error) {
	realm, err := url.Parse(c.realm)
	switch {
	case err != nil, realm.Scheme != "https" && realm.Scheme != "http", realm.Host == "", realm.User != nil:
		return nil, protocolError("names a malformed token service")
	case realm.Scheme == "http" && registry.Scheme == "https":
		return nil, protocolError("sends us to the unencrypted address http://%s", realm.Host)
	}
	return realm, nil
}

// reachable returns the context for a request to a host that a registry has
// named, from a public address or not.
func (r *Registry) reachable(ctx context.Context, other *url.URL, public bool) context.Context {
	if !public || r.listed(other) {
		return ctx
	}
	return httpclient.Outward(ctx)
}

// listed reports whether a host is in Config.TokenHosts, with or without its port.
func (r *Registry) listed(u *url.URL) bool {
	return slices.Contains(r.TokenHosts, strings.ToLower(u.Hostname())) ||
		slices.Contains(r.TokenHosts, strings.ToLower(u.Host))
}

// trusts reports whether other may have the credentials for registry.
func (r *Registry) trusts(registry, other *url.URL) bool {
	a, b := strings.ToLower(registry.Hostname()), strings.ToLower(other.Hostname())
	if a == b || r.listed(other) {
		return true
	}
	if isAddress(a) || isAddress(b) {
		return false
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(a)
	return err == nil && (b == domain || strings.HasSuffix(b, "."+domain))
}

// untrustedRealm is the error that no credentials were sent to a token service.
func (r *Registry) untrustedRealm(realm *url.URL) error {
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
