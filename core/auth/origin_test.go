package auth

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestAddress: what a peer says of whom it speaks for counts only if it is a trusted proxy.
func TestAddress(t *testing.T) {
	w := start(t, "DOGWATCH_SERVER_TRUSTEDPROXIES=10.0.0.0/8,fd00::/8,192.0.2.7")
	for _, test := range []struct{ peer, forwarded, want string }{
		{"198.51.100.9:1", "", "198.51.100.9"},
		{"198.51.100.9:1", "203.0.113.5", "198.51.100.9"},
		{"10.1.2.3:1", "203.0.113.5", "203.0.113.5"},
		{"[::ffff:10.1.2.3]:1", "203.0.113.5", "203.0.113.5"},
		{"192.0.2.7:1", "203.0.113.5", "203.0.113.5"},
		{"192.0.2.8:1", "203.0.113.5", "192.0.2.8"},
		{"10.1.2.3:1", "1.1.1.1, 203.0.113.5, 10.9.9.9", "203.0.113.5"}, // what the client made up is left of what proxies saw
		{"10.1.2.3:1", "10.5.5.5, 10.6.6.6", "10.5.5.5"},
		{"10.1.2.3:1", "nonsense", "10.1.2.3"},
		{"10.1.2.3:1", "203.0.113.5, nonsense", "10.1.2.3"},
		{"10.1.2.3:1", "", "10.1.2.3"},
		{"[fd00::1]:1", "2001:db8::5", "2001:db8::5"},
		{"@", "203.0.113.5", ""},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = test.peer
		if test.forwarded != "" {
			r.Header.Set("X-Forwarded-For", test.forwarded)
		}
		same(t, test.peer+" for "+test.forwarded, w.auth.Address(r), test.want)
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "[2001:db8:1:2:3:4:5:6]:1"
	same(t, "the network of an IPv6 address", w.auth.bucket(r), "2001:db8:1:2::/64")
}

func TestPublicAddress(t *testing.T) {
	for _, test := range []struct {
		settings []string
		peer     string
		want     string
	}{
		{nil, "192.0.2.1:1", "http://nas:3000"},
		{[]string{"DOGWATCH_SERVER_BASEPATH=/dog"}, "192.0.2.1:1", "http://nas:3000/dog"},
		{[]string{"DOGWATCH_SERVER_TRUSTEDPROXIES=192.0.2.1"}, "192.0.2.1:1", "https://dog.example.org"},
		{[]string{"DOGWATCH_SERVER_TRUSTEDPROXIES=192.0.2.1"}, "192.0.2.2:1", "http://nas:3000"},
		{[]string{"DOGWATCH_PUBLIC_URL=https://watch.example.org/x/"}, "192.0.2.1:1", "https://watch.example.org/x"},
	} {
		w := start(t, test.settings...)
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr, r.Host = test.peer, "nas:3000"
		r.Header.Set("X-Forwarded-Proto", "https")
		r.Header.Set("X-Forwarded-Host", "dog.example.org, evil.example.com")
		same(t, strings.Join(test.settings, " ")+" "+test.peer, w.auth.public(r), test.want)
	}
}

func TestLocalPath(t *testing.T) {
	for next, want := range map[string]string{
		"/": "/", "/containers?q=a&b=%2F": "/containers?q=a&b=%2F", "/a//b": "/a//b", "/x#y": "/x#y",
		"": "", "containers": "", "//evil.com": "", "///evil.com": "", "/\\evil.com": "", "\\\\evil.com": "", "https://evil.com/": "", "javascript:alert(1)": "",
		"/\t/evil.com": "", "/\n/evil.com": "", "http:/x": "", "/%": "", " /x": "", "//user@evil.com": "", "/\x00": "",
	} {
		if got := LocalPath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

func FuzzLocalPath(f *testing.F) {
	for _, seed := range []string{"/x", "//evil.com", "/\\evil.com", "/\t/evil.com", "/%2f/evil.com", "/;//x", "/?//x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, next string) {
		got := LocalPath(next)
		if got == "" {
			return
		}
		base, _ := url.Parse("https://dog.example.org/login")
		to, err := base.Parse(got)
		if err != nil || to.Host != "dog.example.org" || to.Scheme != "https" {
			t.Errorf("%q leads to %v, %v", next, to, err)
		}
	})
}
