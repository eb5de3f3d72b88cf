package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestAssetsAreCompressedAndCached(t *testing.T) {
	u, _ := withStore(t)
	files, err := os.ReadDir("page/static")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		file := f.Name()
		path := strings.TrimPrefix(u.AssetPath(file), "/base")
		plain, packed := request(u, "GET", path, nil), request(u, "GET", path, nil, "Accept-Encoding", "br, gzip;q=1.0")
		z, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if body, err := io.ReadAll(z); err != nil || string(body) != plain.Body.String() {
			t.Errorf("%s differs when it is compressed (%v)", file, err)
		}
		if cache := plain.Header().Get("Cache-Control"); !strings.Contains(cache, "immutable") {
			t.Errorf("%s has the caching %q", file, cache)
		}
	}
	if w := request(u, "GET", "/static/app.css", nil); w.Code != http.StatusNotFound {
		t.Errorf("a file without its hash: %d", w.Code)
	}
}

// TestFirstLoadIsSmall adds up what a browser that never was here loads for the list.
func TestFirstLoadIsSmall(t *testing.T) {
	u, _ := withStore(t, fleet(60)...)
	page := request(u, "GET", "/containers", nil, "Accept-Encoding", "gzip")
	html := page.Body.Len()
	text := request(u, "GET", "/containers", nil).Body.String()
	total := html
	var seen []string
	for _, m := range regexp.MustCompile(`(?:href|src)="/base(/static/[^"#]+)`).FindAllStringSubmatch(text, -1) {
		if !slices.Contains(seen, m[1]) {
			seen = append(seen, m[1])
			total += request(u, "GET", m[1], nil, "Accept-Encoding", "gzip").Body.Len()
		}
	}
	t.Logf("%d bytes of which %d are the page", total, html)
	if len(seen) < 5 || total > 120<<10 || html > 30<<10 {
		t.Errorf("the first load is %d bytes in %d files, of which %d are the page", total, len(seen), html)
	}
	if nodes := strings.Count(text, "<") - strings.Count(text, "</"); nodes > 6000*60/200 {
		t.Errorf("%d nodes for 60 containers", nodes)
	}
}
