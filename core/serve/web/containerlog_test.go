package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestLogOfContainer: the tab has the last lines where they may be read, and says why where there are none.
func TestLogOfContainer(t *testing.T) {
	at := sdk.TimeOf(webtest.Noon.Add(-time.Hour))
	running := webtest.Container("web")
	stopped := webtest.Container("web", func(c *sdk.Container) { c.Status = "exited" })
	lines := watcher.Log{Lines: []watcher.LogLine{{At: at, Text: webtest.Evil + " https://example.org/"}, {Text: "oops", Stderr: true}}}
	for _, c := range []struct {
		name      string
		container sdk.Container
		log       watcher.Log
		err       error
		want      []string
	}{
		{"lines", running, lines, nil, []string{
			`<li><time datetime="2026-03-29T11:00:00Z">2026-03-29 11:00:00</time> <span>&#34;&gt;&lt;script&gt;`,
			`<li class="stderr"><span class="kind failed">stderr</span> <span>oops</span></li>`,
		}},
		{"full", running, watcher.Log{Lines: make([]watcher.LogLine, watcher.MaxLogLines)}, nil, []string{
			"The last 200 lines; older ones are not shown here.",
		}},
		{"stopped", stopped, lines, nil, []string{"This is what it wrote last.", "oops"}},
		{"nothing", running, watcher.Log{}, nil, []string{"The container has written nothing yet."}},
		{"stopped with nothing", stopped, watcher.Log{}, nil, []string{"The container does not run, and it wrote nothing."}},
		{"driver", running, watcher.Log{UnreadableDriver: "<none>"}, nil, []string{"the log driver &lt;none&gt; of the container"}},
		{"gone", running, watcher.Log{}, service.ErrNotFound, []string{"The engine does not have this container any more"}},
		{"no ability any more", running, watcher.Log{}, service.ErrNoLog, []string{"Its watcher reads no logs any more."}},
		{"failed", running, watcher.Log{}, errors.New("no <engine>"), []string{`could not be read: no &lt;engine&gt;`}},
	} {
		u, _ := withStore(t, c.container)
		f := fakes(u)
		f.log, f.fakeContainers.err, f.access = c.log, c.err, service.LogAccess{Allowed: true}
		body := request(u, "GET", "/containers/local/web?tab=log", nil).Body.String()
		webtest.Contains(t, body, append(c.want, `href="/base/containers/local/web?tab=log" aria-current="page" data-tab>Log<`, ">Refresh</a>")...)
		webtest.MustBeInert(t, body)
		if strings.Contains(body, `href="https://example.org`) {
			t.Errorf("%s: what a container wrote is a link", c.name)
		}
		part := request(u, "GET", "/containers/local/web/log", nil, "HX-Request", "true").Body.String()
		if strings.Contains(part, "<html") {
			t.Errorf("%s: the part is a page", c.name)
		}
		webtest.Contains(t, part, c.want...)
	}
}

func TestLogOfContainerIsThereWhereAllowed(t *testing.T) {
	const variable, flag = "<code>DOGWATCH_WATCHER_LOCAL_LOGS=true</code>", "<code>dogwatch agent --logs</code>"
	for access, says := range map[service.LogAccess]string{
		{}: "",
		{Variable: "DOGWATCH_WATCHER_LOCAL_LOGS"}:                "to show it, set " + variable + "</dd>",
		{Variable: "DOGWATCH_WATCHER_LOCAL_LOGS", ByOwner: true}: "to show it, set " + variable + ", and on its host " + flag,
		{ByOwner: true}: "its host shows it with " + flag,
	} {
		u, _ := withStore(t, webtest.Container("web"))
		f := fakes(u)
		f.access, f.log = access, watcher.Log{Lines: []watcher.LogLine{{Text: "private"}}}
		body := request(u, "GET", "/containers/local/web?tab=log", nil).Body.String()
		if strings.Contains(body, " data-tab>Log<") || strings.Contains(body, "private") {
			t.Errorf("%+v: there is a tab", access)
		}
		webtest.Contains(t, body, "<dt>First seen</dt>", says) // those are the details
		if says == "" && strings.Contains(body, "<dt>Log</dt>") {
			t.Errorf("%+v: the details name the log", access)
		}
	}
	u, _ := withStore(t, webtest.Container("web"))
	fakes(u).access = service.LogAccess{Allowed: true}
	if w := request(u, "GET", "/containers/local/web/log", nil); w.Code != http.StatusFound ||
		w.Header().Get("Location") != "/base/containers/local/web?tab=log" {
		t.Errorf("without script, the part leads to %d %s", w.Code, w.Header().Get("Location"))
	}
	sheet := request(u, "GET", "/containers/local/web?tab=log", nil, "HX-Request", "true").Body.String()
	webtest.Contains(t, sheet, `hx-get="/base/containers/local/web/log"`)
}

// TestLogThatMayNotBeReadAnyMore says whose right was lost since the tab was opened.
func TestLogThatMayNotBeReadAnyMore(t *testing.T) {
	for want, c := range map[string]struct {
		scope  auth.Scope
		access service.LogAccess
	}{
		"You may not read logs any more.":                             {auth.Read, service.LogAccess{}},
		"Its watcher may not read logs any more.":                     {auth.Write, service.LogAccess{Variable: "X"}},
		"The owner of its host does not allow reading logs any more.": {auth.Write, service.LogAccess{ByOwner: true}},
	} {
		u, _ := withStore(t, webtest.Container("web"))
		f := fakes(u)
		f.fakeContainers.err, f.access = service.ErrForbidden, c.access
		r := httptest.NewRequest("GET", "/containers/local/web/log", nil).WithContext(
			auth.With(t.Context(), auth.Identity{User: "bob", Method: "basic.main", Scope: c.scope}))
		r.Header.Set("HX-Request", "true")
		_, body := respond(t, u, r)
		webtest.Contains(t, body, want)
	}
}
