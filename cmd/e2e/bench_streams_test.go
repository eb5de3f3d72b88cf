package e2e

import (
	"fmt"
	"math"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// BenchmarkStreams opens 50 streams of events, as 50 visible tabs do, and
// measures what the program occupies more one second after a check, at the
// least of four. Figures are medians; the benchmark of the same name in core/serve/api says how often the store is
// asked.
func BenchmarkStreams(b *testing.B) {
	if _, err := os.Stat("/proc/self/smaps_rollup"); err != nil {
		b.Skip("this system does not tell how much memory processes have")
	}
	const streams, containers = 50, 20
	m := medians{}
	for range b.N {
		f := newFleet(b, containers, registrysim.Options{})
		d := install(b, append(f.env(), "DOGWATCH_LOG_LEVEL=info")...).start()
		rest := func() float64 {
			least := math.Inf(1)
			for range 4 {
				d.check()
				time.Sleep(time.Second) // the processes give back what only a check needs
				least = min(least, d.memory())
			}
			return least
		}
		d.checked(time.Now())
		before := rest()
		for range streams {
			conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
			must(b, err)
			b.Cleanup(func() { conn.Close() })
			_, err = fmt.Fprint(conn, "GET /api/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
			must(b, err)
			_, err = conn.Read(make([]byte, 1))
			must(b, err)
		}
		m.add("kB-anon/stream", (rest()-before)*1024/streams)
		d.stop()
	}
	m.report(b)
}
