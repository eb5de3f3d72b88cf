package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// internet is hosts in memory: what is sent to a host, its handler serves at
// once. It is a Doer that follows redirects, and an http.RoundTripper.
type internet map[string]http.Handler

func (n internet) Do(req *http.Request) (*http.Response, error) {
	client := http.Client{Transport: n}
	resp, err := client.Do(req)
	if err != nil && !errors.Is(err, context.Canceled) {
		err = sdk.WithKind(sdk.ErrUnavailable, err)
	}
	return resp, err
}

func (n internet) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	h, known := n[req.URL.Host]
	if !known {
		return nil, fmt.Errorf("no such host: %s", req.URL.Host)
	}
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			err = io.EOF
		}
	}()
	w := httptest.NewRecorder()
	seen := req.Clone(req.Context())
	seen.Host, seen.RequestURI = req.URL.Host, req.URL.RequestURI()
	if seen.Body == nil {
		seen.Body = http.NoBody
	}
	h.ServeHTTP(w, seen)
	resp = w.Result()
	resp.Request = req
	if req.Method == http.MethodHead {
		resp.Body = http.NoBody
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return resp, nil
}

// simHost is the host of the registry under test; it is requested without encryption.
const simHost = "sim.test"

// newSim returns a simulated registry with one repository, and a Registry that is its client.
func newSim(o registrysim.Options, change ...func(*Config)) (*registrysim.Registry, *Registry) {
	sim := registrysim.New(o)
	sim.Push("team/app", "1.0.0", "1.1.0", "latest")
	return sim, newRegistry(internet{simHost: sim}, change...)
}

func newRegistry(n Doer, change ...func(*Config)) *Registry {
	c := Config{
		Instance: "registry.custom.main",
		Hosts:    []registry.Host{{Pattern: simHost, URL: "http://" + simHost + "/v2"}},
		HTTP:     n,
		Keys:     "login and password",
	}
	for _, f := range change {
		f(&c)
	}
	return NewShared().New(c)
}

func withLogin(user, password string) func(*Config) {
	return func(c *Config) { c.Login = Static(user, password) }
}

// app is the repository that every simulated registry has.
func app(hints ...string) registry.Repository {
	return registry.Repository{Host: simHost, Name: "team/app", ScopeHints: hints}
}

func repo(name string, hints ...string) registry.Repository {
	return registry.Repository{Host: simHost, Name: name, ScopeHints: hints}
}

// mustTags lists tags and fails the test when that fails.
func mustTags(t *testing.T, r *Registry, repo registry.Repository) []string {
	t.Helper()
	list, err := r.Tags(t.Context(), repo, "")
	if err != nil {
		t.Fatal(err)
	}
	return list.Tags
}

// checkKind fails the test unless err is of a kind.
func checkKind(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("error %v, want one that is %v", err, kind)
	}
}

func limitedFor(err error) string {
	var limited *sdk.RateLimitedError
	if !errors.As(err, &limited) {
		return "not limited"
	}
	return limited.After.String()
}
