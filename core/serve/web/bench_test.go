package web

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
)

// fleet is n containers in all states.
func fleet(n int) []sdk.Container {
	var all []sdk.Container
	for i := range n {
		c := webtest.Container(fmt.Sprintf("app%03d", i), webtest.In(fmt.Sprintf("stack%d", i/10)),
			webtest.Labelled("org.opencontainers.image.source", "https://example.org"))
		switch i % 5 {
		case 0:
			webtest.Newer("2.0.0", "major")(&c)
		case 1:
			webtest.Newer("1.1.0", "minor")(&c)
			c.Result.Created = sdk.TimeOf(webtest.Noon.Add(-100 * time.Hour))
		case 2:
			webtest.Failed("registry.hub.public: list tags: 503 service unavailable")(&c)
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

// BenchmarkContainersFleet is the first part of the list of 10,000 containers, compressed, and what it loads after an
// event.
func BenchmarkContainersFleet(b *testing.B) {
	u, _ := withStore(b, fleet(10_000)...)
	for name, path := range map[string]string{
		"page": "/containers", "last": "/containers?from=9900", "search": "/containers?q=app1",
		"rows": "/containers/rows?c=local/app001",
	} {
		b.Run(name, func(b *testing.B) {
			var size int
			for b.Loop() {
				size = request(u, "GET", path, nil, "Accept-Encoding", "gzip").Body.Len()
			}
			b.ReportMetric(float64(size), "bytes/page")
		})
	}
}

// BenchmarkRows is what a page loads after an event.
func BenchmarkRows(b *testing.B) {
	u, _ := withStore(b, fleet(500)...)
	for b.Loop() {
		request(u, "GET", "/containers/rows?c=local/app001&c=local/app002", nil, "Accept-Encoding", "gzip")
	}
}

// withNotes is a service whose containers all have the notes given.
type withNotes struct {
	application
	notes notes.Notes
}

func (s withNotes) Notes(context.Context, sdk.Container) notes.Notes { return s.notes }

// BenchmarkContainerWithNotes is the page of a container without script, with the
// notes of 50 releases in it; core/decide/notes measures how long the cache takes for those.
func BenchmarkContainerWithNotes(b *testing.B) {
	fake, _ := storedService(b, fleet(500)...)
	n := notes.Notes{Repository: "https://github.com/a/b"}
	body := "## Changes\n\n" + strings.Repeat("- a line with `code` and [a link](https://a.example/1)\n", 50)
	for i := range 50 {
		n.Notes = append(n.Notes, notes.Note{Version: fmt.Sprintf("v1.%d", 50-i), Body: body})
	}
	u := newUI(b, Options{BasePath: "/base", Logins: fakeLogins{}}, withNotes{fake, n})
	if page := request(u, "GET", "/containers/local/app000?notes=1", nil).Body.String(); !strings.Contains(page, "v1.50") {
		b.Fatal("the page shows no notes")
	}
	for b.Loop() {
		request(u, "GET", "/containers/local/app000?notes=1", nil, "Accept-Encoding", "gzip")
	}
}
