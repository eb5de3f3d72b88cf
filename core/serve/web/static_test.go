package web

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
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

// TestManifest: a browser can install the pages, with icons that are there and shortcuts that lead somewhere.
func TestManifest(t *testing.T) {
	u := withFakes(t, nil)
	_, body := get(t, u, "/")
	webtest.Contains(t, body, `<link rel="manifest" href="/base/manifest.webmanifest">`, `rel="apple-touch-icon"`,
		`<meta name="theme-color" content="#14171b" media="(prefers-color-scheme: dark)">`)
	w := request(u, "GET", "/manifest.webmanifest", nil)
	var m struct {
		StartURL  string `json:"start_url"`
		Scope     string
		Display   string
		Icons     []struct{ Src, Sizes, Purpose string }
		Shortcuts []struct{ Name, URL string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	if w.Header().Get("Content-Type") != "application/manifest+json" || m.StartURL != "/base/" || m.Scope != "/base/" ||
		m.Display != "standalone" || len(m.Icons) != 4 || len(m.Shortcuts) != 2 {
		t.Errorf("%s %+v", w.Header(), m)
	}
	for _, icon := range m.Icons {
		got := request(u, "GET", strings.TrimPrefix(icon.Src, "/base"), nil)
		config, err := png.DecodeConfig(got.Body)
		if size := fmt.Sprintf("%dx%d", config.Width, config.Height); err != nil || size != icon.Sizes {
			t.Errorf("%s is %s: %v", icon.Src, size, err)
		}
	}
	for _, s := range m.Shortcuts {
		if got := request(u, "GET", strings.TrimPrefix(s.URL, "/base"), nil); got.Code != http.StatusOK {
			t.Errorf("%s leads to %d", s.Name, got.Code)
		}
	}
}
