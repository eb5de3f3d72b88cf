package web

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestRelative(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "just now", 6 * time.Second: "6 s ago", 90 * time.Second: "1 min ago", 3 * time.Hour: "3 h ago", 49 * time.Hour: "2 d ago", 100 * 24 * time.Hour: "3 months ago",
		900 * 24 * time.Hour: "2 years ago", -12 * time.Minute: "in 12 min", -time.Millisecond: "now",
	} {
		if got := relative(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestSafeLink(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.org/a?b=c": "https://example.org/a?b=c", " http://example.org": "http://example.org",
		"javascript:alert(1)": "", "JaVaScRiPt://example.org/%0aalert(1)": "", "data:text/html,x": "", "//example.org": "", "/local": "", "https:": "", "": "", "ht\ntp://x": "", "vbscript:x": "",
	} {
		if got := safeLink(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestLocalPath(t *testing.T) {
	for text, want := range map[string]string{
		"/containers?q=x": "/containers?q=x", "": "/", "//evil.example": "/", "https://evil.example": "/", `/\evil.example`: "/", "/a\r\nSet-Cookie: x": "/", "containers": "/", "/\t/evil.example": "/",
	} {
		if got := localPath(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	for want, got := range map[string]string{"1 try": plural(1, "try"), "2 tries": plural(2, "try"), "0 updates": plural(0, "update")} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestIconOfImage(t *testing.T) {
	u, _ := withStore(t)
	for _, c := range [][3]string{
		{"mdi:docker", "library/nginx", "nginx"}, {"", "library/postgres", "postgresql"}, {"si:nextcloud", "x/y", "nextcloud"}, {"", "home-assistant/home-assistant", "homeassistant"},
		{"", "grafana/loki", "grafana"}, {"", "nobody/knows", genericIcon}, {evil, evil, genericIcon}, {"", "", genericIcon},
	} {
		if got := u.assets.icon(c[0], c[1]); got != c[2] {
			t.Errorf("%q %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestHeaders(t *testing.T) {
	u, _ := withStore(t, a("web"))
	for _, path := range []string{"/", "/containers", "/containers/local/web", "/nowhere"} {
		h := request(u, "GET", path, nil).Header()
		policy := h.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'self'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the policy %q", path, policy)
		}
		if h.Get("Cache-Control") != "no-store" || !strings.Contains(h.Get("Vary"), "HX-Request") {
			t.Errorf("%s has the headers %v", path, h)
		}
	}
}

// TestFrames: pages are shown in frames of our own pages, and in those of the
// dashboards that the operator named.
func TestFrames(t *testing.T) {
	for _, test := range []struct {
		origins              []string
		ancestors, forOthers string
	}{
		{nil, "frame-ancestors 'self'", "SAMEORIGIN"},
		{[]string{"https://dash.example.org", "http://nas:7575"}, "frame-ancestors 'self' https://dash.example.org http://nas:7575", ""},
		{[]string{"*"}, "frame-ancestors 'self' *", ""},
	} {
		u, _ := withStore(t, a("web"))
		u.FrameAncestors = test.origins
		refused := httptest.NewRecorder()
		u.Logins = fakeLogins{}
		u.Refuse(refused, httptest.NewRequest("GET", "/", nil), http.StatusUnauthorized, "log in again")
		for path, h := range map[string]http.Header{
			"/": request(u, "GET", "/", nil).Header(), "/containers": request(u, "GET", "/containers", nil).Header(), "/nowhere": request(u, "GET", "/nowhere", nil).Header(), "a refusal": refused.Header(),
		} {
			parts := strings.Split(h.Get("Content-Security-Policy"), "; ")
			if got := parts[len(parts)-1]; got != test.ancestors || h.Get("X-Frame-Options") != test.forOthers {
				t.Errorf("%s with %v: %q and %q", path, test.origins, got, h.Get("X-Frame-Options"))
			}
		}
	}
}

func TestAssets(t *testing.T) {
	u, _ := withStore(t)
	for file := range u.assets.names {
		path := strings.TrimPrefix(u.assetPath(file), "/base")
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

// TestFirstLoad adds up what a browser that never was here loads for the list.
func TestFirstLoad(t *testing.T) {
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

func TestTheme(t *testing.T) {
	u, _ := withStore(t)
	w := request(u, "POST", "/theme", map[string][]string{"theme": {"dark"}, "back": {"//evil.example"}})
	cookie := w.Result().Cookies()[0]
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/base/" || cookie.Value != "dark" || !cookie.HttpOnly {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if page := request(u, "GET", "/", nil, "Cookie", "dogwatch-theme=dark").Body.String(); !strings.Contains(page, `data-theme="dark"`) {
		t.Error("the choice has no effect")
	}
	if page := request(u, "GET", "/", nil, "Cookie", "dogwatch-theme=evil").Body.String(); strings.Contains(page, `data-theme`) {
		t.Error("an unknown theme has an effect")
	}
}

func TestWork(t *testing.T) {
	now := noon
	changed := make(chan struct{}, 1000)
	w := newTasks(func() time.Time { return now }, func() { changed <- struct{}{} })
	proceed, stepped := make(chan struct{}), make(chan struct{})
	if !w.start("Checking", 2, func(_ context.Context, step func()) (string, bool) {
		step()
		close(stepped)
		<-proceed
		return "Done.", false
	}) {
		t.Fatal("it does not start")
	}
	<-stepped
	if v := w.view(); !v.Running || v.Tasks[0].Done != 1 {
		t.Errorf("while it runs: %+v", v)
	}
	w.dismiss(1)
	if v := w.view(); len(v.Tasks) != 1 {
		t.Error("running work was dismissed")
	}
	close(proceed)
	w.wait.Wait()
	if v := w.view(); v.Running || v.Tasks[0].Sentence != "Done." {
		t.Errorf("afterwards: %+v", v)
	}
	if len(changed) != 4 { // that it began, went on, was not dismissed, and ended
		t.Errorf("pages are changed %d times", len(changed))
	}
	now = now.Add(shownFor + time.Second)
	if v := w.view(); len(v.Tasks) != 0 {
		t.Errorf("much later: %+v", v)
	}
	for range maxTasks {
		w.start("Waiting", 1, func(ctx context.Context, _ func()) (string, bool) {
			<-ctx.Done()
			return "Ended.", true
		})
	}
	if w.start("Too much", 1, nil) {
		t.Error("there is no bound")
	}
	w.close()
	if w.start("Too late", 1, nil) {
		t.Error("it starts after the end")
	}
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
