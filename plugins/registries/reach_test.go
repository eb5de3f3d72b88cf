package registries_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// proxied is a network behind a proxy, to which every name is public.
type proxied struct {
	mu    sync.Mutex
	hosts []string
	realm string
}

// ServeHTTP is a registry at every host that wants tokens of p.realm, or, below /moved, has moved there.
func (p *proxied) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hosts = append(p.hosts, r.URL.Host)
	realm, _ := url.Parse(p.realm)
	switch {
	case r.URL.Host == realm.Host && r.URL.Path == realm.Path:
		io.WriteString(w, `{"token":"t"}`)
	case strings.Contains(r.URL.Path, "/moved/") && r.URL.Host != realm.Host:
		http.Redirect(w, r, "http://"+realm.Host+r.URL.Path, http.StatusTemporaryRedirect)
	case r.Header.Get("Authorization") == "":
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm=%q,service="s"`, p.realm))
		w.WriteHeader(http.StatusUnauthorized)
	default:
		io.WriteString(w, `{"tags":["1.0.0"]}`)
	}
}

func (p *proxied) reached(host string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, h := range p.hosts {
		if h == host {
			n++
		}
	}
	return n
}

// A registry must not cause requests to hosts that only this machine reaches.
func TestTokenServiceAtPrivateAddressIsRefused(t *testing.T) {
	tests := []struct {
		name, registry, realm, repository string
		options                           map[string]any
		want                              string // the error; "" for none
	}{
		{"a foreign token service is inside", "registry.invalid", "http://10.1.2.3/token", "team/app", nil,
			"private address 10.1.2.3"},
		{"the same without a challenge at the first attempt", "registry.invalid", "http://localhost/token", "team/app",
			nil, "private address 127.0.0.1"},
		{"a foreign token service is elsewhere", "registry.invalid", "http://auth.invalid/token", "team/app", nil, ""},
		{"the operator names the token service", "registry.invalid", "http://10.1.2.3/token", "team/app", map[string]any{
			"authhosts": []string{"10.1.2.3"},
		}, ""},
		{"both are inside", "10.1.2.1", "http://10.1.2.3/token", "team/app", nil, ""},
		{"a foreign registry moves inside", "registry.invalid", "http://10.1.2.3/token", "moved/app", nil,
			"private address 10.1.2.3"},
		{"a foreign registry moves elsewhere", "registry.invalid", "http://other.invalid/token", "moved/app", nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			network := &proxied{realm: test.realm}
			proxy := httptest.NewServer(network)
			t.Cleanup(proxy.Close)
			options := map[string]any{"url": "http://" + test.registry, "proxy": proxy.URL}
			for name, value := range test.options {
				options[name] = value
			}
			r, err := typeOf(t, "custom").New(sdk.Env{Instance: "registry.custom.main"}, options)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.(io.Closer).Close() })
			realm, err := url.Parse(test.realm)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // what is remembered of a host obeys, too
				_, err = r.Tags(t.Context(), registry.Repository{Host: test.registry, Name: test.repository}, "")
				if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
					t.Errorf("error %v, want %q", err, test.want)
				}
			}
			if got := network.reached(realm.Host); (got > 0) != (test.want == "") {
				t.Errorf("%s got %d requests", realm.Host, got)
			}
		})
	}
}
