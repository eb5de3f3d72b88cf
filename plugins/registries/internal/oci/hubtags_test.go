package oci

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// hubImage is an image as the API has it.
func hubImage(arch, variant, letter, pushed string) string {
	return fmt.Sprintf(`{"architecture":%q,"features":"","variant":%s,"digest":"sha256:%s","os":"linux","os_features":"","os_version":null,"size":1,"status":"active","last_pulled":null,"last_pushed":%s}`,
		arch, variant, strings.Repeat(letter, 64), pushed)
}

// hubTagText is a tag as the API has it.
func hubTagText(name, digest string, images ...string) string {
	return fmt.Sprintf(`{"creator":1,"id":2,"images":[%s],"last_updated":"2026-09-16T07:52:32.1Z","last_updater":1,"name":%q,"full_size":1,"v2":true,"tag_status":"active","tag_last_pushed":"2026-09-16T07:52:32.1Z","media_type":"application/vnd.oci.image.index.v1+json"%s}`,
		strings.Join(images, ","), name, digest)
}

func withDigest(letter string) string {
	return fmt.Sprintf(`,"digest":"sha256:%s"`, strings.Repeat(letter, 64))
}

// TestHubDescribesTags reads responses as Docker Hub gives them, with the fields that some lack.
func TestHubDescribesTags(t *testing.T) {
	const at = `"2026-09-16T01:50:42.5Z"`
	amd, arm := hubImage("amd64", "null", "a", at), hubImage("arm64", `"v8"`, "b", at)
	tests := []struct {
		name, tag, body string
		platform        sdk.Platform
		want            string
	}{
		{"an index", "latest", hubTagText("latest", withDigest("1"), amd, arm, hubImage("unknown", "null", "c", at)),
			sdk.Platform{OS: "linux", Architecture: "arm64"}, "latest 1 b 2026-09-16T01:50:42Z"},
		{"another platform only", "latest", hubTagText("latest", withDigest("1"), amd), sdk.Platform{
			OS: "linux", Architecture: "s390x",
		}, "latest 1  "},
		{"a manifest without an index", "1.0", hubTagText("1.0", "", amd), amd64, "1.0 a a 2026-09-16T01:50:42Z"},
		{"an index without its digest", "1.0", hubTagText("1.0", "", amd, arm), amd64, ""},
		{"no date", "1.0", hubTagText("1.0", withDigest("1"), hubImage("amd64", "null", "a", "null")), amd64, "1.0 1 a "},
		{"a date that is none", "1.0", hubTagText("1.0", withDigest("1"), hubImage("amd64", "null", "a", `"soon"`)),
			amd64, "1.0 1 a "},
		{"two images for one platform", "ltsc",
			hubTagText("ltsc", withDigest("1"), amd, hubImage("amd64", "null", "b", at)), amd64, "ltsc 1  "},
		{"the same image twice", "ltsc", hubTagText("ltsc", withDigest("1"), amd, amd), amd64,
			"ltsc 1 a 2026-09-16T01:50:42Z"},
		{"a malformed digest", "1.0", hubTagText("1.0", `,"digest":"sha256:1"`, amd, arm), amd64, ""},
		{"another tag", "1.0", hubTagText("2.0", withDigest("1"), amd), amd64, ""},
		{"nothing", "1.0", `{}`, amd64, ""},
		{"a page", "",
			`{"count":3,"next":"https://hub.docker.com/?page=2","previous":null,"results":[` +
				hubTagText("latest", withDigest("1"), amd) + "," + hubTagText("a b", withDigest("1"), amd) + "," +
				hubTagText("1.0", withDigest("2"), arm) + `]}`, amd64, "latest 1 a 2026-09-16T01:50:42Z, 1.0 2  "},
		{"an empty page", "", `{"count":0,"results":null}`, amd64, ""},
		{"no JSON", "", `[`, amd64, "error answered something else than tags"},
		{"another shape", "", `{"results":{"name":1}}`, amd64, "error answered something else than tags"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var path string
			h := newHub(internet{"hub.docker.com": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				path = r.URL.String()
				if r.Header.Get("Authorization") != "" {
					t.Error("credentials of the registry went to another host")
				}
				fmt.Fprint(w, test.body)
			})})
			tags, err := h.DescribeTags(t.Context(), nginx(), test.tag, test.platform)
			var got []string
			for _, d := range tags {
				pushed := ""
				if !d.Pushed.IsZero() {
					pushed = d.Pushed.UTC().Format("2006-01-02T15:04:05Z")
				}
				first := func(digest string) string { return strings.TrimPrefix(digest, "sha256:")[:min(1, len(digest))] }
				got = append(got, fmt.Sprintf("%s %s %s %s", d.Name, first(d.Digest), first(d.Image), pushed))
			}
			if message, is := strings.CutPrefix(test.want, "error "); is {
				if err == nil || !strings.Contains(err.Error(), message) || !errors.Is(err, sdk.ErrUnavailable) {
					t.Errorf("error %v", err)
				}
			} else if text := strings.Join(got, ", "); err != nil || text != test.want {
				t.Errorf("got %q, %v; want %q", text, err, test.want)
			}
			want := "/v2/namespaces/library/repositories/nginx/tags/" + test.tag
			if test.tag == "" {
				want = "/v2/namespaces/library/repositories/nginx/tags?page_size=100"
			}
			if !strings.HasSuffix(path, want) {
				t.Errorf("requested %s, want %s", path, want)
			}
		})
	}
}

var amd64 = sdk.Platform{OS: "linux", Architecture: "amd64"}

func nginx() registry.Repository {
	return registry.Repository{Host: "docker.io", Name: "library/nginx"}
}

// newHub returns a client of Docker Hub that has a login.
func newHub(n Doer) *Hub {
	return &Hub{Registry: newRegistry(n, withLogin("ann", "s3cret"), func(c *Config) {
		c.Hosts = At("https://registry-1.docker.io/v2", "docker.io")
	})}
}

// What is no image is said so, where the API knows it.
func TestHubDescribesArtifacts(t *testing.T) {
	const chart = "application/vnd.cncf.helm.config.v1+json"
	for _, test := range []struct{ mediaType, contentType, want string }{
		{chart, "helm", chart},
		{"", "plugin", "plugin"},
		{"application/vnd.oci.image.index.v1+json", "image", ""},
		{"application/vnd.oci.image.manifest.v1+json", "unrecognized", ""},
		{"application/vnd.oci.image.manifest.v1+json", "", ""},
	} {
		body := fmt.Sprintf(`{"name":"1.0","images":[]%s,"media_type":%q,"content_type":%q}`, withDigest("1"),
			test.mediaType, test.contentType)
		tags, err := describedTags([]byte(body), "1.0", amd64)
		if err != nil || len(tags) != 1 || tags[0].Artifact != test.want {
			t.Errorf("%s: %+v, %v; want %q", test.contentType, tags, err, test.want)
		}
	}
}

// A mirror and other names get no request.
func TestHubDescribesOnlyItsOwn(t *testing.T) {
	none := internet{}
	mirror := &Hub{Registry: newRegistry(none, func(c *Config) { c.Hosts = At("https://mirror.example/v2", "docker.io") })}
	for _, test := range []struct {
		h    *Hub
		name string
		kind error
	}{{mirror, "library/nginx", sdk.ErrUnsupported}, {newHub(none), "nginx", sdk.ErrUnsupported},
		{newHub(none), "a/b/c", sdk.ErrUnsupported}, {newHub(none), "../b", sdk.ErrUnsupported}} {
		_, err := test.h.DescribeTags(t.Context(), registry.Repository{Host: "docker.io", Name: test.name}, "", amd64)
		checkKind(t, err, test.kind)
	}
	if _, err := newHub(none).DescribeTags(t.Context(), nginx(), "../x", amd64); err == nil {
		t.Error("a path is taken for a tag")
	}
}

// An API that does not respond is left alone for some time, one that limits requests as long as
// it asks for; what it lacks or keeps private says nothing about other repositories.
func TestHubPauses(t *testing.T) {
	tests := []struct {
		name    string
		respond func(w http.ResponseWriter)
		kind    error
		// requests within the first minute, and in the hour after it, of one each minute
		first, later int
	}{
		{"works", func(w http.ResponseWriter) { fmt.Fprint(w, `{"results":[]}`) }, nil, 1, 60},
		{"private", func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, sdk.ErrNotFound, 1, 60},
		{"forbidden", func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) }, sdk.ErrUnauthorized, 1, 60},
		{"fails", func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) }, sdk.ErrUnavailable, 1, 4},
		{"limits", func(w http.ResponseWriter) {
			w.Header().Set("X-RateLimit-Limit", "180")
			w.Header().Set("X-Retry-After", fmt.Sprint(time.Now().Add(30*time.Minute).Unix()))
			w.WriteHeader(http.StatusTooManyRequests)
		}, &sdk.RateLimitedError{}, 1, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(10 * 365 * 24 * time.Hour) // from 2000, when seconds since 1970 were few
				requests := 0
				h := newHub(internet{"hub.docker.com": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					requests++
					test.respond(w)
				})})
				_, err := h.DescribeTags(t.Context(), nginx(), "", amd64)
				if limited := (*sdk.RateLimitedError)(nil); test.name == "limits" && !errors.As(err, &limited) {
					t.Errorf("error %v", err)
				} else if test.name != "limits" && !errors.Is(err, test.kind) {
					t.Errorf("error %v, want %v", err, test.kind)
				}
				if requests != test.first {
					t.Errorf("%d requests, want %d", requests, test.first)
				}
				requests = 0
				for range 60 {
					time.Sleep(time.Minute)
					_, _ = h.DescribeTags(t.Context(), nginx(), "", amd64)
				}
				if requests != test.later {
					t.Errorf("%d requests in an hour, want %d", requests, test.later)
				}
			})
		})
	}
}

// One that hangs holds up nothing for long.
func TestHubDoesNotHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(internet{
			"hub.docker.com": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		})
		began := time.Now()
		for range 3 {
			if _, err := h.DescribeTags(t.Context(), nginx(), "", amd64); !errors.Is(err, sdk.ErrUnavailable) {
				t.Errorf("error %v", err)
			}
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("took %s", took)
		}
	})
}
