package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// ages are what the list says of the age of newer versions.
const ages = "[...document.querySelectorAll('.row:has(.kind) .age')].map(e => e.textContent).join(', ')"

// TestBrowserFetchesReleaseAgeOnPageView: the age of a release that takes a pull is fetched on the
// first page view, once, and appears in that page. It counts as no update.
func TestBrowserFetchesReleaseAgeOnPageView(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	l := newFleet(t, 0, registrysim.Options{})
	for n := range 2 {
		l.registry(0).Push(l.repo(n), "1.0.0")
		l.run(t, fmt.Sprint("app", n), galleryHub, l.repo(n), "1.0.0", "", nil)
	}
	l.registry(0).Push(l.repo(0), "2.0.0")
	hooked := make(chan bool, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hooked <- true }))
	t.Cleanup(hook.Close)
	i := install(t, append(l.env(), "DOGWATCH_REGISTRY_HUB_PUBLIC_MIRROR=http://"+l.hosts[galleryHub],
		"DOGWATCH_TRIGGER_HTTP_HOOK_URL="+hook.URL, "DOGWATCH_TRIGGER_HTTP_HOOK_ONCE=false")...)
	d := i.start()
	checked := func() {
		t.Helper()
		eventually(t, "the check is over", func() bool {
			all := d.containers()
			return len(all) == 2 && all[0].Check.State == "ok" && all[1].Check.State == "ok"
		})
		d.settled()
	}
	checked()
	<-hooked
	d.request(http.MethodPost, "/api/containers/watch", "")
	checked()
	<-hooked
	if c := l.counts(); c.Manifests+c.Blobs != 0 || c.Heads != 1 {
		t.Errorf("nobody looked, and the registry was asked for %+v", c)
	}

	b := openTab(t, d.url)
	// While the registry does not answer, the list says since when the version is known.
	gate := make(chan struct{})
	waits := func() { <-gate }
	l.requested.Store(&waits)
	b.open("/containers")
	b.until(ages + ".startsWith('seen ')")
	b.settle()
	b.shot("seen")
	js[any](b, "window.sameLoad = true")
	l.requested.Store(nil)
	close(gate)
	release, _ := l.registry(0).Image(l.repo(0), "2.0.0")
	made := release.Platforms[0].Created
	b.until(fmt.Sprintf("window.sameLoad && document.querySelector('.row .age time')?.dateTime === '%s'",
		made.Format(time.RFC3339)))
	b.shot("dated")
	if said := js[string](b, "document.getElementById('live').textContent"); said != "" {
		t.Errorf("a reader of the screen is told %q", said)
	}
	// the index, the platform's own and its configuration
	want := registrysim.Counts{Total: 4, Heads: 1, Manifests: 2, Blobs: 1, MaxInFlight: 1}
	if got := l.counts(); got != want {
		t.Errorf("the registry was asked for %+v, want %+v", got, want)
	}

	// Looking again, at whatever page, costs nothing.
	for _, path := range []string{"/", "/containers?sort=age", "/containers/local/" + updated(d)} {
		b.open(path)
		b.settle()
	}
	b.says("Released ")
	b.size(390, 860)
	b.shot("page-phone")
	b.open("/containers")
	b.settle()
	b.shot("dated-phone")

	// No trigger was notified of a date.
	d.settled()
	if n := len(hooked); n != 0 {
		t.Errorf("the trigger ran %d times because of a date", n)
	}
	var kinds []string
	for _, e := range get[[]event.Event](d, http.MethodGet, "/api/events?limit=100") {
		if strings.HasPrefix(string(e.Type), "update.") || e.Type == event.ContainerChanged {
			kinds = append(kinds, strings.TrimSpace(string(e.Type)+" "+string(e.Aspect)))
		}
	}
	slices.Sort(kinds)
	if want := []string{"container.changed released", "update.found"}; !slices.Equal(kinds, want) {
		t.Errorf("the log has %q, want %q", kinds, want)
	}

	// It outlives a check and a restart.
	d.request(http.MethodPost, "/api/containers/watch", "")
	checked()
	b.url = ""
	b.open("about:blank") // no page misses its server
	d.stop()
	d = i.start()
	checked()
	b.url = d.url
	b.open("/containers")
	b.until("document.querySelector('.row .age time')")
	if got := l.counts(); got.Heads+got.Manifests+got.Blobs != 0 {
		t.Errorf("what was known is asked for again: %+v", got)
	}

	// A newer tag has an age of its own.
	l.registry(0).Push(l.repo(0), "3.0.0")
	b.size(1440, 900)
	b.settle()
	b.click("#check-all")
	release, _ = l.registry(0).Image(l.repo(0), "3.0.0")
	b.until(fmt.Sprintf("document.querySelector('.row .age time')?.dateTime === '%s'",
		release.Platforms[0].Created.Format(time.RFC3339)))
}

// updated returns the name of the container that has an update.
func updated(d *daemon) string {
	d.t.Helper()
	for _, c := range d.containers() {
		if c.UpdateAvailable {
			return c.Name
		}
	}
	d.t.Fatal("no container has an update")
	return ""
}
