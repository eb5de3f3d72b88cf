package e2e

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// talks has a container write two lines.
func talks(c *container.Config, _ *container.HostConfig) {
	c.Cmd = []string{"write", `"first words\nlast <words>\n"`, `""`, "1"}
}

// tab is the page of a container with its log, or with its details where there is none.
func (d *daemon) tab(watcher, name string) string {
	d.t.Helper()
	status, page := d.request(http.MethodGet, "/containers/"+watcher+"/"+name+"?tab=log", "")
	if status != http.StatusOK {
		d.t.Fatalf("the page of %s: %d", name, status)
	}
	return string(page)
}

// showsLog requires that the last line of a container that talks is on its page, and in the API.
func (d *daemon) showsLog(watcher, name string) {
	d.t.Helper()
	eventually(d.t, "the last line is on the page", func() bool {
		return strings.Contains(d.tab(watcher, name), "<span>last &lt;words&gt;</span></li></ol>")
	})
	status, text := d.request(http.MethodGet, "/api/containers/"+known(d, name).ID+"/log?lines=1", "")
	if status != http.StatusOK || !strings.Contains(string(text), `"message":"last <words>"`) ||
		strings.Contains(string(text), "first words") {
		d.t.Errorf("the API says %d %s", status, text)
	}
}

// showsNoLog requires that a container has no log on its page, and that the page and the API say what would show it.
func (d *daemon) showsNoLog(watcher, name, remedy string) {
	d.t.Helper()
	page := d.tab(watcher, name)
	if strings.Contains(page, "last &lt;words&gt;") || strings.Contains(page, "data-tab>Log<") ||
		!strings.Contains(page, "<code>"+remedy+"</code>") {
		d.t.Errorf("the page of %s is\n%s", name, page)
	}
	status, text := d.request(http.MethodGet, "/api/containers/"+known(d, name).ID+"/log", "")
	if status != http.StatusForbidden || !strings.Contains(string(text), remedy) {
		d.t.Errorf("the API says %d %s", status, text)
	}
}

// TestLogIsShownWhereAllowed, on the page of a real container and by the API.
func TestLogIsShownWhereAllowed(t *testing.T) {
	t.Parallel()
	engine := dockertest.Start(t)
	p := &product{engine: engine, repo: "app"}
	engine.Image(t, "app:1")
	p.run(t, "web", "1", talks)
	for _, allowed := range []bool{false, true} {
		env := []string{"DOGWATCH_WATCHER_LOCAL_SOCKET=" + strings.TrimPrefix(engine.Host, "unix://")}
		if allowed {
			env = append(env, "DOGWATCH_WATCHER_LOCAL_LOGS=true")
		}
		d := install(t, env...).start()
		d.watch()
		if allowed {
			d.showsLog("local", "web")
		} else {
			d.showsNoLog("local", "web", "DOGWATCH_WATCHER_LOCAL_LOGS=true")
		}
	}
}

// TestBrowserLogFits narrow windows, whatever a container writes.
func TestBrowserLogFits(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	engine := dockertest.Start(t)
	p := &product{engine: engine, repo: "app"}
	engine.Image(t, "app:1")
	p.run(t, "wide", "1", func(c *container.Config, _ *container.HostConfig) {
		long := strings.Repeat("x", 90) + " GET /a/path/that/has/no/end/" + strings.Repeat("deeper/", 20) + " 200"
		c.Cmd = []string{"write", strconv.Quote(long + "\n"), strconv.Quote("bad " + long + "\n"), "100"}
	})
	d := install(t, "DOGWATCH_WATCHER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"),
		"DOGWATCH_WATCHER_LOCAL_LOGS=true").start()
	d.watch()
	b := openTab(t, d.url)
	for name, width := range map[string]int64{"lens": 195, "phone": 390, "desk": 1280} {
		b.size(width, 860)
		b.open("/containers/local/wide?tab=log")
		b.until("document.querySelectorAll('.output li').length === 200")
		b.shot(name)
		if over := js[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			t.Errorf("at %d pixels the page is %d too wide", width, over)
		}
		if cut := js[int](b, "[...document.querySelectorAll('.output, .output li')].filter(e => e.scrollWidth > e.clientWidth + 1).length"); cut > 0 {
			t.Errorf("at %d pixels %d lines do not wrap", width, cut)
		}
	}
}
