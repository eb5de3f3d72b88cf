package e2e

import (
	"net/http"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

// TestBrowserListByParts scrolls and walks through a list that is longer than its first part, follows what changes in
// it, and pages through it without script.
func TestBrowserListByParts(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	l := startLab(t, 230)
	b := openTab(t, l.url)
	b.open("/containers?sort=name")
	b.settle()
	const rows = "document.querySelectorAll('.row').length"
	if n := js[int](b, rows); n != 100 {
		t.Errorf("the first part has %d rows", n)
	}
	b.stay()
	// One that is shown changes in its place, and another where it is not seen.
	first, all := js[string](b, "document.querySelectorAll('.row .name')[5].textContent"), l.containers()
	last := all[len(all)-1]
	for _, c := range all {
		if c.Name > last.Name {
			last = c
		}
	}
	check := func(c sdk.Container) {
		repo := c.Image.Name
		for i := range l.registries {
			l.registry(i).Push(repo, "3.0.0")
		}
		l.request(http.MethodPost, "/api/containers/"+c.ID+"/watch", "")
	}
	check(last)
	for _, c := range all {
		if c.Name == first {
			check(c)
		}
	}
	b.until("document.querySelectorAll('.row .kind.major').length === 2")
	b.says("1 change")
	b.until("!document.getElementById('behind').hidden && !document.body.innerText.includes('2 changes')")

	b.press("x") // nothing is focused: nothing is selected
	b.press("k") // from the end
	b.until(rows + " > 100 && document.querySelectorAll('.group').length === 1")
	js[any](b, "scrollTo(0, document.body.scrollHeight), 0")
	b.until("(scrollTo(0, document.body.scrollHeight), " + rows + " === 230)")
	b.until("!document.querySelector('.lazy') && document.querySelectorAll('.rows').length === 1")
	if n := js[int](b, "new Set([...document.querySelectorAll('.row')].map(row => row.dataset.key)).size"); n != 230 {
		t.Errorf("%d of 230 containers are shown", n)
	}
	b.shot("end")
	b.click(".row:last-child .name")
	b.until("document.querySelector('#sheet h1')?.textContent === " + quoted(last.Name))
	b.press("k")
	b.until("document.querySelector('#sheet h1').textContent !== " + quoted(last.Name))
	b.escape()
	b.press("x")
	b.until("document.querySelector('#bulk strong').textContent === '1 selected'")
	b.click("#behind button")
	b.until(rows + " === 100")
	b.stayed("the list")

	b.scriptless = true
	b.open("/containers?sort=name&from=200")
	b.says("Show 101 to 200 of 230")
	if n := js[int](b, rows); n != 30 {
		t.Errorf("the last part has %d rows", n)
	}
}
