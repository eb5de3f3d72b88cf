package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// notesOfAPage is how many releases a page has with their text.
const notesOfAPage = 10

// TestHostileNotesInABrowser shows every hostile text of core/decide/notes as release notes: no
// script of theirs runs, nothing is loaded from elsewhere, the content security policy has
// nothing to forbid, no element leaves its place, and no page scrolls sideways.
func TestHostileNotesInABrowser(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	file, err := os.ReadFile("../../core/decide/notes/testdata/hostile.json")
	must(t, err)
	var hostile []string
	must(t, json.Unmarshal(file, &hostile))
	f := newFleet(t, 0, registrysim.Options{})
	releases := map[string][]map[string]any{}
	pages := slices.Collect(slices.Chunk(hostile, notesOfAPage))
	for i, texts := range pages {
		app := fmt.Sprintf("app%d", i)
		for n, text := range texts {
			// What follows a text must still be outside of it, however it ends.
			releases[app] = append(releases[app], map[string]any{
				"tag_name": fmt.Sprintf("v1.%d.0", len(texts)-n), "published_at": "2026-10-21T10:00:00Z",
				"body": text + "\n\nBREAKING: " + text,
			})
		}
		releases[app] = append(releases[app], map[string]any{"tag_name": "v1.0.0"})
	}
	env, at := notesHost(t, releases)
	for i, texts := range pages {
		app := fmt.Sprintf("app%d", i)
		f.registries[0].Push("team/"+app, "1.0.0", fmt.Sprintf("1.%d.0", len(texts)))
		f.run(t, app, 0, "team/"+app, "1.0.0", "", map[string]string{"org.opencontainers.image.source": at + "/team/" + app})
	}
	d := install(t, append(append(f.env(), env...), "DOGWATCH_REGISTRY_HUB_PUBLIC_MIRROR=http://"+f.hosts[0])...).start()
	eventually(t, "every update is found", func() bool {
		found := 0
		for _, c := range d.containers() {
			if c.UpdateAvailable {
				found++
			}
		}
		return found == len(pages)
	})
	b := openTab(t, d.url)
	_, err = chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		window.ran = [];
		for (const name of ['alert', 'confirm', 'prompt', 'open', 'print', 'eval']) window[name] = () => window.ran.push(name);
		addEventListener('securitypolicyviolation', e => window.ran.push('violation of ' + e.violatedDirective + ' by ' + e.blockedURI), true);`})
	must(t, err)
	b.size(360, 740)
	for i, texts := range pages {
		path := fmt.Sprintf("/containers/local/app%d?notes=1", i)
		b.open(path)
		b.settle()
		b.until(fmt.Sprintf("document.querySelectorAll('.notes > details').length === %d", len(texts)))
		js[any](b, "document.querySelectorAll('.notes details').forEach(d => { d.open = true })")
		// What would happen with a press or a focus happens now.
		js[any](b,
			`document.querySelectorAll('.notes *').forEach(e => ['mouseover', 'focus', 'toggle', 'load', 'error'].forEach(type => e.dispatchEvent(new Event(type))))`)
		for what, expression := range map[string]string{
			"what ran":                "window.ran.join(', ')",
			"requests elsewhere":      "performance.getEntriesByType('resource').map(e => e.name).filter(at => !at.startsWith(location.origin + '/')).join(', ')",
			"elements of the notes":   "[...document.querySelectorAll('.notes > details > div *')].map(e => e.localName).filter(n => !/^(p|br|hr|h[3-6]|ul|ol|li|blockquote|pre|code|em|strong|del|table|thead|tbody|tr|th|td|a)$/.test(n)).join(', ')",
			"attributes":              "[...document.querySelectorAll('.notes > details > div *')].flatMap(e => [...e.attributes].map(a => a.name)).filter(n => !['href', 'rel', 'target'].includes(n)).join(', ')",
			"links that lead inside":  "[...document.querySelectorAll('.notes > details > div a')].filter(a => !/^https?:$/.test(a.protocol) || a.host === location.host).map(a => a.href).join(', ')",
			"what lies over it":       "[...document.querySelectorAll('.notes > details > div *')].filter(e => ['fixed', 'absolute', 'sticky'].includes(getComputedStyle(e).position)).map(e => e.localName).join(', ')",
			"what is beside the page": `[...document.querySelectorAll('.notes *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('pre, table, .notes > details > div')).map(e => e.localName + ' ' + e.textContent.slice(0, 40)).join(', ')`,
		} {
			if found := js[string](b, expression); found != "" {
				t.Errorf("%s: %s: %.300s", path, what, found)
			}
		}
		if over := js[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			b.shot(fmt.Sprint("wide", i))
			t.Errorf("%s scrolls sideways by %d pixels", path, over)
		}
		// The page goes on behind the notes.
		if title := js[string](b, "document.title"); !strings.HasPrefix(title, fmt.Sprint("app", i)) {
			t.Errorf("%s has the title %q", path, title)
		}
		b.until("!document.querySelector('.htmx-request')") // which leaving would end with an error
	}
}
