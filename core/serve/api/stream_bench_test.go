package api

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
)

// counting counts the queries of streams for events.
type counting struct {
	EventLog
	queries atomic.Int64
}

func (c *counting) Events(ctx context.Context, after int64, limit int) ([]event.Event, error) {
	c.queries.Add(1)
	return c.EventLog.Events(ctx, after, limit)
}

// open is a client of a stream that costs this process nothing but its socket.
func open(b *testing.B, w *testServer) net.Conn {
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprint(conn,
		"GET /api/events HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36\r\n"+
			"Accept: text/event-stream\r\nAccept-Encoding: gzip, deflate, br\r\nCookie: dogwatch-theme=dark\r\nSec-Fetch-Site: same-origin\r\n\r\n"); err != nil {
		b.Fatal(err)
	}
	return conn
}

// until reads until a text has come.
func until(b *testing.B, conn net.Conn, buffer []byte, text string) {
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		b.Fatal(err)
	}
	kept := 0
	for !strings.Contains(string(buffer[:kept]), text) {
		if kept > len(buffer)/2 {
			kept = copy(buffer, buffer[kept-len(text):kept])
		}
		n, err := conn.Read(buffer[kept:])
		if err != nil {
			b.Fatal(err)
		}
		kept += n
	}
}

// used is what the heap and the stacks of this process hold, in bytes.
func used() float64 {
	var m runtime.MemStats
	for range 3 { // a collection halves a stack at a time
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// BenchmarkStreams has one event after the other reach 50 streams: what a
// stream occupies when idle (heap and stacks, after some events), and how often the
// store is queried for each event.
func BenchmarkStreams(b *testing.B) {
	const streams = 50
	store := &counting{}
	w := start(b, nil, func(o *testOptions) { store.EventLog, o.Events = o.Events, store })
	commitEvents := func() {
		if err := w.store.Commit(b.Context(), event.Change{Events: []event.Event{updateOf(nginx())}}); err != nil {
			b.Fatal(err)
		}
	}
	buffer := make([]byte, 64<<10)
	until(b, open(b, w), buffer, "id: ")
	before := used()
	var all []net.Conn
	for range streams {
		conn := open(b, w)
		until(b, conn, buffer, "id: ")
		all = append(all, conn)
	}
	id, queries := 0, store.queries.Load()
	for b.Loop() {
		commitEvents()
		id++
		for _, conn := range all {
			until(b, conn, buffer, fmt.Sprintf("id: %d\n", id))
		}
	}
	b.ReportMetric(float64(store.queries.Load()-queries)/float64(id), "queries/event")
	b.ReportMetric((used()-before)/streams, "B/stream")
}
