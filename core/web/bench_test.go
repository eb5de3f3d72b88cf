package web

import (
	"fmt"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// fleet is n containers in all states.
func fleet(n int) []sdk.Container {
	var all []sdk.Container
	for i := range n {
		c := a(fmt.Sprintf("app%03d", i), labelled("com.docker.compose.project", fmt.Sprintf("stack%d", i/10)), labelled("org.opencontainers.image.source", "https://example.org"))
		switch i % 5 {
		case 0:
			newer("2.0.0", "major")(&c)
		case 1:
			newer("1.1.0", "minor")(&c)
			c.Result.Created = sdk.TimeOf(noon.Add(-100 * time.Hour))
		case 2:
			failed("registry.hub.public: list tags: 503 service unavailable")(&c)
		}
		all = append(all, c)
	}
	return all
}

// BenchmarkContainers500 is the list of 500 containers, compressed.
func BenchmarkContainers500(b *testing.B) {
	u, _ := withStore(b, fleet(500)...)
	var size int
	for b.Loop() {
		size = request(u, "GET", "/containers", nil, "Accept-Encoding", "gzip").Body.Len()
	}
	b.ReportMetric(float64(size), "bytes/page")
}

// BenchmarkRows is what a page loads after an event.
func BenchmarkRows(b *testing.B) {
	u, _ := withStore(b, fleet(500)...)
	for b.Loop() {
		request(u, "GET", "/containers/rows?c=local/app001&c=local/app002", nil, "Accept-Encoding", "gzip")
	}
}
