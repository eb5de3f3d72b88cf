package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin/reload"
)

// BenchmarkReload measures how long a Dogwatch with 40 components takes to read a file
// in which one of them is another one (ms/reload): from the request to the response, after which
// that one is configured anew. It is at most a second.
func BenchmarkReload(b *testing.B) {
	const components = 40
	file := filepath.Join(shortDir(b), "dogwatch.yaml")
	write := func(round int) {
		var text strings.Builder
		for i := range components {
			fmt.Fprintf(&text, "trigger.http.t%d: {url: 'http://127.0.0.1:1/%d', auto: false}\n", i, i)
		}
		fmt.Fprintf(&text, "trigger.http.t0.simpletitle: round %d\n", round)
		must(b, os.WriteFile(file, []byte(text.String()), 0o600))
	}
	write(-1)
	d := install(b, "DOGWATCH_CONFIG="+file, "DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET=/nowhere").start()
	defer d.stop()
	m, slowest := medians{}, 0.0
	for i := range b.N {
		write(i)
		began := time.Now()
		done := get[reload.Result](d, http.MethodPost, "/api/reload")
		ms := float64(time.Since(began).Microseconds()) / 1000
		if !done.Applied || len(done.Changed) != 1 || done.Restart {
			b.Fatalf("the reload: %+v", done)
		}
		m.add("ms/reload", ms)
		slowest = max(slowest, ms)
	}
	m.add("ms/reload-longest", slowest)
	m.report(b)
	if slowest > 1000 {
		b.Errorf("a reload took %.0f ms, more than a second", slowest)
	}
}
