package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

// stay makes sure that a page is not loaded anew from here on.
func (b *tab) stay() {
	b.t.Helper()
	b.settle()
	js[any](b, "window.stayed = true, 0")
}

func (b *tab) stayed(what string) {
	b.t.Helper()
	if !js[bool](b, "window.stayed === true") {
		b.t.Errorf("%s: the page was loaded anew", what)
	}
}

// hold lets no registry answer until release is called.
func (l *lab) hold() (release func()) {
	gate := make(chan struct{})
	wait := func() { <-gate }
	l.requested.Store(&wait)
	release = sync.OnceFunc(func() {
		l.requested.Store(nil)
		close(gate)
	})
	l.daemon.t.Cleanup(release) // else the registries of a failed test would wait for their clients
	return release
}

// TestBrowserShowsProgressOfAPIChecks holds a check of the API in the middle and looks at who says that it runs.
func TestBrowserShowsProgressOfAPIChecks(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	l := startLab(t, 3)
	b := openTab(t, l.url)
	for path, running := range map[string]string{
		"/": "is being checked now", "/watchers": "Being checked now", "/watchers/docker/local": "being checked",
	} {
		b.open(path)
		b.stay()
		release, checked := l.hold(), make(chan struct{})
		go func() {
			defer close(checked)
			l.request(http.MethodPost, "/api/containers/watch", "")
		}()
		b.says(running)
		b.until("document.querySelector('main progress')")
		b.shot("running" + strings.ReplaceAll(path, "/", "_"))
		release()
		<-checked
		b.until("!document.querySelector('main progress')")
		b.stayed(path)
	}
}

// TestBrowserMarksPendingTestRun holds what a page asks a registry for, and looks at what waits for it.
func TestBrowserMarksPendingTestRun(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	l := startLab(t, 1)
	b := openTab(t, l.url)
	for name, width := range map[string]int64{"phone": 390, "desk": 1440} {
		b.size(width, 860)
		b.open("/registries/custom/sim0")
		b.settle()
		js[any](b, "document.getElementById('image').value = "+quoted(l.hosts[0]+"/"+l.repo(0)+":1.0.0"))
		release := l.hold()
		b.click("form.ask button")
		b.until("getComputedStyle(document.querySelector('#test-result[aria-busy=true]'), '::before').opacity === '1'")
		b.shot("waits-" + name)
		release()
		b.until("document.querySelector('#test-result .verdict') && !document.querySelector('#test-result[aria-busy]')")
	}
}

// TestBrowserNotesFollowUpdate finds updates while the page of a container is open: the section of
// release notes comes with the first, and is fetched again for another one only.
func TestBrowserNotesFollowUpdate(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	l := startLab(t, 4)
	l.settled()
	of := slices.IndexFunc(l.containers(), func(c sdk.Container) bool {
		return strings.HasSuffix(c.Image.Name, l.repo(3))
	})
	one := l.containers()[of]
	b := openTab(t, l.url)
	b.open("/containers/local/" + one.Name + "?tab=notes")
	b.says("Nothing newer is known, so there are no release notes to read.")
	if js[bool](b, "!!document.querySelector('#notes')") {
		t.Error("the page tells what no update brings")
	}
	b.stay()
	for _, tag := range []string{"1.1.0", "1.2.0"} {
		l.registry(3).Push(l.repo(3), tag)
		if status, body := l.request(http.MethodPost, "/api/containers/watch", ""); status != http.StatusOK {
			t.Fatalf("check: %d %s", status, body)
		}
		b.until("document.getElementById('brings').dataset.about === '1.0.0 " + tag + "'")
		js[any](b, "document.getElementById('brings').scrollIntoView()")
		b.until("document.querySelector('#notes > :not(.lazy)')")
		b.says("Release notes")
	}
	next := time.Now().AddDate(1, 0, 0)
	js[any](b, "document.getElementById('notes').same = true, 0")
	if status, body := l.request(http.MethodPost, "/api/containers/"+one.ID+"/snooze",
		`{"until": "`+next.Format(time.DateOnly)+`"}`); status != http.StatusOK {
		t.Fatalf("snooze: %d %s", status, body)
	}
	b.until("document.getElementById('decide').innerText.includes('" + next.Format("2006") + "')")
	if !js[bool](b, "document.getElementById('notes').same === true") {
		t.Error("the notes were fetched again for the same update")
	}
	b.stayed("new updates")
}

// TestBrowserHistoryUpdatesLive has new rows wait behind a bar, and rows that are there change in place.
func TestBrowserHistoryUpdatesLive(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	var broken atomic.Bool
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(hook.Close)
	l := startLab(t, 3, "DOGWATCH_TRIGGER_HTTP_LIVE_URL="+hook.URL)
	l.settled()
	b := openTab(t, l.url)
	find := func(tag string) {
		t.Helper()
		l.registry(0).Push(l.repo(0), tag)
		if status, body := l.request(http.MethodPost, "/api/containers/watch", ""); status != http.StatusOK {
			t.Fatalf("check: %d %s", status, body)
		}
	}
	const first = "document.querySelector('#log tbody tr').id"

	b.open("/history")
	b.stay()
	before := js[string](b, first)
	find("3.0.0")
	b.until("!document.getElementById('behind').hidden && document.getElementById('behind').innerText.includes('new')")
	if now := js[string](b, first); now != before {
		t.Errorf("the log moved: %s is where %s was", now, before)
	}
	b.until("document.getElementById('live').textContent.includes('new')")
	b.shot("behind")
	b.size(390, 860)
	b.shot("behind-phone")
	if over := js[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
		t.Errorf("with the bar, the page is %d too wide on a phone", over)
	}
	b.click("#behind button")
	b.until("document.getElementById('behind').hidden && document.querySelector('#log').innerText.includes('3.0.0') && " + first + " !== " + quoted(before))
	b.stayed("history")
	l.settled()

	b.open("/deliveries")
	b.stay()
	broken.Store(true)
	find("4.0.0")
	b.until("!document.getElementById('behind').hidden")
	b.click("#behind button")
	b.until("document.querySelector('#log tbody tr').textContent.includes('Failed')")
	row := js[string](b, first)
	js[any](b, "document.querySelector('#log tbody button').focus()")
	broken.Store(false)
	l.request(http.MethodPost, "/api/deliveries/"+strings.TrimPrefix(row, "delivery-")+"/retry", "")
	b.until(fmt.Sprintf("document.getElementById('%s').textContent.includes('Sent')", row))
	b.stayed("deliveries")

	one := "/containers/local/" + l.containers()[0].Name
	b.open(one + "?tab=activity")
	b.stay()
	find("5.0.0")
	b.until("document.getElementById('happened').innerText.includes('5.0.0') && document.querySelector('#sent li').innerText.includes('sent')")
	b.stayed("activity of a container")
	b.open(one + "?tab=why")
	b.until("document.querySelector('.why')")
	b.stay()
	find("5.5.0")
	b.until("document.getElementById('why').innerText.includes('5.5.0') && document.getElementById('change').innerText.includes('5.5.0')")
	b.stayed("explanation of a container")

	b.open("/triggers/http/live")
	b.stay()
	find("6.0.0")
	b.until("document.querySelectorAll('#deliveries tbody tr').length >= 4")
	b.stayed("trigger")
}

// TestBrowserPluginPageUpdatesLive restarts a plugin from elsewhere.
func TestBrowserPluginPageUpdatesLive(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	l := startLab(t, 1)
	b := openTab(t, l.url)
	b.open("/plugins")
	b.until("document.getElementById('trigger').textContent.includes('Running')")
	b.stay()
	js[any](b,
		"document.querySelector('#registry details').open = true, document.querySelector('#registry button').focus()")
	process := "document.querySelector('#trigger dd.tag').textContent"
	before := js[string](b, process)
	l.request(http.MethodPost, "/api/plugins/trigger/restart", "")
	b.until("document.getElementById('trigger').textContent.includes('Running') && " + process + " !== " + quoted(before))
	if !js[bool](b,
		"document.querySelector('#registry details').open && document.activeElement === document.querySelector('#registry button')") {
		t.Error("what was unfolded and focused is not any more")
	}
	b.stayed("plugins")
}

// TestBrowserReconnectsAfterRestart stops the program under a page, behind a proxy that
// then answers for it, changes something meanwhile, and starts it again.
func TestBrowserReconnectsAfterRestart(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	f := newFleet(t, 3, registrysim.Options{})
	port, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := port.Addr().(*net.TCPAddr)
	must(t, port.Close())
	in := install(t, append(f.env(), "DOGWATCH_SERVER_PORT="+strconv.Itoa(address.Port))...)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address.String()})
	proxy.FlushInterval = -1
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)

	d := in.start()
	eventually(t, "all are checked", func() bool {
		all := d.containers()
		return len(all) == 3 && all[0].Check.State == "ok" && all[1].Check.State == "ok" && all[2].Check.State == "ok"
	})
	b := openTab(t, front.URL)
	b.mayFail() // while nothing answers
	name := d.containers()[0].Name
	for i, page := range []struct{ path, shows string }{
		{"/", "document.getElementById('overview').innerText.includes('1 major')"},
		{"/containers", "document.querySelector('[data-key=\"local/" + name + "\"]').innerText.includes('3.0.0')"},
		{"/containers/local/" + name, "document.getElementById('change').innerText.includes('4.0.0')"},
		{"/history", "!document.getElementById('behind').hidden"},
		{"/watchers",
			"!document.getElementById('things').textContent.includes(before) && !document.querySelector('main progress')"},
	} {
		b.url = []string{front.URL, "http://" + address.String()}[i%2]
		b.open(page.path)
		b.stay()
		js[any](b, "window.before = document.querySelector('#things time')?.title || '-', 0")
		must(t, d.cmd.Process.Kill())
		<-d.done
		b.says("Dogwatch does not answer.")
		f.registry(0).Push(f.repo(0), fmt.Sprintf("%d.0.0", i+2))
		d = in.start()
		b.until(page.shows)
		b.until("document.getElementById('lost').hidden")
		b.stayed(page.path)
	}
}
