package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// TestCountsAgreeEverywhere: pages, chips, summary, badge, metrics, the log and the history
// tell the same numbers of the same containers, of which some have a failed
// check, a wrong label, or one of these and an update.
func TestCountsAgreeEverywhere(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 0, registrysim.Options{}, registrysim.Options{
		Auth: registrysim.Basic, Users: map[string]string{"ana": "x"}, Private: func(string) bool { return true },
	})
	nonsense := map[string]string{"dogwatch.link.template": "https://example.org/${container.name.nonsense()}"}
	for _, a := range []struct {
		name     string
		registry int
		newer    string
		labels   map[string]string
	}{
		{"current", galleryHub, "", nil},
		{"update", galleryHub, "1.1.0", nil},
		{"refused", galleryLocked, "", nil},
		{"mislabelled", galleryHub, "", nonsense},
		{"mislabelled-update", galleryHub, "2.0.0", nonsense},
	} {
		repo := "team/" + a.name
		f.registries[a.registry].Push(repo, "1.0.0")
		f.run(t, a.name, a.registry, repo, "1.0.0", "", a.labels)
		if a.newer != "" {
			f.registries[a.registry].Push(repo, a.newer)
		}
	}
	d := install(t, append(f.env(), "DOGWATCH_REGISTRY_HUB_PUBLIC_MIRROR=http://"+f.hosts[galleryHub])...).start()
	d.waitFor(5)
	d.settled()
	if status, _ := d.request(http.MethodPost, "/api/containers/watch", ""); status != http.StatusOK {
		t.Fatalf("the check is answered with %d", status)
	}
	text := func(path string) string {
		_, body := d.request(http.MethodGet, path, "")
		return string(body)
	}
	const updates, failed, stale = 2, 2, 1 // stale is an update whose label is wrong
	var s struct{ Containers, Updates, Failed, Stale, UpToDate, Unchecked int }
	must(t, json.Unmarshal([]byte(text("/api/summary")), &s))
	if s.Containers != 5 || s.Updates != updates || s.Failed != failed || s.Stale != stale || s.UpToDate != 1 ||
		s.Unchecked != 0 {
		t.Errorf("summary: %+v", s)
	}
	sentence := fmt.Sprintf("%d updates · %d failed · 1 up to date", updates, failed)
	for path, want := range map[string][]string{
		"/": {sentence},
		"/containers": {sentence, fmt.Sprintf("failed <b>%d</b>", failed),
			fmt.Sprintf("updates <b>%d</b>", updates)},
		"/containers?state=failed": {`data-key="local/refused"`, `data-key="local/mislabelled"`},
		"/api/badge.svg":           {fmt.Sprintf("%d updates, %d failed", updates, failed)},
		"/metrics": {
			fmt.Sprintf(`dogwatch_containers_failed{watcher="local"} %d`, failed+stale),
			`dogwatch_containers{change="failed",watcher="local"} 2`,
			`dogwatch_containers{change="none",watcher="local"} 1`, `dogwatch_containers{change="major",watcher="local"} 1`,
		},
	} {
		body := text(path)
		for _, w := range want {
			if !strings.Contains(body, w) {
				t.Errorf("%s lacks %q", path, w)
			}
		}
	}
	if n := strings.Count(text("/containers?state=failed"), `<li class="row"`); n != failed {
		t.Errorf("%d rows of failures", n)
	}
	for _, e := range get[[]event.Event](d, http.MethodGet, "/api/events?limit=1000") {
		if e.Type == event.CheckFinished && !e.Check.Single {
			if e.Check.Failed != failed+stale || len(e.Check.Updates) != updates {
				t.Errorf("history: %+v", e.Check)
			}
			break
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	log := d.log.String()
	if all := regexp.MustCompile(`"check finished".*"failed":(\d+)`).FindAllStringSubmatch(log, -1); len(all) == 0 ||
		all[len(all)-1][1] != fmt.Sprint(failed) {
		t.Errorf("log: %q", all)
	}
	if n := strings.Count(log, "a label of a container is wrong"); n != 2 {
		t.Errorf("the log tells of %d wrong labels", n)
	}
}
