package notes

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// forgeHosts are the names under which the hosts are asked.
var forgeHosts = []string{"api.github.com", "github.example.org", "gitlab.com", "gitlab.example.org", "codeberg.org",
	"code.forgejo.org", "gitea.com"}

// hosts makes a bench whose server has certificates of these names only, which the client checks.
func hosts(t *testing.T, serve http.HandlerFunc, change ...func(*Options)) *bench {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	certificate := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: forgeHosts, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, certificate, certificate, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	root, err := x509.ParseCertificate(signed)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(root)
	var b *bench
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(forgeHosts, r.TLS.ServerName) || r.Host != r.TLS.ServerName {
			t.Errorf("%s is asked as %s", r.Host, r.TLS.ServerName)
		}
		if r.UserAgent() != "dogwatch/1.2.3" {
			t.Errorf("%s is asked by %q", r.Host, r.UserAgent())
		}
		b.mu.Lock()
		b.requests = append(b.requests, r)
		b.mu.Unlock()
		serve(w, r)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	b = newBench(t, nil, append(change, func(o *Options) {
		o.Transport = &http.Transport{
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
			},
			TLSClientConfig: &tls.Config{RootCAs: trusted}, DisableKeepAlives: true,
		}
	})...)
	return b
}

// requested are the requests, without their scheme.
func (b *bench) requested() string {
	var all []string
	for _, r := range b.requests {
		all = append(all, r.Host+r.URL.RequestURI())
	}
	return strings.Join(all, " ")
}

// list writes releases as a host does, by their tags.
func list(w http.ResponseWriter, tags ...string) {
	all := []map[string]any{}
	for _, tag := range tags {
		all = append(all, map[string]any{
			"tag_name": tag, "name": tag, "body": "notes of " + tag, "published_at": "2026-10-21T10:00:00Z",
			"draft": strings.Contains(tag, "draft"), "prerelease": strings.Contains(tag, "preview"),
		})
	}
	_ = json.NewEncoder(w).Encode(all)
}

// TestLimits of hosts, as their documentation has them: for how long a host is left alone.
func TestLimits(t *testing.T) {
	reset := fmt.Sprint(time.Date(2026, 11, 23, 12, 40, 0, 0, time.UTC).Unix())
	for _, test := range []struct {
		name, source string
		status       int
		headers      map[string]string
		body         string
		want         time.Duration
	}{
		{"GitHub, an hour's requests", "https://github.com/a/app", 403, map[string]string{
			"x-ratelimit-limit": "60", "x-ratelimit-remaining": "0", "x-ratelimit-used": "60",
			"x-ratelimit-resource": "core", "x-ratelimit-reset": reset,
		},
			`{"message":"API rate limit exceeded for 203.0.113.7. (But here's the good news: Authenticated requests get a higher rate limit.)","documentation_url":"https://docs.github.com/rest/overview/resources-in-the-rest-api#rate-limiting"}`, 40 * time.Minute},
		{"GitHub, too many at a time", "https://github.com/a/app", 403, map[string]string{
			"retry-after": "60", "x-ratelimit-remaining": "55", "x-ratelimit-reset": reset,
		}, `{"message":"You have exceeded a secondary rate limit."}`, time.Minute},
		{"GitHub, 429", "https://github.com/a/app", 429, map[string]string{
			"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset,
		}, `{}`, 40 * time.Minute},
		{"GitLab", "https://gitlab.com/a/app", 429, map[string]string{
			"RateLimit-Limit": "60", "RateLimit-Remaining": "0", "RateLimit-Observed": "67", "RateLimit-Reset": reset,
			"Retry-After": "30",
		}, "Retry later\n", 40 * time.Minute},
		{"Codeberg", "https://codeberg.org/a/app", 429, nil, "Too Many Requests", time.Minute},
		{"Forgejo behind a proxy", "https://code.forgejo.org/a/app", 429, map[string]string{"Retry-After": "120"}, "",
			2 * time.Minute},
		{"a time that is too long", "https://github.com/a/app", 403, map[string]string{"retry-after": "999999"}, "{}",
			maxLimit},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := hosts(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, value := range test.headers {
					w.Header().Set(name, value)
				}
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
			})
			c := updating(test.source, "1.0", "2.0")
			until := b.now.Add(test.want)
			if n := b.Of(t.Context(), c); !strings.Contains(n.Reason,
				"its limit of requests is used up until "+until.Format("15:04 UTC")) {
				t.Errorf("reason %q", n.Reason)
			}
			b.now = until.Add(-time.Second)
			_ = b.Of(t.Context(), updating(test.source+"2", "1.0", "2.0")) // of the same host
			if len(b.requests) != 1 {
				t.Errorf("%d requests before the limit ended", len(b.requests))
			}
			b.now = until.Add(time.Second)
			if _ = b.Of(t.Context(), c); len(b.requests) != 2 {
				t.Errorf("%d requests after it", len(b.requests))
			}
		})
	}
}

// TestRenamedRepository follows GitHub from the old name to the number of the repository, with the token.
func TestRenamedRepository(t *testing.T) {
	b := hosts(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/repos/") {
			w.Header().Set("Location", "https://api.github.com/repositories/15111821/releases?per_page=100")
			w.WriteHeader(http.StatusMovedPermanently)
			_, _ = w.Write([]byte(`{"message":"Moved Permanently","url":"https://api.github.com/repositories/15111821/releases?per_page=100","documentation_url":"https://docs.github.com/rest/guides/best-practices-for-using-the-rest-api#follow-redirects"}`))
			return
		}
		list(w, "v2.0", "v1.0")
	}, func(o *Options) { o.Tokens = map[string]string{"github.com": "s3cret"} })
	n := b.Of(t.Context(), updating("https://github.com/old/app", "1.0", "2.0"))
	if versions(n) != "v2.0" || len(b.requests) != 2 || b.requests[1].Header.Get("Authorization") != "Bearer s3cret" {
		t.Errorf("%q after %s, reason %q", versions(n), b.requested(), n.Reason)
	}
}

// TestPrivateRepositories answer as those that do not exist, and are not asked for again for hours.
func TestPrivateRepositories(t *testing.T) {
	for source, body := range map[string]string{
		"https://github.com/a/app":   `{"message":"Not Found","documentation_url":"https://docs.github.com/rest/releases/releases#list-releases","status":"404"}`,
		"https://gitlab.com/a/app":   `{"message":"404 Project Not Found"}`,
		"https://codeberg.org/a/app": `{"errors":null,"message":"The target couldn't be found.","url":"https://codeberg.org/api/swagger"}`,
		"https://gitea.com/a/app":    `{"errors":["user does not exist [uid: 0, name: a]"],"message":"GetUserByName","url":"https://gitea.com/api/swagger"}`,
	} {
		b := hosts(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(body))
		})
		for range 2 {
			if n := b.Of(t.Context(), updating(source, "1.0", "2.0")); !strings.Contains(n.Reason,
				"does not exist, or is private") {
				t.Errorf("%s: %q", source, n.Reason)
			}
			b.now = b.now.Add(5 * time.Hour)
		}
		if len(b.requests) != 1 {
			t.Errorf("%s: %d requests", source, len(b.requests))
		}
	}
}

// TestTags of releases: drafts, prereleases, and several programs in one repository.
func TestTags(t *testing.T) {
	for _, test := range []struct {
		name, image, from, to string
		tags                  []string
		want                  string
	}{
		{"drafts and previews", "me/app", "1.0", "1.2",
			[]string{"v1.2.1-draft", "v1.2", "v1.2-preview", "v1.2-rc.1", "v1.1-draft", "v1.1", "v1.0"}, "v1.2 v1.1"},
		{"from a preview to another", "me/app", "1.2-beta.1", "1.2-beta.2",
			[]string{"v1.2-beta.3", "v1.2-beta.2", "v1.2-beta.1", "v1.1"}, "v1.2-beta.2"},
		{"charts beside the program", "me/app", "1.0", "1.2",
			[]string{"chart-1.2.3", "helm-chart-1.2.3", "app-chart-1.1.0", "v1.2", "chart-1.1.0", "v1.1", "v1.0"}, "v1.2 v1.1"},
		{"two programs", "me/server", "1.0", "1.2",
			[]string{"client/v1.2", "server/v1.2", "client/v1.1", "server/v1.1", "server/v1.0"}, "server/v1.2 server/v1.1"},
		{"two programs, by the image", "me/worker", "1.0", "1.2",
			[]string{"worker-v1.2", "ui-v1.2", "worker-v1.1", "worker-v1.0"}, "worker-v1.2 worker-v1.1"},
		{"a scope", "me/app", "1.70.0", "1.71.0", []string{"app@1.71.0", "other@1.71.0", "app@1.70.0"}, "app@1.71.0"},
		{"tags without releases", "me/app", "1.0", "1.2", nil, ""},
	} {
		b := hosts(t, func(w http.ResponseWriter, _ *http.Request) { list(w, test.tags...) })
		c := updating("https://github.com/me/app", test.from, test.to)
		c.Image.Name = test.image
		n := b.Of(t.Context(), c)
		if versions(n) != test.want || (test.want == "") != strings.Contains(n.Reason, "has tags at most") {
			t.Errorf("%s: %q, reason %q", test.name, versions(n), n.Reason)
		}
	}
}

// TestPages are read as far as the version that runs, and no further; what another container
// needs of older ones comes when it does.
func TestPages(t *testing.T) {
	const pages, perPage = 8, 100
	for source, path := range map[string]string{
		"https://github.com/me/app":   "api.github.com/repos/me/app/releases?per_page=100",
		"https://gitlab.com/me/app":   "gitlab.com/api/v4/projects/me%2Fapp/releases?per_page=100",
		"https://codeberg.org/me/app": "codeberg.org/api/v1/repos/me/app/releases?limit=50&draft=false",
	} {
		b := hosts(t, func(w http.ResponseWriter, r *http.Request) {
			page := 1
			_, _ = fmt.Sscan(r.URL.Query().Get("page"), &page)
			if page < pages {
				next := *r.URL
				query := next.Query()
				query.Set("page", fmt.Sprint(page+1))
				next.RawQuery = query.Encode()
				w.Header().Set("Link",
					fmt.Sprintf(`<https://%s%s>; rel="next", <https://%s/last>; rel="last"`, r.Host, next.RequestURI(), r.Host))
			}
			if page == 1 {
				w.Header().Set("ETag", `"first"`)
				if r.Header.Get("If-None-Match") == `"first"` {
					w.WriteHeader(http.StatusNotModified)
					return
				}
			}
			var tags []string // every twentieth is of the program
			for i := range perPage {
				n := (pages-page)*perPage + perPage - i
				if n%20 == 0 {
					tags = append(tags, fmt.Sprintf("v1.%d", n/20))
				} else {
					tags = append(tags, fmt.Sprintf("part-%d.%d", n, n))
				}
			}
			list(w, tags...)
		})
		near, far, older := updating(source, "1.37", "1.40"), updating(source, "1.32", "1.40"),
			updating(source, "1.1", "1.40")
		if n := b.Of(t.Context(), near); versions(n) != "v1.40 v1.39 v1.38" || n.Incomplete || b.requested() != path {
			t.Errorf("one page: %q, incomplete %t, after %s", versions(n), n.Incomplete, b.requested())
		}
		if n := b.Of(t.Context(), far); len(n.Notes) != 8 || n.Incomplete || b.requested() != path+" "+path+"&page=2" {
			t.Errorf("two pages: %q, incomplete %t, after %s", versions(n), n.Incomplete, b.requested())
		}
		if n := b.Of(t.Context(), older); !n.Incomplete || len(b.requests) > maxPages || n.Notes[len(n.Notes)-1].Body == "" {
			t.Errorf("too many: %d notes, incomplete %t, after %d requests", len(n.Notes), n.Incomplete, len(b.requests))
		}
		requests := len(b.requests)
		b.now = b.now.Add(2 * time.Hour)
		if n := b.Of(t.Context(), far); len(n.Notes) != 8 || len(b.requests) != requests+1 {
			t.Errorf("unchanged: %q after %d more requests", versions(n), len(b.requests)-requests)
		}
	}
}

// TestLargeNotes of 5 MB each are cut, and those of a list without end are read up to a bound.
func TestLargeNotes(t *testing.T) {
	large := `[{"tag_name":"v1.2","body":"# Breaking\n\n` + strings.Repeat(`- a line\n`, 5<<20/10) + `"},`
	more := strings.Repeat("x", 1<<20)
	b := hosts(t, func(w http.ResponseWriter, _ *http.Request) {
		_, err := io.WriteString(w, large)
		for i := 0; err == nil; i++ {
			_, err = fmt.Fprintf(w, `{"tag_name":"part-%d","body":"%s"},`, i, more)
		}
	})
	n := b.Of(t.Context(), updating("https://github.com/a/app", "1.1", "1.2"))
	if versions(n) != "v1.2" || !n.Notes[0].Truncated || len(n.Notes[0].Body) > maxBody || len(n.Notes[0].Breaking) == 0 {
		t.Errorf("%q, reason %q", versions(n), n.Reason)
	}
}

// TestReaderThatWaitsTooLong: a host that does not answer in time is left alone for a while,
// one whose reader has gone is not.
func TestReaderThatWaitsTooLong(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	gone, leave := context.WithCancel(t.Context())
	b := hosts(t, func(http.ResponseWriter, *http.Request) {
		leave()
		<-hang
	})
	c := updating("https://github.com/a/app", "1.0", "2.0")
	_ = b.Of(gone, c)
	late, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_ = b.Of(late, c)
	_ = b.Of(t.Context(), c)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) != 2 {
		t.Errorf("%d requests, want one of each reader that waited", len(b.requests))
	}
}

// TestRunningAndOffered are the versions between which notes are, of tags without one too.
func TestRunningAndOffered(t *testing.T) {
	for about, test := range map[string]struct {
		image         sdk.Image
		kind          string
		result        sdk.Result
		running, next string
	}{
		"versions": {sdk.Image{Tag: sdk.Tag{Value: "1.0"}}, sdk.KindTag, sdk.Result{Tag: "1.1"}, "1.0", "1.1"},
		"latest": {sdk.Image{Tag: sdk.Tag{Value: "latest"}, Version: "1.27.2"}, sdk.KindDigest, sdk.Result{
			Tag: "latest", Version: "1.27.3",
		}, "1.27.2", "1.27.3"},
		"one that floats": {sdk.Image{Tag: sdk.Tag{Value: "1"}, Version: "1.27.2"}, sdk.KindDigest, sdk.Result{
			Tag: "1", Version: "1.27.3",
		}, "1.27.2", "1.27.3"},
		"nothing is known": {sdk.Image{Tag: sdk.Tag{Value: "latest"}}, sdk.KindDigest, sdk.Result{Tag: "latest"}, "", ""},
		"a commit":         {sdk.Image{Tag: sdk.Tag{Value: "0123abc"}}, sdk.KindDigest, sdk.Result{Tag: "0123abc"}, "", ""},
	} {
		c := sdk.Container{Image: test.image, Result: &test.result, UpdateKind: sdk.UpdateKind{Kind: test.kind}}
		if r, o := running(&c), offered(&c); r != test.running || o != test.next {
			t.Errorf("%s: %q to %q", about, r, o)
		}
	}
}
