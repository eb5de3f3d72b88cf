package e2e

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// fill has a container write so much into itself.
func fill(t testing.TB, engine *dockertest.Daemon, name string, size int) {
	t.Helper()
	var file bytes.Buffer
	w := tar.NewWriter(&file)
	must(t, w.WriteHeader(&tar.Header{Name: "data", Mode: 0o600, Size: int64(size)}))
	_, err := w.Write(bytes.Repeat([]byte("x"), size))
	must(t, err)
	must(t, w.Close())
	must(t, engine.API.CopyToContainer(t.Context(), name, "/", &file, container.CopyToContainerOptions{}))
}

// shown requires that the page has no obstacles, fits, and reads well, on a desk and
// on a small phone in both themes, and keeps what it looks like.
func (b *tab) shown(name string) {
	b.t.Helper()
	b.settle()
	for _, theme := range []string{"dark", "light"} {
		b.prefers("prefers-color-scheme", theme)
		for _, c := range js[[]string](b, contrasts) {
			b.t.Errorf("%s, %s: %s", name, theme, c)
		}
		b.shot(name + "-" + theme)
	}
	for _, width := range []int64{195, 360} {
		b.size(width, 900)
		if over := js[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			b.t.Errorf("%s at %d pixels is %d too wide", name, width, over)
		}
	}
	b.shot(name + "-phone")
	for _, flaw := range js[[]string](b, fmt.Sprintf("(%s)(true)", flaws)) {
		b.t.Errorf("%s on a phone: %s", name, flaw)
	}
	b.size(1440, 900)
	for _, found := range audit(b) {
		b.t.Errorf("%s: %s", name, found)
	}
}

// TestBrowserUpdatesContainers updates, rolls back and cancels on a real engine as a user of the pages does.
func TestBrowserUpdatesContainers(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	engine, registry := dockertest.Start(t), startRegistry(t)
	a := act(t, engine, registry, "web", nil)
	bad := newProduct(t, engine, registry+"/team/bad",
		`HEALTHCHECK --interval=300ms --timeout=5s --retries=2 CMD ["/main", "health", "u"]`)
	bad.run(t, "bad", "1.0.0")
	for _, name := range []string{"data", "many", "store"} {
		newProduct(t, engine, registry+"/team/"+name).run(t, name, "1.0.0")
	}
	fill(t, engine, "data", 2<<20)
	fill(t, engine, "store", 3<<20)
	a.d.watch()
	b := openTab(t, a.d.url)

	// From the row, by key, to the plan; then each step as it is taken.
	b.open("/containers")
	b.until("document.querySelector('.row[data-key=\"local/web\"] [data-update]')?.checkVisibility()")
	b.size(390, 844) // on a phone it is on the page of the container, two steps from any other
	b.click(".row[data-key='local/web'] .name")
	b.until("document.querySelector('.solo #update-one')?.checkVisibility()")
	b.shot("container-phone")
	b.size(1440, 900)
	b.open("/containers")
	b.settle()
	js[any](b, "document.querySelector('.row[data-key=\"local/web\"] .name').focus()")
	b.press("u")
	b.until("location.pathname === '/containers/local/web/update'")
	b.says("Update web?")
	b.shown("plan")
	held, release := make(chan struct{}, 1), make(chan struct{})
	a.g.on(func(m moment) bool {
		if m.what == "stop" && !m.responded {
			held <- struct{}{}
			<-release
		}
		return true
	})
	b.click("#confirm")
	<-held
	b.until("location.pathname.startsWith('/operations/')")
	b.until("document.querySelector('[aria-current=step]')?.innerText.includes('stop the old web')")
	b.stay()
	b.shown("operation")
	page := js[string](b, "location.pathname")
	b.open("/containers")
	b.until("document.querySelector('.row[data-key=\"local/web\"] .doing')?.title === 'updating: stop the old web'")
	b.shown("list-updating")
	b.open("/")
	b.says("web updating: stop the old web")
	b.open(page)
	b.stay()
	a.g.on(nil)
	close(release)
	b.says("web was updated to 1.1.0.")
	b.stayed("the page of the operation")
	b.shown("updated")
	only(t, engine, "web", a.new)

	// The way back.
	b.click("a.button[href$='/rollback']")
	b.says("Roll back web?")
	b.click("#confirm")
	b.says("web was rolled back to 1.0.0.")
	only(t, engine, "web", a.old)

	// What does not work comes back, and the overview says so.
	b.open("/containers/local/bad/update")
	b.click("#confirm")
	b.until("document.querySelector('#operation .kind.failed')?.textContent === 'Did not work'")
	b.shown("rolledback")
	only(t, engine, "bad", bad.old)
	b.open("/")
	b.says("did not work, so the old container is back as it was.")
	b.shown("overview-rolledback")

	// What keeps data inside itself has to be accepted.
	b.open("/containers/local/data/update")
	b.says("data has written 2.0 MiB into itself")
	b.shown("blocked")
	b.click("#confirm")
	if at := js[string](b, "location.pathname"); at != "/containers/local/data/update" {
		t.Errorf("without the box, the form leads to %s", at)
	}
	b.click("input[name=ack]")
	b.click("#confirm")
	b.says("data was updated to 1.1.0.")

	// Several at once, of which one is to lose what it keeps inside itself.
	a.d.watch()
	b.open("/containers")
	b.settle()
	js[any](b,
		"['bad', 'many', 'store', 'web'].forEach(n => document.querySelector(`.row[data-key=\"local/${n}\"] input`).click())")
	b.click("#bulk [value=update]")
	b.until("location.pathname === '/update'")
	b.says("Update 4 containers?")
	b.says("store has written 3.0 MiB into itself")
	b.shown("selection")
	b.click(".choose input[value='local/bad']")
	b.click(".choose .about input[value='local/store']")
	b.click("#confirm")
	b.until("location.pathname === '/operations'")
	for _, name := range []string{"web", "many", "store"} {
		if op := a.d.ended(a.d.operations(name)[0].ID); op.State != operation.Succeeded {
			t.Errorf("the operation is %s", says(op))
		}
	}
	b.until("[...document.querySelectorAll('#log .kind.ok')].length >= 5")
	b.shown("operations")
	if all := a.d.operations("bad"); len(all) != 1 {
		t.Errorf("%d operations of what was not chosen any more", len(all))
	}
	b.open("/containers/local/many?tab=activity")
	b.shown("activity")
	a.d.stop()
}

// TestBrowserSaysWhyUpdatesAreNotAllowed: the page and doctor give the same reason, and the
// page the setting that allows it; what only the engine forbids is in the plan.
func TestBrowserSaysWhyUpdatesAreNotAllowed(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	engine, registry := dockertest.Start(t), startRegistry(t)
	a := act(t, engine, registry, "web", nil)
	a.d.stop()
	b := openTab(t, "")
	for _, c := range []struct{ update, why, remedy string }{
		{"", "neither its option update nor a trigger of type docker or dockercompose is set",
			": set watcher.docker.local.update to true, or configure a docker or dockercompose trigger."},
		{"false", "its option update is false", ": set watcher.docker.local.update to true."},
	} {
		env := slices.DeleteFunc(slices.Clone(a.in.env), func(v string) bool {
			return strings.HasPrefix(v, "DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=")
		})
		if c.update != "" {
			env = append(env, "DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE="+c.update)
		}
		in := &installation{t: t, store: a.in.store, env: env}
		d := in.start()
		b.url = d.url
		b.mayFail() // a page that says why not has another status
		b.open("/containers/local/web")
		b.says("It cannot be updated from here, since " + c.why + c.remedy)
		b.until("!document.querySelector('.lazy')")
		b.open("/containers/local/web/update")
		b.says("since " + c.why + c.remedy)
		d.stop()
		path, err := built()
		must(t, err)
		cmd := exec.Command(path, "doctor")
		cmd.Env, cmd.Dir = in.env, in.store
		said, _ := cmd.CombinedOutput() // it fails for other reasons, as without the internet
		if out := string(said); !strings.Contains(strings.Join(strings.Fields(out), " "),
			"it may not update them, since "+c.why) {
			t.Errorf("doctor says nothing of %q:\n%s", c.why, out)
		}
	}
}

// TestBrowserShowsHowToAllowUpdates: where updating is not allowed there is no button, and the setting is named.
func TestBrowserShowsHowToAllowUpdates(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	l := startLab(t, 3)
	b := openTab(t, l.url)
	b.open("/containers/local/c0000")
	b.settle()
	if text := js[string](b, "document.body.innerText"); !strings.Contains(text, "watcher.docker.local.update") {
		t.Errorf("the page does not say how to allow it:\n%s", text)
	}
	if n := js[int](b, "document.querySelectorAll('[data-update]').length"); n != 0 {
		t.Errorf("%d buttons that cannot work", n)
	}
	b.shot("not-allowed")
	b.open("/containers")
	b.settle()
	if n := js[int](b, "document.querySelectorAll('[data-update], #bulk [value=update]').length"); n != 0 {
		t.Errorf("%d buttons in the list that cannot work", n)
	}
}
