package notes

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkPage reads the notes of 50 releases from the cache, and renders as many as a page shows.
func BenchmarkPage(b *testing.B) {
	var list []string
	for i := range 50 {
		list = append(list,
			fmt.Sprintf(`{"tag_name":"v1.%d","body":%q}`, 50-i,
				"## Changes\n\n"+strings.Repeat("- a line with `code` and [a link](https://a.example/1)\n", 50)))
	}

	bench := newBench(b, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("[" + strings.Join(list, ",") + "]"))
	})
	c, render := updating("https://github.com/a/b", "1.0", "1.50"), NewRenderer()
	if n := bench.Of(b.Context(), c); len(n.Notes) != 50 {
		b.Fatal(n.Reason)
	}
	for b.Loop() {
		for _, one := range bench.Of(b.Context(), c).Notes[:10] {
			_ = render.HTML(one.Body)
		}
	}
}
