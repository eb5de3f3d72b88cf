package notes

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk"
)

// memory is a Cache.
type memory struct {
	mu     sync.Mutex
	bodies map[string][]byte
	etags  map[string]string
}

func (m *memory) Get(_ context.Context, key string) (string, []byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	body, found := m.bodies[key]
	return m.etags[key], body, found
}

func (m *memory) Put(_ context.Context, key, validator string, body []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bodies[key], m.etags[key] = body, validator
}

// bench is a reader whose hosts are all one server with TLS.
type bench struct {
	*Reader
	memory *memory
	now    time.Time

	mu       sync.Mutex
	requests []*http.Request
}

func newBench(t testing.TB, serve http.HandlerFunc, change ...func(*Options)) *bench {
	t.Helper()
	b := &bench{
		memory: &memory{bodies: map[string][]byte{}, etags: map[string]string{}},
		now:    time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC),
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.UserAgent() != "dogwatch/1.2.3" {
			t.Errorf("%s is asked by %q", r.URL, r.UserAgent())
		}
		b.requests = append(b.requests, r)
		serve(w, r)
	}))
	t.Cleanup(server.Close)
	opt := Options{Cache: b.memory, Agent: "dogwatch/1.2.3", Log: hclog.NewNullLogger(), Now: func() time.Time {
		return b.now
	}, Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}
	for _, c := range change {
		c(&opt)
	}
	b.Reader = New(opt)
	b.client.Timeout = 0 // a busy machine may need longer for large answers
	return b
}

func updating(source, from, to string) *sdk.Container {
	return &sdk.Container{
		Labels: map[string]string{"org.opencontainers.image.source": source},
		Image:  sdk.Image{Name: "me/app", Tag: sdk.Tag{Value: from}, Registry: sdk.Registry{Host: "docker.io"}},
		Result: &sdk.Result{Tag: to}, UpdateAvailable: true, UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag},
	}
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	body, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func versions(n Notes) string {
	var all []string
	for _, one := range n.Notes {
		all = append(all, one.Version)
	}
	return strings.Join(all, " ")
}

func TestForges(t *testing.T) {
	tests := []struct{ source, file, path, want, page string }{
		{"https://github.com/grafana/grafana", "github.json",
			"api.github.com/repos/grafana/grafana/releases?per_page=100", "v11.3.0 v11.2.1",
			"https://github.com/grafana/grafana/releases/tag/v11.3.0"},
		{"https://gitlab.com/group/sub/app", "gitlab.json",
			"gitlab.com/api/v4/projects/group%2Fsub%2Fapp/releases?per_page=100", "v11.3.0 v11.2.1",
			"https://gitlab.com/group/sub/app/-/releases/v11.3.0"},
		{"https://codeberg.org/forgejo/forgejo", "gitea.json",
			"codeberg.org/api/v1/repos/forgejo/forgejo/releases?limit=50&draft=false", "v11.3.0 v11.2.1",
			"https://codeberg.org/forgejo/forgejo/releases/tag/v11.3.0"},
	}
	for _, test := range tests {
		b := newBench(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(file(t, test.file)) })
		n := b.Of(t.Context(), updating(test.source, "11.2.0", "11.3.0"))
		if versions(n) != test.want || n.Reason != "" || n.Incomplete {
			t.Errorf("%s has %q, reason %q", test.source, versions(n), n.Reason)
			continue
		}
		if got := b.requests[0].Host + b.requests[0].URL.RequestURI(); got != test.path {
			t.Errorf("requested %s, want %s", got, test.path)
		}
		first := n.Notes[0]
		if first.URL != test.page || first.Date.IsZero() || len(first.Breaking) != 1 || len(first.Action) != 1 {
			t.Errorf("%s: the newest is %+v", test.source, first)
		}
	}
}

// TestRequests: one request an hour, conditional, none while the limit is used up.
func TestRequests(t *testing.T) {
	status, remaining := 200, "59"
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		w.Header().Set("X-RateLimit-Remaining", remaining)
		w.Header().Set("X-RateLimit-Reset", fmt.Sprint(time.Date(2026, 11, 23, 14, 45, 0, 0, time.UTC).Unix()))
		if r.Header.Get("If-None-Match") == `"one"` && status == 200 {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write(file(t, "github.json"))
	})
	c := updating("https://github.com/grafana/grafana", "11.2.0", "11.3.0")
	read := func(after time.Duration, requests int, reason string) {
		t.Helper()
		b.now = b.now.Add(after)
		n := b.Of(t.Context(), c)
		if versions(n) != "v11.3.0 v11.2.1" || len(b.requests) != requests || !strings.Contains(n.Reason, reason) ||
			reason == "" && n.Reason != "" {
			t.Fatalf("after %d requests (want %d): %q, reason %q", len(b.requests), requests, versions(n), n.Reason)
		}
	}
	read(0, 1, "")
	read(59*time.Minute, 1, "")
	read(2*time.Minute, 2, "") // 304
	read(59*time.Minute, 2, "")
	status, remaining = 403, "0"
	read(2*time.Minute, 3, "used up until 14:45 UTC; these are of 23 Nov 13:01 UTC")
	read(30*time.Minute, 3, "used up")
	status, remaining = 200, "59"
	read(20*time.Minute, 4, "")
}

func TestReasons(t *testing.T) {
	tests := []struct {
		name     string
		c        *sdk.Container
		status   int
		body     string
		want     string
		requests int
	}{
		{"no update", &sdk.Container{}, 200, "[]", "there is no update", 0},
		{"no source", updating("", "1.0", "2.0"), 200, "[]", "no release notes found: no label", 0},
		{"another host", updating("https://example.org/a/b", "1.0", "2.0"), 200, "[]", "no release notes found: no label", 0},
		{"private", updating("https://github.com/a/b", "1.0", "2.0"), 404, "", "does not exist, or is private", 1},
		{"a login", updating("https://gitlab.com/a/b", "1.0", "2.0"), 401, "", "notes.tokens", 1},
		{"only tags", updating("https://github.com/a/b", "1.0", "2.0"), 200, "[]", "has tags at most", 1},
		{"no version", updating("https://github.com/a/b", "latest", "latest"), 200, `[{"tag_name":"v1"}]`,
			"neither the tag nor a label", 1},
		{"none between", updating("https://github.com/a/b", "3.0", "3.1"), 200, `[{"tag_name":"v1"}]`,
			"no release is between", 1},
		{"no list", updating("https://github.com/a/b", "1.0", "2.0"), 200, `<html>`, "not understood", 1},
		{"broken", updating("https://github.com/a/b", "1.0", "2.0"), 502, ``, "answered 502", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
			})
			n := b.Of(t.Context(), test.c)
			_ = b.Of(t.Context(), test.c) // the failure is remembered
			if !strings.Contains(n.Reason, test.want) || n.Notes == nil || len(n.Notes) != 0 ||
				len(b.requests) != test.requests {
				t.Errorf("%d requests, %+v", len(b.requests), n)
			}
		})
	}
}

func TestTokenStaysAtItsHost(t *testing.T) {
	for source, want := range map[string]string{
		"https://github.com/a/b": "Bearer s3cret", "https://gitlab.com/a/b": "", "https://codeberg.org/a/b": "",
	} {
		b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example/steal", http.StatusFound)
		}, func(o *Options) { o.Tokens = map[string]string{"github.com": "s3cret"} })
		n := b.Of(t.Context(), updating(source, "1.0", "2.0"))
		if len(b.requests) != 1 || b.requests[0].Header.Get("Authorization") != want ||
			!strings.Contains(n.Reason, "redirects to another host, elsewhere.example") {
			t.Errorf("%s: %d requests, reason %q", source, len(b.requests), n.Reason)
		}
	}
}

// TestStoredSize: what is stored of a repository is bounded, even if it cannot be compressed.
func TestStoredSize(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, size := range map[string]int{"50 long ones": 5 << 10, "5 MB each": 5 << 20} {
		var list []map[string]any
		for i := range 50 {
			text := make([]byte, size)
			for j := range text {
				text[j] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-\n"[random.IntN(64)]
			}
			list = append(list, map[string]any{"tag_name": fmt.Sprintf("v1.%d", 50-i), "body": string(text)})
			if size > 1<<20 && i > 1 {
				break
			}
		}
		body, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		b := newBench(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
		n := b.Of(t.Context(), updating("https://github.com/a/b", "1.0", "1.50"))
		if len(n.Notes) == 0 || !n.Notes[len(n.Notes)-1].Truncated {
			t.Errorf("%s: %d notes, reason %q", name, len(n.Notes), n.Reason)
		}
		for _, stored := range b.memory.bodies {
			var deflated bytes.Buffer
			w, _ := flate.NewWriter(&deflated, flate.BestSpeed)
			_, _ = w.Write(stored)
			_ = w.Close()
			if deflated.Len() > 200_000 {
				t.Errorf("%s: %d bytes are stored", name, deflated.Len())
			}
		}
	}
}

func TestGuard(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a request came inside")
	}))
	defer server.Close()
	at := strings.TrimPrefix(server.URL, "https://")
	_, port, _ := net.SplitHostPort(at)
	for _, host := range []string{at, "localhost:" + port, "[::1]:" + port, "[::ffff:127.0.0.1]:" + port} {
		b := newBench(t, nil, func(o *Options) {
			o.Transport = nil
			o.Forges = map[string]Forge{host: Gitea}
		})
		if n := b.Of(t.Context(), updating("https://"+host+"/a/b", "1.0", "2.0")); !strings.Contains(n.Reason,
			"inside the network") {
			t.Errorf("%s: %q", host, n.Reason)
		}
	}
	conn, err := (&guard{allowed: map[string]bool{"127.0.0.1": true}}).dial(t.Context(), "tcp", at)
	if err != nil {
		t.Errorf("an allowed host: %v", err)
	} else {
		conn.Close()
	}
}
