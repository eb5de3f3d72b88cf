package metrics

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func thousand() []sdk.Container {
	var many []sdk.Container
	for i := range 1000 {
		many = append(many, container("local", fmt.Sprintf("app-%d", i)))
	}
	return many
}

func BenchmarkScrape(b *testing.B) {
	m, many := eventful(), thousand()
	handler := m.Handler(func(context.Context) (State, error) {
		return State{Containers: each(many...), Components: components()}, nil
	})
	server := httptest.NewServer(handler)
	defer server.Close()
	b.ReportAllocs()
	for b.Loop() {
		resp, err := http.Get(server.URL)
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
}
