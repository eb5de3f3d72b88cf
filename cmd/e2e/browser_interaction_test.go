package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestBrowserActionsTakeTwoSteps does what can be done from the overview: each control
// is in front of the user after at most two steps, on a desk and on a phone.
func TestBrowserActionsTakeTwoSteps(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	env := galleryEnv(t, galleryFleet(t, nil))
	d := lock(t, env)
	b := openTab(t, d.url)
	b.open("/login")
	b.login(lockPassword, ".who")
	b.until("document.querySelector('.needs')")
	replacePlugin(t, filepath.Join(pluginsDir(t, env), "trigger-acts"))
	b.open("/plugins")
	b.click("form[action='/plugins/trigger-acts/restart'] button")
	b.until("document.querySelector(\"form[action='/plugins/trigger-acts/trust'] button\")")
	b.open("/settings")
	b.click("#tokens input[name=name]")
	b.press("homepage\r")
	b.until("document.querySelector('#tokens summary')")
	sonarr := ".row[data-key='local/sonarr'] "
	to := func(page string) string {
		return "a[href$='/" + page + "']:is(nav.tabs a, .side nav a:not(.desk), .links a)"
	}
	for _, page := range []struct {
		desk, phone []string
		then        map[string]string // what shows each action
	}{
		{then: map[string]string{"check all": "#check-all"}},
		{desk: []string{".who"}, then: map[string]string{"log out": "form.logout button"}},
		{
			desk: []string{to("containers"), sonarr + ".name"}, then: map[string]string{
				"check one": "#check-one", "run a trigger for one": ".container [value=run]",
				"skip or snooze": ".container .menu summary",
				"approve":        ".container [value=approve]", "copy docker pull": ".copy [data-copy^='docker pull']",
				"open the release notes": ".container a[href='https://example.org/sonarr/4.1.0']",
			},
		},
		{
			desk: []string{to("containers"), sonarr + "input"}, then: map[string]string{
				"run a trigger for many": "#bulk [value=run]", "decide about many": "#bulk [value=decide]",
			},
		},
		{
			desk: []string{".side a[href='/policies']"}, phone: []string{to("settings"), to("policies")},
			then: map[string]string{"see what was decided": "#choices"},
		},
		{
			desk: []string{".side a[href='/triggers']"}, phone: []string{to("settings"), to("triggers")},
			then: map[string]string{"test a trigger": "form[action='/triggers/http/hook/test'] button"},
		},
		{
			desk: []string{to("history"), to("deliveries")},
			then: map[string]string{"retry a delivery": "form[action$='/retry'] button"},
		},
		{
			desk: []string{".side a[href='/plugins']"}, phone: []string{to("settings"), to("plugins")},
			then: map[string]string{
				"restart a plugin": "form[action='/plugins/trigger/restart'] button",
				"trust a plugin":   "form[action='/plugins/trigger-acts/trust'] button",
			},
		},
		{
			desk: []string{to("settings")},
			then: map[string]string{"make a token": "form[action='/settings/tokens'] button"},
		},
		{
			desk: []string{to("settings"), "#tokens summary"},
			then: map[string]string{"revoke a token": "#tokens details button"},
		},
	} {
		for _, width := range []int64{1440, 390} {
			steps := page.desk
			if width < 960 && page.phone != nil {
				steps = page.phone
			}
			if len(steps) > 2 {
				t.Errorf("%q take %d steps", page.then, len(steps))
			}
			b.size(width, 844)
			b.open("/")
			for _, step := range steps {
				b.until(fmt.Sprintf("document.querySelector(%q)?.checkVisibility()", step))
				b.click(step)
			}
			for _, action := range page.then {
				b.until(fmt.Sprintf("document.querySelector(%q)?.checkVisibility()", action))
			}
		}
	}
}

// pluginsDir is the folder of plugins that the variables name.
func pluginsDir(t *testing.T, env []string) string {
	t.Helper()
	for _, variable := range env {
		if dir, is := strings.CutPrefix(variable, "DOGWATCH_PLUGINS_DIR="); is {
			return dir
		}
	}
	t.Fatal("no folder of plugins is configured")
	return ""
}

// replacePlugin puts another file, which runs as well, in the place of an executable.
func replacePlugin(t *testing.T, path string) {
	t.Helper()
	other := path + ".new"
	copyFile(t, path, other)
	f, err := os.OpenFile(other, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("another")
	must(t, err)
	must(t, f.Close())
	must(t, os.Rename(other, path))
}

// TestBrowserListInteractionBudget holds the list to what the design promises.
func TestBrowserListInteractionBudget(t *testing.T) {
	requireBrowser(t)
	l := startLab(t, 200)
	b := openTab(t, l.url)
	b.open("/containers")
	b.settle()
	presses := func(is string) int {
		for n := 1; n < 100; n++ {
			b.press(kb.Tab)
			if js[bool](b, "!!document.activeElement?.matches("+quoted(is)+")") {
				return n
			}
		}
		t.Fatalf("Tab never reaches %s", is)
		return 0
	}
	skip := presses(".skip")
	b.press("\r")
	row := skip + presses(".row .name")
	b.press("\r")
	b.until("document.activeElement.matches('#sheet h1')")
	action := row + presses("#check-one")
	nodes := js[int](b, "document.querySelectorAll('*').length")
	b.escape()
	b.until("document.activeElement.matches('.row .name')")
	// So it is when a live update replaces the row while the sheet is fetched.
	js[any](b,
		"(row => { row.querySelector('.name').click(); row.replaceWith(row.cloneNode(true)) })(document.activeElement.closest('.row'))")
	b.until("document.activeElement.matches('#sheet h1')")
	b.escape()
	b.until("document.activeElement.matches('.row .name')")
	seen := func(bottom string) int {
		return js[int](b,
			"scrollTo(0, 0), [...document.querySelectorAll('.row .name')].filter(e => e.getBoundingClientRect().bottom <= "+bottom+").length")
	}
	b.size(1440, 900)
	desk := seen("innerHeight")
	b.size(390, 844)
	phone := seen("document.querySelector('.side nav').getBoundingClientRect().top")
	t.Logf("%d Tab presses to the first row, %d to its action; %d names in view on a desk, %d on a phone; %d nodes",
		row, action, desk, phone, nodes)
	if row > 8 || action > 12 || desk < 16 || phone < 8 || nodes > 6000 {
		t.Error("want at most 8 and 12 presses, at least 16 and 8 names, at most 6000 nodes")
	}
}

// TestBrowserHonoursSystemPreferences looks at pages as users set their systems to show them.
func TestBrowserHonoursSystemPreferences(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	l := startLab(t, 12)
	b := openTab(t, l.url)

	b.prefers("prefers-reduced-motion", "reduce")
	b.open("/containers")
	b.settle()
	js[any](b,
		"document.querySelector('.row').classList.add('changed'), document.querySelector('#list').setAttribute('aria-busy', 'true')")
	if moves := js[string](b,
		"document.getAnimations().filter(a => a.effect.getTiming().duration > 10).map(a => a.animationName).join(' ')"); moves != "" {
		t.Errorf("asked for less motion, the page plays %s", moves)
	}

	b.prefers("forced-colors", "active")
	for _, path := range []string{"/", "/containers?state=major", "/containers/local/c0000", "/triggers/http/hook",
		"/history", "/settings"} {
		b.open(path)
		b.settle()
		b.shot("forced-colors" + strings.NewReplacer("/", "-", "?", "-").Replace(path))
		// On a desk, the page above the one that is open is not marked.
		for _, current := range js[[]string](b,
			"[...document.querySelectorAll('[aria-current]:not(.side [aria-current=true]), [aria-pressed=true]')].filter(e => e.checkVisibility() && getComputedStyle(e).outlineStyle === 'none').map(e => e.textContent)") {
			t.Errorf("%s: with the colours of the system, nothing marks %q", path, current)
		}
		if marked := js[int](b,
			"[...document.querySelectorAll('.side nav a')].filter(e => getComputedStyle(e).outlineStyle !== 'none').length"); marked != 1 {
			t.Errorf("%s: with the colours of the system, %d pages are marked", path, marked)
		}
	}

	// 200 % on a desk of 1440 pixels is a page of 720, on a phone of 390 one of 195.
	b.prefers("forced-colors", "none")
	for _, width := range []int64{720, 195} {
		b.size(width, 422)
		for _, path := range []string{"/", "/containers", "/containers/local/c0000", "/triggers", "/triggers/http/hook",
			"/plugins", "/history", "/deliveries", "/settings", "/start"} {
			b.open(path)
			b.settle()
			b.shot(fmt.Sprintf("zoomed-%d%s", width, strings.ReplaceAll(path, "/", "-")))
			if hidden := js[string](b,
				"[...document.querySelectorAll('.side nav a:not(.desk), .user > summary, .row .name')].filter(e => { e.scrollIntoView(); const r = e.getBoundingClientRect(); return r.width < 20 || r.right > innerWidth; }).map(e => e.textContent).join(', ')"); hidden != "" {
				t.Errorf("%s at %d pixels hides %s", path, width, hidden)
			}
			if over := js[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
				wide := js[string](b,
					"[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 || [...e.childNodes].some(n => { const r = document.createRange(); r.selectNodeContents(n); return n.nodeType === 3 && r.getBoundingClientRect().right > innerWidth + 1; })).slice(0, 3).map(e => e.tagName + '.' + e.className + ' ' + e.textContent.trim().slice(0, 60)).join(', ')")
				t.Errorf("%s at %d pixels is %d too wide: %s", path, width, over, wide)
			}
		}
	}
}
