package notes

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/dnstest"
)

// nameServer returns a resolver that has an address for any name.
func nameServer(t *testing.T, address string) *net.Resolver {
	return dnstest.Resolver(t, func(string) string { return address })
}

// TestGuardChecksResolvedAddress: a public name that resolves to an address inside the network
// when it is dialled is refused, whatever it resolved to before.
func TestGuardChecksResolvedAddress(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a request came inside")
	}))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for _, address := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1",
		"::ffff:10.0.0.1", "64:ff9b::7f00:1", "fd00::1"} {
		host := "gitea.rebind.example:" + port
		b := newBench(t, nil, func(o *Options) { o.Transport, o.Resolver = nil, nameServer(t, address) })
		if n := b.Of(t.Context(), updating("https://"+host+"/a/b", "1.0", "2.0")); !strings.Contains(n.Reason,
			"inside the network") {
			t.Errorf("%s: %q", address, n.Reason)
		}
	}
}

// TestGuardAllowsListedHost: the name that the operator lists may be inside.
func TestGuardAllowsListedHost(t *testing.T) {
	requests := 0
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		list(w, "v2.0", "v1.0")
	}))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	host := "git.inside.example:" + port
	transport := &http.Transport{
		DialContext:     (&guard{allowed: map[string]bool{host: true}, resolver: nameServer(t, "127.0.0.1")}).dial,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}
	b := newBench(t, nil, func(o *Options) {
		o.Forges, o.Transport = map[string]Forge{host: Gitea}, transport
	})
	if n := b.Of(t.Context(), updating("https://"+host+"/a/b", "1.0", "2.0")); versions(n) != "v2.0" || requests != 1 {
		t.Errorf("%q, reason %q", versions(n), n.Reason)
	}
}

// TestGuardRefusesRedirectsInside: a host cannot send the reader into the network.
func TestGuardRefusesRedirectsInside(t *testing.T) {
	for _, to := range []string{"https://127.0.0.1/x", "https://[::ffff:10.0.0.1]/x",
		"https://169.254.169.254/latest/meta-data", "http://gitlab.com/x", "https://gitlab.com:8443/x", "//10.0.0.1/x"} {
		b := hosts(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
		n := b.Of(t.Context(), updating("https://gitlab.com/a/b", "1.0", "2.0"))
		if !strings.Contains(n.Reason, "it redirects to another host") || len(b.requests) != 1 {
			t.Errorf("%s: %d requests, reason %q", to, len(b.requests), n.Reason)
		}
	}
}
