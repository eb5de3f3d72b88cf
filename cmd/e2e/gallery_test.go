package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// sight is a page in one of its states.
type sight struct {
	name string
	of   *daemon
	path string
	// set brings the page into its state.
	set func(b *tab)
	// desk is true for what only wide screens have.
	desk bool
	// slow does not wait for the explanation, for which a registry is asked.
	slow bool
	// acts does something whose result every tab of the house shows.
	acts bool
}

// sights are every page in every state.
func (h houses) sights() []sight {
	container := func(name string) string { return "/containers/local/" + name }
	tried := func(b *tab) {
		b.click("form.ask button")
		b.until("document.querySelector('#test-result .verdict')")
	}
	return []sight{
		// first: its check ends in a while
		{name: "container-unchecked", of: h.twelve, path: container(unchecked), slow: true},
		{name: "overview", of: h.twelve, path: "/", set: func(b *tab) {
			b.until("document.querySelectorAll('svg.chart').length === 2")
			js[any](b, "document.querySelector('#far-behind details').open = true")
		}},
		{name: "overview-no-engine", of: h.none, path: "/"},
		{name: "overview-0", of: h.empty, path: "/"},
		{name: "overview-5", of: h.five, path: "/"},
		{name: "overview-500", of: h.many, path: "/"},
		{name: "start-no-engine", of: h.none, path: "/start"},
		{name: "start-0", of: h.empty, path: "/start"},
		{name: "start-done", of: h.twelve, path: "/start"},
		{name: "containers-no-engine", of: h.none, path: "/containers"},
		{name: "containers-0", of: h.empty, path: "/containers"},
		{name: "containers-5", of: h.five, path: "/containers"},
		{name: "containers", of: h.twelve, path: "/containers"},
		{name: "containers-ungrouped", of: h.twelve, path: "/containers?group=none"},
		{name: "containers-no-match", of: h.twelve, path: "/containers?q=nothing-has-this-name"},
		{name: "containers-500", of: h.many, path: "/containers"},
		{name: "containers-selected", of: h.twelve, path: "/containers", set: func(b *tab) {
			js[any](b, "[...document.querySelectorAll('.row input')].slice(0, 3).forEach(e => e.click())")
		}},
		{name: "containers-sheet", of: h.twelve, path: "/containers", desk: true, set: func(b *tab) {
			b.click(".row[data-key='local/sonarr'] .name")
			b.until("document.querySelector('#sheet h1') && !document.querySelector('#sheet .lazy:not([hx-trigger=revealed])')")
		}},
		{name: "containers-changes", of: h.twelve, path: "/containers", set: func(b *tab) {
			js[any](b,
				"const bar = document.getElementById('behind'); bar.hidden = false; bar.querySelector('span').textContent = '2 changes'; undefined")
		}},
		{name: "keys", of: h.twelve, path: "/containers", set: func(b *tab) { b.press("?") }},
		{name: "container-major", of: h.twelve, path: container("jellyfin")},
		{name: "container-long", of: h.twelve, path: container(galleryApps[2].name), set: func(b *tab) {
			js[any](b, "document.querySelectorAll('details').forEach(d => { d.open = true })")
		}},
		{name: "container-rebuilt", of: h.twelve, path: container("worker")},
		{name: "container-failed", of: h.twelve, path: container("unifi")},
		{name: "container-label-wrong", of: h.twelve, path: container("database")},
		{name: "container-current", of: h.twelve, path: container("dns")},
		{name: "container-gone", of: h.twelve, path: container("nobody")},
		{name: "container-why", of: h.twelve, path: container("sonarr") + "?why=1"},
		{name: "container-versions", of: h.twelve, path: container("jellyfin") + "?tab=versions"},
		{name: "container-activity", of: h.twelve, path: container("jellyfin") + "?tab=activity"},
		{name: "container-details", of: h.twelve, path: container("jellyfin") + "?tab=details"},
		{name: "container-not-now", of: h.twelve, path: container("jellyfin"), set: func(b *tab) {
			b.click(".container .menu summary")
		}},
		{name: "container-notes", of: h.twelve, path: container("sonarr") + "?notes=1"},
		{name: "container-notes-hostile", of: h.twelve, path: container("home-assistant") + "?notes=1", set: func(b *tab) {
			js[any](b, "document.querySelectorAll('.notes details').forEach((d, i) => { d.open = i < 2 })")
		}},
		{name: "container-diff", of: h.twelve, path: container("sonarr") + "/diff"},
		{name: "container-diff-none", of: h.twelve, path: container("dns") + "/diff"},
		{name: "container-diff-same", of: h.twelve, path: container("worker") + "/diff"},
		{name: "container-scan", of: h.twelve, path: container("sonarr") + "?tab=versions", set: func(b *tab) {
			b.click("#scan-images")
			b.until("/Remaining:/.test(document.querySelector('#scan')?.innerText) && !document.querySelector('#scan .doing')")
			js[any](b, "document.querySelectorAll('#scan details').forEach(d => { d.open = true })")
		}},
		{name: "choose", of: h.twelve, path: "/choose?c=local/jellyfin"},
		{name: "choose-several", of: h.twelve, path: "/choose?c=local/jellyfin&c=local/sonarr&c=local/worker"},
		{name: "watchers", of: h.twelve, path: "/watchers"},
		{name: "watchers-broken", of: h.none, path: "/watchers"},
		{name: "registries", of: h.twelve, path: "/registries"},
		{name: "triggers", of: h.twelve, path: "/triggers"},
		{name: "triggers-0", of: h.five, path: "/triggers"},
		{name: "watcher-tested", of: h.twelve, path: "/watchers/docker/local", set: tried},
		{name: "watcher-broken", of: h.none, path: "/watchers/docker/local"},
		{name: "registry-tested", of: h.twelve, path: "/registries/custom/sim1", set: tried},
		{name: "trigger-tested", of: h.twelve, path: "/triggers/http/hook", set: tried},
		{name: "trigger-refused", of: h.twelve, path: "/triggers/http/refused", set: tried},
		{name: "trigger-broken", of: h.twelve, path: "/triggers/ntfy/wrong"},
		{name: "plugins", of: h.twelve, path: "/plugins", set: func(b *tab) {
			js[any](b, "document.querySelector('details').open = true")
		}},
		{name: "plugin-type", of: h.twelve, path: "/plugins/types/trigger/smtp?name=main&o.host=mx.example.org&o.port=many"},
		{name: "plugins-restarted", of: h.twelve, path: "/plugins?did=restarted&to=trigger"},
		{name: "history", of: h.twelve, path: "/history"},
		{name: "history-none", of: h.twelve, path: "/history?q=nothing-has-this-name"},
		{name: "deliveries", of: h.twelve, path: "/deliveries"},
		{name: "deliveries-0", of: h.five, path: "/deliveries"},
		{name: "settings", of: h.twelve, path: "/settings"},
		{name: "log", of: h.twelve, path: "/log"},
		{name: "log-none-chosen", of: h.five, path: "/log?part=none"},
		{name: "agents-0", of: h.twelve, path: "/agents"},
		{name: "settings-reload", of: h.none, path: "/settings/reload"},
		{name: "settings-reload-mistaken", of: h.five, path: "/settings/reload"},
		{name: "settings-reload-none", of: h.twelve, path: "/settings/reload"},
		{name: "settings-webhooks", of: h.twelve, path: "/settings/webhooks"},
		{name: "settings-webhooks-none", of: h.five, path: "/settings/webhooks"},
		{name: "api", of: h.twelve, path: "/settings/api", set: func(b *tab) {
			js[any](b, "[...document.querySelectorAll('details')].slice(0, 2).forEach(d => { d.open = true })")
		}},
		{name: "confirm", of: h.twelve, path: "/containers", set: func(b *tab) {
			js[any](b, `document.querySelectorAll('#bulk [name=sure]').forEach(e => e.remove());
				[...document.querySelectorAll('.row input')].slice(0, 3).forEach(e => e.click());
				document.querySelector('#bulk select').value = 'acts.main'; 
				const run = document.createElement('input'); run.type = 'hidden'; run.name = 'do'; run.value = 'run';
				const form = document.getElementById('bulk'); form.append(run); HTMLFormElement.prototype.submit.call(form)`)
			b.until("document.readyState === 'complete' && document.querySelector('main h1').textContent.startsWith('Run')")
		}},
		{name: "no-such-page", of: h.twelve, path: "/no-such-page"},
		{name: "container-checked", of: h.twelve, path: container("sonarr"), acts: true, set: func(b *tab) {
			b.click("#check-one")
			b.until("document.querySelector('#work form')")
		}},
		{name: "container-skipped", of: h.twelve, path: container("jellyfin"), acts: true, set: func(b *tab) {
			b.click(".container .menu summary")
			b.click(".container [value=skip]")
			b.until("document.querySelector('#decide [value=undo]') && document.querySelector('#work [value=undo]')")
		}},
		{name: "containers-held", of: h.twelve, path: "/containers?state=held"},
		{name: "policies", of: h.twelve, path: "/policies"},
		{name: "login", of: h.locked, path: "/login"},
		{name: "login-wrong", of: h.locked, path: "/login", set: func(b *tab) { b.login("wrong", ".door [role=alert]") }},
		{name: "overview-logged-in", of: h.locked, path: "/login", set: func(b *tab) { b.login(lockPassword, ".who") }},
		{name: "settings-token", of: h.locked, path: "/settings", set: func(b *tab) {
			b.click("#tokens input[name=name]")
			b.press(fmt.Sprintf("homepage-%d\r", time.Now().UnixNano()))
			b.until("document.querySelector('#tokens .verdict pre')")
		}},
		{name: "logged-out", of: h.locked, path: "/login", set: func(b *tab) {
			b.login(lockPassword, ".who")
			b.click(".who")
			b.click("form.logout button")
			b.until("document.querySelector('.door [role=status]')")
		}},
	}
}

// TestGallery looks at every page in every state, in both themes, on a desk and on
// a phone. With DOGWATCH_TEST_SHOTS it leaves a picture of each. What keeps users from using
// a page is looked for in one theme at each width, in the other one on the page after it,
// and on the next day.
func TestGallery(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	h, only := openHouses(t), os.Getenv("DOGWATCH_TEST_SIGHT")
	var acting sync.Mutex
	for w, width := range []int64{1440, 390} {
		t.Run(strconv.FormatInt(width, 10), func(t *testing.T) {
			t.Parallel()
			b := openTab(t, "")
			dark, light := dockertest.Moments(t, 2, w), dockertest.Moments(t, 2, w+1)
			for i, s := range h.sights() {
				var themes []string
				if light(i) {
					themes = append(themes, "light")
				}
				if dark(i) {
					themes = append(themes, "dark")
				}
				if !strings.HasPrefix(s.name, only) || s.desk && width < 960 {
					continue
				}
				if s.acts {
					b.lookAlone(&acting, s, width, themes)
				} else {
					b.look(s, width, themes)
				}
			}
		})
	}
}

// lookAlone looks while no other tab acts, and leaves nothing of what was done.
func (b *tab) lookAlone(acting *sync.Mutex, s sight, width int64, themes []string) {
	acting.Lock()
	defer acting.Unlock()
	b.look(s, width, themes)
	b.until("document.querySelectorAll('#work form button').forEach(e => e.click()), !document.querySelector('#work form')")
}

// look opens a page at a width and says what is wrong with it, by an audit in each of the themes, too.
func (b *tab) look(s sight, width int64, themes []string) {
	b.t.Helper()
	bad := func(theme string, found []string) {
		for _, f := range found {
			b.t.Errorf("%s, %s, %d px: %s", s.name, theme, width, f)
		}
	}
	b.url = s.of.url
	b.prefers("prefers-color-scheme", "light")
	b.size(width, 844)
	b.open(s.path)
	if s.set != nil {
		b.settle()
		s.set(b)
	}
	b.until("document.readyState === 'complete'")
	if !s.slow {
		b.until("!document.querySelector('.lazy:not([hx-trigger=revealed])')") // what is read when it is scrolled to may wait
	}
	if !js[bool](b, "!!document.querySelector('dialog[open]')") {
		b.press(kb.Tab) // from now on the browser shows where the focus is
	}
	bad("light", js[[]string](b, fmt.Sprintf("(%s)(%t)", flaws, width < 960)))
	js[any](b, "document.activeElement?.blur()")
	b.picture(s.name, "light", width)
	b.prefers("prefers-color-scheme", "dark")
	b.picture(s.name, "dark", width)
	narrow := []int64{320}
	if width > 960 {
		narrow = []int64{720, 1024}
	}
	for _, n := range narrow {
		b.size(n, 844)
		if over := js[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			b.t.Errorf("%s: at %d px it is %d too wide", s.name, n, over)
		}
	}
	b.size(width, 844)
	js[any](b, alike)
	for _, theme := range themes {
		b.prefers("prefers-color-scheme", theme)
		bad(theme, audit(b))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		// as some pages are about
		if !strings.Contains(p, "Failed to load resource: the server responded with a status of 40") {
			b.t.Errorf("%s, %d px: the browser complains: %s", s.name, width, p)
		}
	}
	b.problems = nil
}

// picture keeps what a page looks like as a whole.
func (b *tab) picture(name, theme string, width int64) {
	b.t.Helper()
	if os.Getenv(shots) == "" {
		return
	}
	tall := js[int64](b, "document.documentElement.scrollHeight")
	b.size(width, min(max(tall, 844), 3000))
	b.shotAs(fmt.Sprintf("%s-%s-%d", name, theme, width))
	b.size(width, 844)
}

// alike leaves out what follows on many of its kind, since an audit of a list takes as long as the list is: rows and
// paragraphs are written by one template.
const alike = `for (const parent of document.querySelectorAll('main, main *')) {
	const seen = {};
	for (const e of [...parent.children]) {
		const kind = e.tagName + e.className;
		if ((seen[kind] = (seen[kind] || 0) + 1) > 15) e.remove();
	}
}`

// flaws is a function that lists what is wrong with a page on a small or a large
// screen. Targets are at least 24 pixels large (WCAG 2.2, success criterion
// 2.5.8), on phones 40, except links within sentences, which are 24 high there.
const flaws = `small => {
	const bad = [];
	const visible = e => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length && !e.closest('.away, .skip');
	const name = e => e.tagName.toLowerCase() + (e.id ? '#' + e.id : '') + [...e.classList].map(c => '.' + c).join('') + ' "' + (e.textContent || e.getAttribute('aria-label') || e.name || '').trim().slice(0, 30) + '"';
	const over = document.documentElement.scrollWidth - innerWidth;
	if (over > 0) bad.push('it is ' + over + ' too wide');
	// Only the filters of the list of containers, lines to paste and diffs may scroll sideways.
	if (small) for (const e of document.querySelectorAll('main *')) {
		if (e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(e).overflowX) && !e.matches('pre, code, .finder, .chips')) bad.push(name(e) + ' scrolls sideways');
	}
	const words = document.body.innerText.match(/.{0,30}(\bundefined\b|\bNaN\b|<nil>|<no value>|%!|0001-01-01).{0,30}/);
	if (words) bad.push('it says ' + words[0]);
	if (!location.pathname.endsWith('/api') && /\bnull\b/.test(document.body.innerText)) bad.push('it says null');
	if (/0001-01-01|%!\w\(/.test(document.body.outerHTML)) bad.push('it has a time or a format that nobody set');
	const targets = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')].filter(visible);
	const least = small ? 40 : 24;
	for (const e of targets) {
		let box = e.closest('label:has(input)') || e;
		if (e.matches('.row .name')) box = e.closest('.row');
		if (e.matches('.links a')) box = e.closest('li');
		if (e.matches('pre')) continue;
		const sentence = e.tagName === 'A' && getComputedStyle(e).display === 'inline' && [...e.parentElement.childNodes].some(n => n !== e && n.textContent.trim() && n.nodeType !== 8);
		if (sentence) { // of which each line is a target
			for (const r of e.getClientRects()) if (small && Math.round(r.height) < 24) bad.push('a link of a sentence is ' + Math.round(r.height) + ' high: ' + name(e));
			continue;
		}
		const {width, height} = box.getBoundingClientRect();
		if (Math.min(Math.round(width), Math.round(height)) < least) bad.push('too small to hit, ' + Math.round(width) + ' by ' + Math.round(height) + ': ' + name(e));
	}
	for (const form of document.forms) {
		const heights = new Map(targets.filter(e => e.form === form && form.contains(e) && e.matches('select, button, input:not([type=checkbox], [type=radio])')).map(e => [Math.round(e.getBoundingClientRect().height), e]));
		if (heights.size > 1) bad.push('controls of ' + [...heights.keys()].join(' and ') + ' px in a form: ' + [...heights.values()].map(name).join(', '));
	}
	for (const cell of document.querySelectorAll('tbody td:not(.end), dd')) if (visible(cell) && !cell.textContent.trim()) bad.push('an empty ' + name(cell) + ' after ' + name(cell.previousElementSibling));
	const before = document.activeElement, at = scrollY;
	for (const e of targets.slice(0, 80)) {
		e.focus({preventScroll: true, focusVisible: true});
		if (document.activeElement !== e) continue; // behind a dialog
		const ring = [e, e.closest('.row'), e.closest('label')].some(r => { const s = r && getComputedStyle(r); return s && s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2; });
		if (!ring) bad.push('nothing shows the focus of ' + name(e));
	}
	if (before) before.focus({preventScroll: true});
	const bar = document.querySelector('.side nav'), main = document.querySelector('main');
	if (small && bar && !document.querySelector('dialog[open]')) {
		scrollTo(0, document.documentElement.scrollHeight);
		// Rows are laid out when they come into sight (content-visibility): until then what is in them stands out.
		const last = [...main.querySelectorAll('*')].filter(visible).filter(e => getComputedStyle(e).position !== 'fixed' && !e.closest('.bulk, .row > *')).reduce((low, e) => e.getBoundingClientRect().bottom > low.getBoundingClientRect().bottom ? e : low, main.querySelector('h1'));
		if (last.getBoundingClientRect().bottom > bar.getBoundingClientRect().top) bad.push('the bar covers the end of the page, ' + name(last));
	}
	scrollTo(0, at);
	for (const r of performance.getEntriesByType('resource')) if (!r.name.startsWith(location.origin)) bad.push('it loads ' + r.name);
	return bad;
}`
