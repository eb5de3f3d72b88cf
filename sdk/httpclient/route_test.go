package httpclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dogwatch/dogwatch/internal/dnstest"
	"github.com/dogwatch/dogwatch/sdk"
)

// publicAddress is where tests serve what they take for a public server.
const publicAddress = "127.0.0.2"

// testNetwork is one in which publicAddress is public and names have the given addresses.
func testNetwork(t *testing.T, names map[string]string) network {
	t.Helper()
	return network{
		resolver: dnstest.Resolver(t, func(name string) string { return names[name] }),
		reach: func(a netip.Addr) (reach, string) {
			if a.Unmap().String() == publicAddress {
				return public, ""
			}
			return reachOf(a)
		},
	}
}

// serveAt is serve at another address than 127.0.0.1. It returns the server's address with its port.
func serveAt(t *testing.T, address string, h http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Skipf("this machine has no address %s: %v", address, err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return l.Addr().String()
}

func clientIn(t *testing.T, n network, o Options) *Client {
	t.Helper()
	c, err := newIn(n, sdk.Env{UserAgent: "dogwatch/test"}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestClientRefusesForbiddenAddresses(t *testing.T) {
	names := map[string]string{
		"metadata.test": "169.254.0.1", "metadata6.test": "fd00:ec2::254", "gcp6.test": "fd20:ce::254",
		"local6.test":  "fe80::1",
		"blocked.test": "0.0.0.0", "blocked6.test": "::", "group.test": "239.1.2.3", "nat64.test": "64:ff9b::a9fe:1",
	}
	tests := []struct{ address, want string }{
		{"http://metadata.test", "link-local"},
		{"https://metadata.test", "link-local"},
		{"http://metadata6.test", "metadata service"},
		{"http://gcp6.test", "metadata service"},
		{"http://local6.test", "link-local"},
		{"http://nat64.test", "link-local"},
		{"http://blocked.test", "unspecified"},
		{"http://blocked6.test", "unspecified"},
		{"http://group.test", "multicast"},
		{"http://169.254.0.1", "link-local"},
		{"http://[::ffff:169.254.0.1]", "link-local"},
		{"http://[fe80::1%25lo]", "link-local"},
		{"http://0.0.0.0:80", "unspecified"},
	}
	c := clientIn(t, testNetwork(t, names), Options{})
	var to string
	redirector := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
	for _, test := range tests {
		to = test.address + "/latest/meta-data"
		for _, address := range []string{to, redirector.URL} {
			_, err := c.Do(request(t, "GET", address, ""))
			if err == nil || !strings.Contains(err.Error(), test.want) || !errors.Is(err, sdk.ErrUnavailable) {
				t.Errorf("%s (requesting %s): %v, want %q and ErrUnavailable", test.address, address, err, test.want)
			}
		}
	}
}

func TestRedirectFromPublicToPrivateIsRefused(t *testing.T) {
	var arrived atomic.Int32
	secret := func(w http.ResponseWriter, _ *http.Request) {
		arrived.Add(1)
		io.WriteString(w, "secret")
	}
	private := serve(t, secret)
	port := parseURL(t, private.URL).Port()
	other := serveAt(t, publicAddress, secret)
	var to string
	redirecting := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/end" {
			secret(w, r)
			return
		}
		http.Redirect(w, r, to, http.StatusFound)
	}
	public, lan := serveAt(t, publicAddress, redirecting), serve(t, redirecting).URL
	names := map[string]string{"evil.test": publicAddress, "inside.test": "127.0.0.1", "other.test": publicAddress}
	_, publicPort, _ := net.SplitHostPort(public)
	_, otherPort, _ := net.SplitHostPort(other)
	evil := "http://evil.test:" + publicPort
	tests := []struct {
		from, to string
		allowed  bool
	}{
		{evil, private.URL, false},
		{evil, "http://localhost:" + port, false},
		{evil, "http://inside.test:" + port, false},
		{evil, "http://evil.test:" + publicPort + "/end", true},
		{evil, "http://other.test:" + otherPort, true},
		{lan, private.URL, true},
		{lan, "http://inside.test:" + port, true},
		{lan, "http://other.test:" + otherPort, true},
	}
	n := testNetwork(t, names)
	// localhost comes from the hosts file of the machine.
	for _, warm := range []bool{false, true} {
		c := clientIn(t, n, Options{})
		if warm { // a connection that is open already must not be used instead
			for _, address := range []string{private.URL, "http://inside.test:" + port} {
				resp, err := c.Do(request(t, "GET", address, ""))
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}
		for _, test := range tests {
			to = test.to
			before := arrived.Load()
			resp, err := c.Do(request(t, "GET", test.from, ""))
			if err == nil {
				resp.Body.Close()
			}
			if reached := arrived.Load() > before; reached != test.allowed || test.allowed != (err == nil) {
				t.Errorf("%s to %s (warm %v): reached %v, %v", test.from, test.to, warm, reached, err)
			}
			if !test.allowed &&
				(!errors.Is(err, sdk.ErrUnavailable) || !strings.Contains(err.Error(), "private address 127.0.0.1")) {
				t.Errorf("%s to %s: error %v", test.from, test.to, err)
			}
		}
	}
}

// TestRedirectToItselfIsResolvedAgain: a public server whose name stands for an address inside by the
// time that its redirect is followed (DNS rebinding).
func TestRedirectToItselfIsResolvedAgain(t *testing.T) {
	var arrived atomic.Bool
	_, port, _ := net.SplitHostPort(parseURL(t,
		serve(t, func(http.ResponseWriter, *http.Request) { arrived.Store(true) }).URL).Host)
	names := map[string]string{"evil.test": publicAddress}
	n := testNetwork(t, nil)
	var mu sync.Mutex
	n.resolver = dnstest.Resolver(t, func(name string) string {
		mu.Lock()
		defer mu.Unlock()
		return names[name]
	})
	evil := serveAt(t, publicAddress, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		names["evil.test"] = "127.0.0.1"
		mu.Unlock()
		http.Redirect(w, r, "http://evil.test:"+port+"/", http.StatusFound)
	})
	_, evilPort, _ := net.SplitHostPort(evil)
	resp, err := clientIn(t, n, Options{}).Do(request(t, "GET", "http://evil.test:"+evilPort, ""))
	if err == nil {
		resp.Body.Close()
	}
	if err == nil || arrived.Load() || !strings.Contains(err.Error(), "private address 127.0.0.1") {
		t.Errorf("arrived %v, %v", arrived.Load(), err)
	}
}

func TestOutwardRefusesPrivateAddresses(t *testing.T) {
	hello := func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }
	inside, outside := serve(t, hello).URL, "http://"+serveAt(t, publicAddress, hello)
	c := clientIn(t, testNetwork(t, nil), Options{})
	for _, test := range []struct {
		address string
		outward bool
		want    bool
	}{{inside, false, true}, {inside, true, false}, {outside, false, true}, {outside, true, true}} {
		ctx := t.Context()
		if test.outward {
			ctx = Outward(ctx)
		}
		req, err := NewRequest(ctx, "GET", test.address)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if (err == nil) != test.want {
			t.Errorf("%s, outward %v: %v", test.address, test.outward, err)
		}
		if err != nil {
			continue
		}
		resp.Body.Close()
		if got := FromPublic(resp); got != (test.address == outside) {
			t.Errorf("FromPublic(%s) = %v", test.address, got)
		}
	}
}

func TestRedirectFromHTTPSToHTTPIsRefused(t *testing.T) {
	var arrived atomic.Bool
	plain := serve(t, func(http.ResponseWriter, *http.Request) { arrived.Store(true) })
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL+"/s3cret?s3cret", http.StatusFound)
	}))
	t.Cleanup(secure.Close)
	resp, err := newClient(t, Options{TLS: TLS{Insecure: true}}).Do(request(t, "GET", secure.URL, ""))
	if err == nil {
		resp.Body.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "unencrypted") || !errors.Is(err, sdk.ErrUnavailable) ||
		arrived.Load() {
		t.Fatalf("followed: %v, error %v", arrived.Load(), err)
	}
	checkNoSecret(t, err)
}

func TestRedirectWithCredentialsInItsURL(t *testing.T) {
	var arrived atomic.Bool
	target := serve(t, func(http.ResponseWriter, *http.Request) { arrived.Store(true) })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(target.URL, "http://", "http://user:s3cret@", 1), http.StatusFound)
	})
	resp, err := newClient(t, Options{}).Do(request(t, "GET", s.URL, ""))
	if err == nil {
		resp.Body.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "credentials of its own") || arrived.Load() {
		t.Fatalf("followed: %v, error %v", arrived.Load(), err)
	}
	checkNoSecret(t, err)
}

// A proxy may be anywhere, and looks names up itself; addresses are checked all the same.
func TestProxyChecksAddresses(t *testing.T) {
	var requested []string
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requested = append(requested, r.URL.String())
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	})
	tests := []struct{ address, want string }{
		{"http://registry.invalid/", ""},
		{"http://10.1.2.3/", ""},
		{"http://registry.invalid/?to=http://other.invalid/", ""},
		{"http://10.1.2.3/?to=http://10.1.2.4/", ""},
		{"http://169.254.0.1/", "link-local"},
		{"http://registry.invalid/?to=http://169.254.0.1/", "link-local"},
		{"http://registry.invalid/?to=http://10.1.2.3/", "private address 10.1.2.3"},
		{"http://registry.invalid/?to=http://localhost/", "private address 127.0.0.1"},
		{"http://registry.invalid/?to=http://LOCALHOST.:80/", "private address 127.0.0.1"},
		{"http://registry.invalid/?to=http://a.localhost/", "private address 127.0.0.1"},
		{"http://registry.invalid/?to=http://[::ffff:10.1.2.3]/", "private address ::ffff:10.1.2.3"},
		{"http://registry.invalid/?to=http://127.1/", "neither a name nor a complete address"},
		{"http://registry.invalid/?to=http://2130706433/", "neither a name nor a complete address"},
		{"http://registry.invalid/?to=http://0x7f.1/", "neither a name nor a complete address"},
		{"http://registry.invalid/?to=http://0177.0.0.1/", "neither a name nor a complete address"},
		{"http://registry.invalid/?to=http://registry.invalid/", ""},
	}
	c := newClient(t, Options{Proxy: parseURL(t, proxy.URL)})
	for _, test := range tests {
		requested = nil
		resp, err := c.Do(request(t, "GET", test.address, ""))
		if err == nil {
			resp.Body.Close()
		}
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.address, err, test.want)
		}
		u := parseURL(t, test.address)
		if to := u.Query().Get("to"); test.want != "" && fmt.Sprint(requested) != fmt.Sprint(wantRequested(u, to)) {
			t.Errorf("%s: the proxy got %q", test.address, requested)
		}
	}
}

// wantRequested is what a proxy sees when the last step is refused.
func wantRequested(u *url.URL, to string) []string {
	if to == "" {
		return nil
	}
	return []string{u.String()}
}

func TestReachOf(t *testing.T) {
	tests := map[string]reach{
		"1.1.1.1": public, "2606:4700::1": public, "::ffff:8.8.8.8": public, "64:ff9b::808:808": public,
		"198.18.0.7": private, "0.1.2.3": private, "255.255.255.255": private, "192.0.2.1": private, "240.0.0.1": private,
		"2002:7f00:1::": private, "::7f00:1": private, "64:ff9b:1::1": private, "fec0::1": private, "2001:0:1::1": private,
		"10.0.0.1": private, "172.17.0.1": private, "192.168.1.5": private, "100.100.1.2": private, "127.0.0.1": private,
		"::1": private, "fd12::1": private, "::ffff:192.168.1.5": private, "64:ff9b::c0a8:105": private,
		"169.254.169.254": forbidden, "fe80::1%eth0": forbidden, "fd00:ec2::254": forbidden, "0.0.0.0": forbidden,
		"::": forbidden, "ff02::1": forbidden, "224.0.0.1": forbidden,
	}
	for text, want := range tests {
		if got, what := reachOf(netip.MustParseAddr(text)); got != want || (what != "") != (want == forbidden) {
			t.Errorf("reachOf(%s) = %v, %q, want %v", text, got, what, want)
		}
	}
}

// Each way keeps the settings of TLS.
func TestEveryRouteUsesTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Proto)
	}))
	t.Cleanup(s.Close)
	n := network{reach: func(netip.Addr) (reach, string) { return public, "" }}
	c := clientIn(t, n, Options{TLS: TLS{Insecure: true}})
	for _, ctx := range []context.Context{t.Context(), Outward(t.Context())} {
		req, err := NewRequest(ctx, "GET", s.URL)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.TLS == nil || resp.TLS.Version < tls.VersionTLS12 {
			t.Errorf("TLS %+v", resp.TLS)
		}
	}
}
