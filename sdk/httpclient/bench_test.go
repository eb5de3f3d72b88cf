package httpclient

import (
	"io"
	"net/http"
	"runtime"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func BenchmarkJSON(b *testing.B) {
	s := httptestServer(b)
	c, err := New(sdk.Env{UserAgent: "dogwatch/test"}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	var out struct{ A int }
	b.ReportAllocs()
	for b.Loop() {
		if err := c.JSON(b.Context(), http.MethodGet, s, nil, nil, &out); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIdle reports what a client with one connection in waiting costs, server side included.
func BenchmarkIdle(b *testing.B) {
	s := httptestServer(b)
	clients := make([]*Client, 0, b.N)
	before := heap()
	for range b.N {
		c, err := New(sdk.Env{}, Options{})
		if err != nil {
			b.Fatal(err)
		}
		clients = append(clients, c)
		if err := c.JSON(b.Context(), http.MethodGet, s, nil, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(heap()-before)/float64(b.N), "B/client")
	for _, c := range clients {
		c.Close()
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

func httptestServer(b *testing.B) string {
	return serve(b, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"A":1}`) }).URL
}
