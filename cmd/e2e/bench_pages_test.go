package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkPages opens the overview and the list of 200 containers in a browser, of programs of other commits and that
// of this one in turns as BenchmarkTurns does. It logs when they are first painted, which is the best of some page
// views, and how long a change takes from the request that makes it until the list shows it.
func BenchmarkPages(b *testing.B) {
	requireBrowser(b)
	own, err := built()
	must(b, err)
	programs := append(filepath.SplitList(os.Getenv(programsEnv)), own)
	all := make([]medians, len(programs))
	for i := range all {
		all[i] = medians{}
	}
	for b.Loop() {
		for i, program := range programs {
			pagesTurn(b, program, all[i])
		}
	}
	b.ReportMetric(0, "ns/op")
	b.Log("\n" + compared(programs, all))
}

// pagesTurn runs a new installation of a program once.
func pagesTurn(b *testing.B, program string, m medians) {
	const containers, updates, views = 200, 12, 5
	f := scene{containers: containers}.fleet(b)
	for i := range updates {
		f.registry(i).Push(f.repo(i), "1.1.0")
	}
	in := installScene(b, f)
	in.program = program
	started := time.Now()
	d := in.start()
	d.checked(started)
	d.settled()
	page := openTab(b, d.url)
	for name, path := range map[string]string{"overview": "/", "list": "/containers"} {
		best := 1e9
		for range views {
			page.open(path)
			page.settle()
			best = min(best, js[float64](page, "performance.getEntriesByName('first-contentful-paint')[0].startTime"))
		}
		m.add("ms/paint-"+name, best)
	}
	page.open("/containers?state=updates")
	page.until("performance.now() > 2000") // a page fetches what it missed while it was loaded, and then rests for a moment
	for _, c := range d.containers() {
		if c.UpdateAvailable {
			m.add("ms/change", changed(page, d, c.ID, fmt.Sprintf(".row[data-key='%s/%s']", c.Watcher, c.Name)))
			break
		}
	}
	d.stop()
}

// changed returns how many milliseconds after a user has decided about an update its row says so.
func changed(page *tab, d *daemon, id, row string) float64 {
	page.until("document.querySelector(" + quoted(row) + ")")
	js[any](page, `new MutationObserver(() => { window.changedAt ??= Date.now(); }).observe(document.querySelector(`+
		quoted(row)+`).closest('main'), {subtree: true, childList: true, characterData: true, attributes: true}), 0`)
	asked := time.Now()
	d.request(http.MethodPost, "/api/containers/"+id+"/decision", `{"action":"snooze"}`)
	page.until("window.changedAt")
	return js[float64](page, "window.changedAt") - float64(asked.UnixMilli())
}
