package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/registrytest"
)

var repository = registry.Repository{Host: "releases.test", Name: "team/app"}

// settings are options for the service at a URL.
func settings(url, format string, more ...string) map[string]any {
	options := map[string]any{"host": repository.Host, "url": url, "format": format, "token": "recognisable-token"}
	for i := 0; i+1 < len(more); i += 2 {
		options[more[i]] = more[i+1]
	}
	return options
}

func TestConformance(t *testing.T) {
	for format, tag := range map[string]string{"github": "v1.2.0", "gitea": "v1.21.0"} {
		service := func(url string) registrytest.Service {
			return registrytest.Service{Options: settings(url, format), Repository: repository, Tag: tag}
		}
		t.Run(format, func(t *testing.T) {
			registrytest.Run(t, releasesType(), registrytest.Case{
				Working: func(t *testing.T) registrytest.Service {
					s := service(serve(t, format))
					digest, err := plugintest.Registry(t, releasesType(), s.Options).Resolve(t.Context(), repository, tag)
					if err != nil {
						t.Fatal(err)
					}
					s.Digest = digest
					return s
				},
				Hanging: func(t *testing.T, reached func()) registrytest.Service {
					return service(plugintest.Hanging(t, reached))
				},
				Failing: registrytest.HTTPFailures(service),
				Invalid: []registrytest.Invalid{
					{Field: "url", Set: map[string]any{"url": "ftp://example.com"}},
					{Field: "url", Set: map[string]any{"url": nil, "format": "atom"}},
					{Field: "host", Set: map[string]any{"host": "https://github.com"}},
					{Field: "pattern", Set: map[string]any{"pattern": "("}},
				},
			})
		})
	}
}

func TestTagsOfFormats(t *testing.T) {
	for _, c := range []struct {
		name, format string
		more         []string
		want         []string
	}{
		{"releases of GitHub", "github", nil, []string{"v1.2.0", "v1.1.0"}},
		{"pre-releases too", "github", []string{"prereleases", "true"}, []string{"v1.3.0-rc.1", "v1.2.0", "v1.1.0"}},
		{"releases of Gitea", "gitea", nil, []string{"v1.21.0", "v1.20.5-build7"}},
		{"a pattern with a group", "gitea", []string{"pattern", `^v(1\.21.*)`}, []string{"1.21.0"}},
		{"Atom feed of GitHub", "atom", nil, []string{"v2.1.0", "v2.0.0"}},
		{"Atom feed of a vendor", "vendor.atom", []string{"pattern", `[0-9]+(?:\.[0-9]+)+`}, []string{"7.2.1", "7.1"}},
		{"JSON", "json", []string{"items", "data.releases", "version", "id.full"}, []string{"24.10", "24.04"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := serve(t, c.format)
			format := strings.TrimPrefix(c.format, "vendor.")
			if format == "atom" || format == "json" {
				url += "/{repository}/releases"
			}
			r := plugintest.Registry(t, releasesType(), settings(url, format, c.more...))
			list, err := r.Tags(t.Context(), repository, "")
			if err != nil || !reflect.DeepEqual(list.Tags, c.want) {
				t.Fatalf("got %q, %v; want %q", list.Tags, err, c.want)
			}
			digest, err := r.Resolve(t.Context(), repository, c.want[0])
			if err != nil {
				t.Fatal(err)
			}
			m, err := r.Manifest(t.Context(), repository, digest, sdk.Platform{})
			if err != nil || m.Digest != digest || m.Created.Year() != 2024 {
				t.Errorf("got %+v, %v", m, err)
			}
		})
	}
}

// What has not changed is confirmed by the service, and one look at a project serves its details too.
func TestReleasesAreFetchedOnce(t *testing.T) {
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.String()+" "+r.Header.Get("If-None-Match")+" "+r.Header.Get("Authorization"))
		w.Header().Set("ETag", `W/"1"`)
		if r.Header.Get("If-None-Match") == `W/"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, recorded(t, "github"))
	}))
	t.Cleanup(server.Close)
	r := plugintest.Registry(t, releasesType(), settings(server.URL, "github"))
	list, err := r.Tags(t.Context(), repository, "")
	if err != nil || list.Validator != `W/"1"` {
		t.Fatalf("got %+v, %v", list, err)
	}
	if _, err := r.Resolve(t.Context(), repository, "v1.2.0"); err != nil {
		t.Fatal(err)
	}
	if list, err = r.Tags(t.Context(), repository, list.Validator); err != nil || !list.NotModified ||
		list.Validator != `W/"1"` {
		t.Errorf("got %+v, %v", list, err)
	}
	const request = "/repos/team/app/releases?per_page=100"
	if want := []string{request + "  Bearer recognisable-token",
		request + ` W/"1" Bearer recognisable-token`}; !reflect.DeepEqual(seen, want) {
		t.Errorf("the service got %q, want %q", seen, want)
	}
}

func TestRateLimitOfGitHub(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", "120")
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	_, err := plugintest.Registry(t, releasesType(), settings(server.URL, "github")).Tags(t.Context(), repository, "")
	var limited *sdk.RateLimitedError
	if !errors.As(err, &limited) || limited.After != 2*time.Minute {
		t.Errorf("got %v, want a rate limit of two minutes", err)
	}
}

// TestOtherDocuments: a sign-in page, or a release that was published anew.
func TestOtherDocuments(t *testing.T) {
	text := "<html>sign in</html>"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	for _, format := range []string{"github", "gitea", "atom", "json"} {
		r := plugintest.Registry(t, releasesType(), settings(server.URL, format))
		if _, err := r.Tags(t.Context(), repository, ""); !errors.Is(err, sdk.ErrUnavailable) {
			t.Errorf("%s: got %v, want an sdk.ErrUnavailable", format, err)
		}
	}
	digests := map[string]bool{}
	for _, text = range []string{recorded(t, "github"),
		strings.Replace(recorded(t, "github"), `"size": 7340032`, `"size": 7340033`, 1)} {
		digest, err := plugintest.Registry(t, releasesType(), settings(server.URL, "github")).Resolve(t.Context(),
			repository, "v1.2.0")
		if err != nil {
			t.Fatal(err)
		}
		digests[digest] = true
	}
	if len(digests) != 2 {
		t.Error("a release whose files were replaced has the digest that it had")
	}
}

// serve is a service with the project, and nothing else.
func serve(t *testing.T, format string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/"+repository.Name+"/releases") {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, recorded(t, format))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// recorded is what services of a format respond, cut to a few releases.
func recorded(t *testing.T, format string) string {
	text, err := os.ReadFile("testdata/" + format)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
