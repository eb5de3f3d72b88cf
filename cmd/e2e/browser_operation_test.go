package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// tabTo moves the focus to an element as a user without a mouse does.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	b.settle()
	skipped := false
	for end := time.Now().Add(maxWait); time.Now().Before(end); { // it may come with the plan, later than the page
		b.press("\t")
		if !skipped && js[bool](b, "!!document.activeElement?.matches('.skip')") {
			b.press("\r") // past what every page has, once: it may end after the next key, and take the focus along
			skipped = true
		}
		if js[bool](b, fmt.Sprintf("!!document.activeElement?.matches(%s)", quoted(selector))) {
			return
		}
	}
	b.t.Fatalf("the key tab never leads to %s; the page says:\n%s", selector, js[string](b, "document.body.innerText"))
}

// follow moves the focus to a link or a button and presses it.
func (b *tab) follow(selector string) {
	b.t.Helper()
	b.tabTo(selector)
	b.press("\r")
}

// TestBrowserUpdatesByKeyboard cancels an update, carries it out and rolls it back
// without a mouse.
func TestBrowserUpdatesByKeyboard(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	engine, registry := dockertest.Start(t), startRegistry(t)
	a := act(t, engine, registry, "web", nil)
	b := openTab(t, a.d.url)

	b.open("/containers")
	b.press("ju") // its row, and its plan
	b.until("location.pathname === '/containers/local/web/update'")
	held, release := make(chan struct{}, 1), make(chan struct{})
	a.g.on(func(m moment) bool {
		if m.what == "stop" && !m.responded {
			held <- struct{}{}
			<-release
		}
		return true
	})
	b.follow("#confirm")
	<-held
	b.until("document.querySelector('[aria-current=step]')?.innerText.includes('stop the old web')")
	b.follow("form[action$='/cancel'] button")
	b.says("It stops before its next step, and the old container runs again.")
	b.until("document.querySelector('#operation .kind')?.textContent === 'Stopping'")
	if js[bool](b, "!!document.querySelector('form[action$=\"/cancel\"]')") {
		t.Error("what is stopping has the button again")
	}
	b.press("\t") // from now on the browser shows where the focus is
	b.shown("stopping")
	a.g.on(nil)
	close(release)
	b.until("document.querySelector('#operation .kind')?.textContent === 'Cancelled'")
	b.says("The old container runs again as it was.")
	b.shown("cancelled")
	only(t, engine, "web", a.old)

	b.follow("a.button[href$='/update']")
	b.says("Update web?")
	b.follow("#confirm")
	b.says("web was updated to 1.1.0.")
	only(t, engine, "web", a.new)
	b.follow("a.button[href$='/rollback']")
	b.says("Roll back web?")
	b.follow("#confirm")
	b.says("web was rolled back to 1.0.0.")
	only(t, engine, "web", a.old)
}

// TestBrowserFollowsRecreatedContainer: the page of a container stays while its id
// changes, and the old id leads to it.
func TestBrowserFollowsRecreatedContainer(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	engine, registry := dockertest.Start(t), startRegistry(t)
	a := act(t, engine, registry, "web", nil)
	b := openTab(t, a.d.url)
	b.open("/containers/" + a.id + "?tab=details")
	b.until("location.pathname === '/containers/local/web' && document.querySelector('#facts').innerText.includes(" +
		quoted(a.id) + ")")
	op := a.d.ended(a.d.begin("update", "web").ID)
	if op.State != operation.Succeeded {
		t.Fatalf("the operation is %s", says(op))
	}
	now := containersOf(t, engine, "web")[0].ID
	b.open("/containers/" + a.id + "?tab=details") // at once, whatever is listed by now
	b.until("location.pathname === '/containers/local/web'")
	b.until("document.querySelector('#facts')?.innerText.includes(" + quoted(now) + ")")
	for _, id := range []string{a.id, now} {
		b.open("/containers/" + id + "?tab=details")
		b.until("location.pathname === '/containers/local/web' && document.querySelector('#facts')?.innerText.includes(" + quoted(now) + ")")
	}
}

// composed labels a container as compose does for the service of a file.
func composed(service, file string) func(*container.Config, *container.HostConfig) {
	return func(c *container.Config, _ *container.HostConfig) {
		for name, value := range map[string]string{
			"project": "home", "service": service, "container-number": "1", "oneoff": "False",
			"project.config_files": file, "project.working_dir": filepath.Dir(file),
		} {
			c.Labels["com.docker.compose."+name] = value
		}
	}
}

// TestBrowserPlansComposeFile: the plan offers to change the compose file too, shows what
// changes, and names the mount that is missing.
func TestBrowserPlansComposeFile(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	engine, registry := dockertest.Start(t), startRegistry(t)
	file := filepath.Join(t.TempDir(), "compose.yaml")
	text := "# home\nservices:\n  web:\n    image: \"" + registry +
		"/team/web:1.0.0\" # the site\n    network_mode: none\n"
	must(t, os.WriteFile(file, []byte(text), 0o600))
	a := act(t, engine, registry, "web", nil, composed("web", file))
	newProduct(t, engine, registry+"/team/far").run(t, "far", "1.0.0", composed("far", "/srv/far/compose.yaml"))
	a.d.watch()
	b := openTab(t, a.d.url)

	b.open("/containers/local/far/update")
	b.click("a[href$='compose=edit']")
	b.says("mount the directory /srv/far of the host at /srv/far, writable")
	if js[bool](b, "!!document.querySelector('#confirm')") {
		t.Error("what is blocked can be confirmed")
	}
	b.shown("not-mounted")
	b.click(".note a[href$='/update']")
	b.until("document.querySelector('#confirm')")

	b.open("/containers/local/web/update")
	b.says("the compose file of web is not changed")
	b.shown("offer")
	b.click("a[href$='compose=edit']")
	b.until("document.querySelector('.diff .added')?.innerText.includes('team/web:1.1.0') && document.querySelector('.diff .gone')?.innerText.includes(':1.0.0')")
	b.says("What changes in " + file)
	b.shown("diff")
	b.click("#confirm")
	b.says("web was updated to 1.1.0.")
	if got, err := os.ReadFile(file); err != nil || string(got) != strings.Replace(text, ":1.0.0", ":1.1.0", 1) {
		t.Errorf("the compose file is %q, %v", got, err)
	}
}

// TestBrowserListsBackups: predecessors that are kept are on the page with the space that
// they take, and so is the way back.
func TestBrowserListsBackups(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	engine, registry := dockertest.Start(t), startRegistry(t)
	a := act(t, engine, registry, "web", nil, func(c *container.Config, _ *container.HostConfig) {
		c.Labels["dogwatch.update.keep"] = "1"
	})
	fill(t, engine, "web", 2<<20)
	b := openTab(t, a.d.url)
	b.open("/containers/local/web/update")
	b.click("input[name=ack]")
	b.click("#confirm")
	b.says("web was updated to 1.1.0.")
	b.open("/containers/local/web?tab=activity")
	b.until("document.querySelector('#backups li')?.innerText.includes('2.1\u00a0MB of its own')")
	b.shown("kept")
	b.click("#backups a.button[href$='/rollback']")
	b.says("Roll back web?")
	b.says("Kept backups")
	b.shown("rollback")
	b.click("#confirm")
	b.says("web was rolled back to 1.0.0.")
}

// TestBrowserUpdatesWithoutScript goes from the list to the plan, the operation and back
// to the old image in a browser that runs no script.
func TestBrowserUpdatesWithoutScript(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	engine, registry := dockertest.Start(t), startRegistry(t)
	a := act(t, engine, registry, "web", nil)
	newProduct(t, engine, registry+"/team/data").run(t, "data", "1.0.0")
	fill(t, engine, "data", 2<<20)
	a.d.watch()
	b := openTab(t, a.d.url)
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{
		Value: true,
	})
	must(t, err)
	b.scriptless = true

	b.open("/containers")
	b.click(".row[data-key='local/web'] .name")
	b.until("location.pathname === '/containers/local/web'")
	b.click("#update-one")
	b.says("Update web?")
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
	b.until("document.querySelector('[aria-current=step]')?.innerText.includes('stop the old web')")
	b.shot("operation")
	a.g.on(nil)
	close(release)
	b.says("web was updated to 1.1.0.") // for the page loads itself again
	only(t, engine, "web", a.new)
	b.click("a.button[href$='/rollback']")
	b.says("Roll back web?")
	b.click("#confirm")
	b.says("web was rolled back to 1.0.0.")
	only(t, engine, "web", a.old)

	// Several, of which one needs consent, and the wish to stop.
	a.d.watch()
	b.open("/containers")
	b.click(".row[data-key='local/web'] input")
	b.click(".row[data-key='local/data'] input")
	b.click("#bulk [value=update]")
	b.says("data has written 2.0 MiB into itself")
	b.click(".choose .about input[value='local/data']")
	b.click(".choose input[value='local/web']")
	held, release = make(chan struct{}, 1), make(chan struct{})
	a.g.on(func(m moment) bool {
		if m.what == "stop" && !m.responded {
			held <- struct{}{}
			<-release
		}
		return true
	})
	b.click("#confirm")
	<-held
	b.until("location.pathname === '/operations'")
	b.click("#log tbody tr:first-child a[href^='/operations/']")
	b.click("form[action$='/cancel'] button")
	b.says("It stops before its next step")
	a.g.on(nil)
	close(release)
	b.says("The old container runs again as it was.")
	if all := a.d.operations("web"); len(all) != 2 {
		t.Errorf("%d operations of web, which was not chosen any more", len(all))
	}
}
