package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// TestRegistryReportsRequests of calls that succeed, that fail and that need none, with redirects
// counted, and says nothing as long as the plugin has counted nothing.
func TestRegistryReportsRequests(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/", http.StatusFound)
		}
	}))
	defer server.Close()
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	client, err := httpclient.New(sdk.Env{}, httpclient.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	get := func(ctx context.Context, path string) {
		if err := client.JSON(ctx, http.MethodGet, at.JoinPath(path).String(), nil, nil, nil); err != nil {
			t.Error(err)
		}
	}
	f := newFakes()
	c := inprocess.Serve(t, f.bundle(), io.Discard)
	configure(t, c, kind.Registry, "fakeregistry", "")
	r := c.Registry("registry.fakeregistry.main")
	for i, test := range []struct {
		request func(context.Context)
		err     error
		want    string
	}{
		{func(context.Context) {}, nil, "map[] false"},
		{func(ctx context.Context) {
			get(ctx, "/")
			sdk.Requested(ctx, "token.example", 2)
		}, nil, fmt.Sprintf("map[%s:1 token.example:2] true", at.Host)},
		{func(ctx context.Context) { get(ctx, "/moved") }, sdk.ErrNotFound, fmt.Sprintf("map[%s:2] true", at.Host)},
		{func(context.Context) {}, nil, "map[] true"},
		{func(context.Context) {}, sdk.RateLimited(0, errors.New("later")), "map[] true"},
		{func(ctx context.Context) {
			sdk.Requested(ctx, "a\x01b c", 1)
			sdk.Requested(ctx, "b", 200_000)
		}, nil, "map[] false"},
		{func(ctx context.Context) { sdk.Requested(ctx, "a\x01", 1) }, nil, "map[] true"},
	} {
		f.tags = func(ctx context.Context, _ registry.Repository, _ string) (registry.TagList, error) {
			test.request(ctx)
			return registry.TagList{}, test.err
		}
		ctx, made := sdk.CountRequests(t.Context())
		if _, err := r.Tags(ctx, registry.Repository{Host: "x"}, ""); (err == nil) != (test.err == nil) {
			t.Fatal(err)
		}
		hosts, known := made.ByHost()
		if got := fmt.Sprint(hosts, known); got != test.want {
			t.Errorf("call %d made %s, want %s", i, got, test.want)
		}
	}
	ctx, made := sdk.CountRequests(t.Context())
	if _, err := r.Resolve(ctx, registry.Repository{Host: "x", Name: "y"}, "1"); err != nil {
		t.Fatal(err)
	}
	if hosts, known := made.ByHost(); len(hosts) > 0 || !known {
		t.Errorf("a call without a stream made %v, known is %t", hosts, known)
	}
}

// TestRegistryReportsLoad of calls that succeed in the end.
func TestRegistryReportsLoad(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
	}))
	defer server.Close()
	client, err := httpclient.New(sdk.Env{}, httpclient.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	f := newFakes()
	c := inprocess.Serve(t, f.bundle(), io.Discard)
	configure(t, c, kind.Registry, "fakeregistry", "")
	r := c.Registry("registry.fakeregistry.main")
	for status, want := range map[int]bool{200: false, 404: false, 429: true, 500: false, 503: true} {
		f.tags = func(ctx context.Context, _ registry.Repository, _ string) (registry.TagList, error) {
			for _, status := range []int{status, 200} {
				_ = client.JSON(ctx, http.MethodGet, fmt.Sprint(server.URL, "/", status), nil, nil, nil)
			}
			return registry.TagList{}, nil
		}
		began := time.Now()
		ctx, made := sdk.CountRequests(t.Context())
		if _, err := r.Tags(ctx, registry.Repository{Host: "x"}, ""); err != nil {
			t.Fatal(err)
		}
		if got := made.Load(); got.Throttled != want || got.Latency <= 0 || got.Latency >= time.Since(began) {
			t.Errorf("after the status %d the load was %+v, want throttled to be %t", status, got, want)
		}
	}
}
