package auth

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// TestClientAddressTrustsOnlyProxies: X-Forwarded-For counts only as far as trusted proxies have written it.
func TestClientAddressTrustsOnlyProxies(t *testing.T) {
	w := start(t, "DOGWATCH_SERVER_TRUSTEDPROXIES=10.0.0.0/8,fd00::/8,192.0.2.7")
	for _, test := range []struct{ peerAddress, forwarded, want string }{
		{"198.51.100.9:1", "", "198.51.100.9"},
		{"198.51.100.9:1", "203.0.113.5", "198.51.100.9"},
		{"10.1.2.3:1", "203.0.113.5", "203.0.113.5"},
		{"[::ffff:10.1.2.3]:1", "203.0.113.5", "203.0.113.5"},
		{"192.0.2.7:1", "203.0.113.5", "203.0.113.5"},
		{"192.0.2.8:1", "203.0.113.5", "192.0.2.8"},
		// what the client made up is left of what proxies saw
		{"10.1.2.3:1", "1.1.1.1, 203.0.113.5, 10.9.9.9", "203.0.113.5"},
		{"10.1.2.3:1", "10.5.5.5, 10.6.6.6", "10.5.5.5"},
		{"10.1.2.3:1", "nonsense", "10.1.2.3"},
		{"10.1.2.3:1", "203.0.113.5, nonsense", "10.1.2.3"},
		{"10.1.2.3:1", "", "10.1.2.3"},
		{"[fd00::1]:1", "2001:db8::5", "2001:db8::5"},
		{"@", "203.0.113.5", ""},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = test.peerAddress
		if test.forwarded != "" {
			r.Header.Set("X-Forwarded-For", test.forwarded)
		}
		same(t, test.peerAddress+" for "+test.forwarded, w.auth.Address(r), test.want)
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "[2001:db8:1:2:3:4:5:6]:1"
	same(t, "the network of an IPv6 address", w.auth.rateKey(r), "2001:db8:1:2::/64")
}

func TestPublicURL(t *testing.T) {
	for _, test := range []struct {
		settings    []string
		peerAddress string
		want        string
	}{
		{nil, "192.0.2.1:1", "http://nas:3000"},
		{[]string{"DOGWATCH_SERVER_BASEPATH=/dog"}, "192.0.2.1:1", "http://nas:3000/dog"},
		{[]string{"DOGWATCH_SERVER_TRUSTEDPROXIES=192.0.2.1"}, "192.0.2.1:1", "https://dog.example.org"},
		{[]string{"DOGWATCH_SERVER_TRUSTEDPROXIES=192.0.2.1"}, "192.0.2.2:1", "http://nas:3000"},
		{[]string{"DOGWATCH_PUBLIC_URL=https://watch.example.org/x/"}, "192.0.2.1:1", "https://watch.example.org/x"},
	} {
		w := start(t, test.settings...)
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr, r.Host = test.peerAddress, "nas:3000"
		r.Header.Set("X-Forwarded-Proto", "https")
		r.Header.Set("X-Forwarded-Host", "dog.example.org, evil.example.com")
		same(t, strings.Join(test.settings, " ")+" "+test.peerAddress, w.auth.publicURL(r), test.want)
	}
}
