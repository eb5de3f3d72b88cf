package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// publicLatency is how long a public registry takes for an answer.
const publicLatency = 100 * time.Millisecond

// publicImages are what a homelab runs: the number of the registry, the repository, the tag, and those that are newer.
// A tag that is its own newer one was rebuilt.
var publicImages = []struct {
	registry         int
	repo, tag, newer string
}{
	{0, "library/nginx", "1.25.3-alpine", "1.27.2-alpine"},
	{0, "library/postgres", "15.6-bookworm", "15.8-bookworm"},
	{0, "library/redis", "7.4.1", ""},
	{0, "grafana/grafana", "10.4.2", "11.3.0"},
	{0, "deluan/navidrome", "latest", "latest"},
	{0, "library/eclipse-mosquitto", "2.0.18", "2.0.20"},
	{1, "home-assistant/home-assistant", "2024.9.3", "2024.10.4"},
	{1, "linuxserver/radarr", "5.11.0.9244-ls240", "5.14.0.9383-ls245"},
	{1, "immich-app/immich-server", "v1.117.0", "v1.119.1"},
	{1, "paperless-ngx/paperless-ngx", "2.12.1", ""},
	{2, "prometheus/prometheus", "v2.51.0", "v2.55.1"},
	{2, "uptime/monitor", "stable", "stable"},
}

// publicRegistries are registries that answer late, and only who fetched a token, which anybody may.
type publicRegistries struct {
	hosts    [3]string
	guarded  atomic.Bool
	requests atomic.Int64
}

func startPublic(b *testing.B) *publicRegistries {
	b.Helper()
	p := &publicRegistries{}
	for i := range p.hosts {
		server := httptest.NewServer(p.guard(registry.New(registry.Logger(log.New(io.Discard, "", 0)))))
		b.Cleanup(server.Close)
		p.hosts[i] = strings.TrimPrefix(server.URL, "http://")
	}
	return p
}

func (p *publicRegistries) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.guarded.Load() {
			next.ServeHTTP(w, r)
			return
		}
		p.requests.Add(1)
		time.Sleep(publicLatency)
		switch {
		case r.URL.Path == "/token":
			fmt.Fprint(w, `{"token":"anybody","expires_in":300}`)
		case r.Header.Get("Authorization") == "":
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="public"`, r.Host))
			w.WriteHeader(http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// BenchmarkFirstCheck is what somebody sees who has just got the program: dogwatch check beside a real engine with
// twelve containers of public images, with nothing configured and nothing stored. The figures are medians: the
// milliseconds until the first line and until the end, on a terminal and in a pipe.
func BenchmarkFirstCheck(b *testing.B) {
	engine, public := dockertest.Start(b), startPublic(b)
	for i, image := range publicImages {
		ref := public.hosts[image.registry] + "/" + image.repo + ":"
		runs := engine.Image(b, ref+image.tag, "LABEL text=old")
		engine.Push(b, ref+image.tag)
		engine.Run(b, fmt.Sprintf("app%02d", i), ref+image.tag, nil)
		if image.newer == "" {
			continue
		}
		engine.Image(b, ref+image.newer, "LABEL text=new")
		engine.Push(b, ref+image.newer)
		if err := engine.API.ImageTag(b.Context(), runs, ref+image.tag); err != nil { // which the engine has not pulled
			b.Fatal(err)
		}
	}
	public.guarded.Store(true)
	for _, terminal := range []bool{true, false} {
		b.Run(map[bool]string{true: "terminal", false: "pipe"}[terminal], func(b *testing.B) {
			var first, all, requests []float64
			for range b.N {
				public.requests.Store(0)
				began := time.Now()
				line, end, out := firstCheck(b, engine.Host, terminal)
				if !strings.Contains(out, "Checked 12 images in ") || strings.Contains(out, "failed") {
					b.Fatalf("it says\n%s", out)
				}
				first = append(first, float64(line.Sub(began).Milliseconds()))
				all = append(all, float64(end.Sub(began).Milliseconds()))
				requests = append(requests, float64(public.requests.Load()))
			}
			for unit, figures := range map[string][]float64{
				"ms-to-first-line": first, "ms-to-end": all, "requests": requests,
			} {
				slices.Sort(figures)
				b.ReportMetric(figures[len(figures)/2], unit)
			}
			b.ReportMetric(0, "ns/op") // an iteration takes as long as what is asked of it
		})
	}
}

// firstCheck runs dogwatch check and returns when it wrote something, when it had ended, and what it wrote.
func firstCheck(b *testing.B, engine string, onTerminal bool) (first, end time.Time, out string) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), filepath.Join(binaries, "dogwatch"), "check")
	cmd.Dir = b.TempDir()
	cmd.Env = []string{"HOME=" + cmd.Dir, "DOCKER_HOST=" + engine, "TERM=xterm"}
	var ours, theirs *os.File
	if onTerminal {
		ours, theirs = pseudoTerminal(b, 120)
	} else {
		var err error
		if ours, theirs, err = os.Pipe(); err != nil {
			b.Fatal(err)
		}
	}
	cmd.Stdout, cmd.Stderr = theirs, theirs
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	theirs.Close()
	var read bytes.Buffer
	for part := make([]byte, 4096); ; {
		n, err := ours.Read(part)
		if n > 0 && first.IsZero() {
			first = time.Now()
		}
		read.Write(part[:n])
		if err != nil {
			break // once the other end is closed
		}
	}
	if err := cmd.Wait(); err != nil {
		b.Fatalf("%v\n%s", err, read.String())
	}
	return first, time.Now(), read.String()
}
