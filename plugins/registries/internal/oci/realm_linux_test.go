package oci

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/dogwatch/dogwatch/internal/dnstest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// ownNetwork is set in the process that has a network of its own.
const ownNetwork = "DOGWATCH_TEST_OWN_NETWORK"

// The addresses of that network, all of which are this machine.
const (
	outside = "93.184.216.34"
	other   = "151.101.1.69"
)

var inside = []string{"127.0.0.1", "10.99.0.1", "172.16.9.9", "192.168.9.9", "100.64.9.9", "[fd99::1]", "[::1]",
	"[::ffff:10.99.0.1]"}

// inOwnNetwork runs the test again in a network namespace with these addresses, where it returns true.
func inOwnNetwork(t *testing.T) bool {
	if os.Getenv(ownNetwork) != "" {
		for _, command := range []string{"link set lo up", "addr add 93.184.216.34/32 dev lo",
			"addr add 151.101.1.69/32 dev lo", "addr add 10.99.0.1/32 dev lo",
			"addr add 172.16.9.9/32 dev lo", "addr add 192.168.9.9/32 dev lo", "addr add 100.64.9.9/32 dev lo",
			"addr add fd99::1/128 dev lo nodad"} {
			if out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
				t.Fatalf("ip %s: %v: %s", command, err, out)
			}
		}
		return true
	}
	if _, err := exec.LookPath("ip"); err != nil {
		plugintest.Skip(t, "netns", err)
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), ownNetwork+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := again.CombinedOutput()
	switch {
	case strings.Contains(string(out), "=== RUN"):
	case err != nil:
		plugintest.Skip(t, "netns", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v:\n%s", err, out)
	}
	return false
}

// town is a registry and a token service at every address, and names for them.
type town struct {
	mu     sync.Mutex
	names  map[string]string
	realm  string
	moved  map[string]string // names that are moved with the challenge (DNS rebinding)
	to     string            // where the token service redirects
	tokens []string          // the addresses at which a token was requested, with how
}

func (w *town) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case r.URL.Path == "/redirect":
		http.Redirect(rw, r, w.to, http.StatusFound)
	case r.URL.Path == "/token":
		at, _, _ := net.SplitHostPort(r.Context().Value(http.LocalAddrContextKey).(net.Addr).String())
		if _, _, login := r.BasicAuth(); login {
			at += " with the login"
		}
		w.tokens = append(w.tokens, at)
		_, _ = fmt.Fprint(rw, `{"token":"t"}`)
	case r.Header.Get("Authorization") != "Bearer t":
		for name, address := range w.moved {
			w.names[name] = address
		}
		rw.Header().Set("WWW-Authenticate", `Bearer realm="`+w.realm+`",service="s"`)
		rw.WriteHeader(http.StatusUnauthorized)
	default:
		_, _ = fmt.Fprint(rw, `{"name":"team/app","tags":["1.0"]}`)
	}
}

// TestRealmInsideTheNetwork: a registry outside does not have us make requests inside, by whatever
// address, name or redirect, and one inside may have its token service inside or outside.
func TestRealmInsideTheNetwork(t *testing.T) {
	if !inOwnNetwork(t) {
		return
	}
	w := &town{}
	resolver := dnstest.Resolver(t, func(name string) string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.names[name]
	})
	net.DefaultResolver = resolver // of this process, which ends with the test
	listener, err := net.Listen("tcp", ":5000")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: w}
	go server.Serve(listener)
	defer server.Close()

	type test struct {
		registry, realm, to string
		moved               map[string]string
		hosts               []string
		login               bool
		want                string // where the token was requested; "" for refused
	}
	tests := []test{
		{registry: outside, realm: other, want: other},
		{registry: outside, realm: outside, want: outside},
		{registry: "registry.test", realm: "tokens.test", want: other},
		{registry: "registry.test", realm: "inside.test"},
		{registry: "registry.test", realm: "inside.test", hosts: []string{"inside.test"}, want: "10.99.0.1"},
		{registry: "registry.test", realm: "registry.test", want: outside},
		{registry: "registry.test", realm: "registry.test", login: true, want: outside + " with the login"},
		{registry: "registry.test", realm: "registry.test", moved: map[string]string{"registry.test": "10.99.0.1"}},
		{
			registry: "registry.test", realm: "registry.test", moved: map[string]string{"registry.test": "127.0.0.1"},
			login: true,
		},
		{registry: "registry.test", realm: "tokens.test", moved: map[string]string{"tokens.test": "fd99::1"}},
		{registry: outside, realm: "localhost"},
		{registry: outside, realm: "127.1"},
		{registry: outside, realm: "0.0.0.0"},
		{registry: outside, realm: "169.254.169.254"},
		{registry: outside, realm: other, to: "10.99.0.1"},
		{registry: outside, realm: other, to: "inside.test"},
		{registry: outside, realm: other, to: outside, want: outside},
		{registry: "10.99.0.1", realm: outside, want: outside},
		{registry: "10.99.0.1", realm: outside, to: "127.0.0.1"},
		{registry: "inside.test", realm: "192.168.9.9", want: "192.168.9.9"},
		{registry: "inside.test", realm: "192.168.9.9", to: "172.16.9.9", want: "172.16.9.9"},
		{registry: "10.99.0.1", realm: "[fd99::1]", want: "fd99::1"},
	}
	for _, address := range inside {
		tests = append(tests, test{registry: outside, realm: address})
	}
	for _, test := range tests {
		base := "http://" + test.registry + ":5000"
		w.mu.Lock()
		w.names = map[string]string{
			"registry.test": outside, "tokens.test": other, "inside.test": "10.99.0.1", "localhost": "127.0.0.1",
		}
		w.moved, w.tokens, w.realm, w.to = test.moved, nil, "http://"+test.realm+":5000/token",
			"http://"+test.to+":5000/token"
		if test.to != "" {
			w.realm = strings.Replace(w.realm, "/token", "/redirect", 1)
		}
		w.mu.Unlock()
		c := Config{
			Hosts: []registry.Host{{Pattern: "registry", URL: base + "/v2"}}, Keys: "login and password", TokenHosts: test.hosts,
		}
		if test.login {
			c.Login = Static("ana", "s3cret")
		}
		r, err := NewShared().Open(sdk.Env{Instance: "registry.custom.main"}, httpclient.Options{}, c)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Tags(t.Context(), registry.Repository{Host: "registry", Name: "team/app"}, "")
		w.mu.Lock()
		got := strings.Join(w.tokens, ", ")
		w.mu.Unlock()
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s names %s (redirects to %q, moves %v, login %v): token from %q, want %q; %v", test.registry,
				test.realm, test.to, test.moved, test.login, got, test.want, err)
		}
	}
}

// TestRealmThroughAProxy: what the proxy dials cannot be seen, so the text of the address is judged.
func TestRealmThroughAProxy(t *testing.T) {
	w := &town{}
	for realm, want := range map[string]bool{
		"tokens.test": true, "localhost": false, "127.0.0.1": false, "10.99.0.1": false, "[::ffff:10.99.0.1]": false,
		"2130706433": false, "127.1": false, "[fd99::1]": false,
	} {
		w.mu.Lock()
		w.realm, w.tokens = "http://"+realm+"/token", nil
		w.mu.Unlock()
		proxy := http.Server{Handler: w}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go proxy.Serve(listener)
		r, err := NewShared().Open(sdk.Env{}, httpclient.Options{
			Proxy: &url.URL{Scheme: "http", Host: listener.Addr().String()},
		},
			Config{Hosts: []registry.Host{{Pattern: "registry.test", URL: "http://registry.test/v2"}}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Tags(t.Context(), registry.Repository{Host: "registry.test", Name: "team/app"}, "")
		w.mu.Lock()
		if reached := len(w.tokens) > 0; reached != want || (err == nil) != want {
			t.Errorf("%s: reached %v, %v", realm, reached, err)
		}
		w.mu.Unlock()
		proxy.Close()
	}
}
