package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"golang.org/x/crypto/bcrypt"
)

// TestBrowserComponentPages looks at the pages beside the containers and presses their buttons.
func TestBrowserComponentPages(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	hash, err := bcrypt.GenerateFromPassword([]byte("correct horse"), bcrypt.MinCost)
	must(t, err)
	l := startLab(t, 3)
	b := openTab(t, l.url)
	for _, path := range []string{"/watchers/docker/local", "/registries/hub/public", "/triggers/http/hook",
		"/deliveries", "/settings/api", "/start"} {
		for name, width := range map[string]int64{"phone": 390, "desk": 1440} {
			b.size(width, 860)
			b.open(path)
			b.until("document.readyState === 'complete'")
			b.shot(strings.ReplaceAll(path[1:], "/", "_") + "-" + name)
			if over := js[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
				t.Errorf("%s at %d pixels is %d too wide", path, width, over)
			}
			for _, c := range js[[]string](b, contrasts) {
				t.Errorf("%s, %s: %s", path, name, c)
			}
			if shift := js[float64](b, shifts, chromedp.EvalAwaitPromise); shift > 0.02 {
				t.Errorf("%s, %s: the layout shifts by %.3f", path, name, shift)
			}
		}
	}

	b.open("/triggers/http/hook")
	b.until("document.readyState === 'complete'")
	b.click("form.ask button")
	b.says("The service took the message below")
	if !strings.Contains(<-l.hooked, "test-web") {
		t.Error("the trigger was not sent the sample")
	}
	if js[string](b, "location.pathname") != "/triggers/http/hook" {
		t.Error("the test left the page")
	}

	b.open("/plugins")
	b.click("form[action='/plugins/trigger/restart'] button")
	b.says("trigger is being restarted.")

	d := install(t,
		append(l.env(), "DOGWATCH_AUTH_BASIC_ANA_USER=ana", "DOGWATCH_AUTH_BASIC_ANA_HASH="+string(hash))...).start()
	b.url = d.url
	b.open("/settings")
	b.until("document.querySelector('input[type=password]')")
	b.click("input[name=user]")
	b.press("ana")
	b.click("input[type=password]")
	b.press("correct horse\r")
	b.says("Create a token")
	b.click("input[name=name]")
	b.press("homepage")
	b.click("form[action='/settings/tokens'] button")
	b.says("This is the token homepage")
	b.shot("token")
	token := js[string](b, "document.querySelector('#tokens .verdict pre').innerText.trim()")
	b.open("/settings")
	if strings.Contains(js[string](b, "document.body.innerHTML"), token) {
		t.Error("the token is shown again")
	}
	b.click("#tokens details summary")
	b.click("#tokens details button")
	b.until("!document.querySelector('#tokens table')")
}

// shifts adds up how much the layout moved since the page was opened (web.dev/articles/cls).
const shifts = `new Promise(done => {
	let sum = 0;
	new PerformanceObserver(list => { for (const e of list.getEntries()) sum += e.value; }).observe({type: 'layout-shift', buffered: true});
	requestAnimationFrame(() => requestAnimationFrame(() => done(sum)));
})`
