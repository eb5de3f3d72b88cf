package api

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// thousand is a fleet whose containers have the labels that compose gives them.
func thousand() []sdk.Container {
	var many []sdk.Container
	for i := range 1000 {
		c := nginx()
		digest := func(of string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(fmt.Sprint(of, i)))) }
		c.ID, c.Name, c.Image.ID, c.Image.Digest.Repo, c.Result.Digest = digest("id"), fmt.Sprintf("app-%04d", i),
			digest("image"), digest("repo"), digest("new")
		c.Labels = map[string]string{}
		for _, key := range []string{"config-hash", "container-number", "depends_on", "image", "oneoff", "project",
			"project.config_files", "project.working_dir", "service", "version"} {
			c.Labels["com.docker.compose."+key] = fmt.Sprintf("/srv/%s-%d/docker-compose.yml", key, i)
		}
		c.Labels["com.docker.compose.config-hash"] = digest("config")
		many = append(many, c)
	}
	return many
}

// BenchmarkListContainers requests 1,000 containers over a real connection.
func BenchmarkListContainers(b *testing.B) {
	for name, headers := range map[string]http.Header{
		"plain":    {},
		"gzip":     {"Accept-Encoding": {"gzip"}},
		"filtered": {"X-Query": {"updateAvailable=true&image.architecture=amd64"}},
	} {
		b.Run(name, func(b *testing.B) {
			w := start(b, nil)
			w.put(thousand()...)
			transport := &http.Transport{DisableCompression: true}
			defer transport.CloseIdleConnections()
			r, err := http.NewRequest("GET", w.url+"/api/containers?"+headers.Get("X-Query"), nil)
			if err != nil {
				b.Fatal(err)
			}
			r.Header = headers
			var took []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				began := time.Now()
				resp, err := transport.RoundTrip(r)
				if err != nil {
					b.Fatal(err)
				}
				n, err := io.Copy(io.Discard, resp.Body)
				if err != nil || resp.StatusCode != 200 {
					b.Fatal(resp.Status, err)
				}
				resp.Body.Close()
				took = append(took, time.Since(began))
				b.SetBytes(n)
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// BenchmarkCompress is what the first request after a change costs, and what is kept of it.
func BenchmarkCompress(b *testing.B) {
	w := start(b, nil)
	w.put(thousand()...)
	snapshot := w.store.Snapshot()
	var kept int
	for b.Loop() {
		var l compressedList
		body, err := l.encode(snapshot)
		if err != nil {
			b.Fatal(err)
		}
		kept = cap(body)
	}
	b.ReportMetric(float64(kept)/1024, "kept-KiB")
}

// BenchmarkMetrics scrapes 1,000 containers over a real connection.
func BenchmarkMetrics(b *testing.B) {
	w := start(b, nil)
	w.put(thousand()...)
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequest("GET", w.url+"/metrics", nil)
	if err != nil {
		b.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.ReportAllocs()
	for b.Loop() {
		resp, err := transport.RoundTrip(r)
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
		b.SetBytes(n)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(max(0, float64(after.HeapAlloc)-float64(before.HeapAlloc))/1024, "kept-KiB")
}
