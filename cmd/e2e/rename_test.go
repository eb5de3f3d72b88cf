package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// TestRenamedContainerKeepsHistory: docker rename is one event, no notification, and the
// page of the old name leads to that of the new one, with all that happened.
func TestRenamedContainerKeepsHistory(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, registrysim.Options{})
	f.registry(0).Push(f.repo(0), "2.0.0")
	d := install(t, append(f.env(), "DOGWATCH_TRIGGER_MOCK_MAIN_MOCK=told")...).start()
	one := func() (id, name string) {
		for _, c := range d.containers() {
			if c.UpdateAvailable {
				id, name = c.ID, c.Name
			}
		}
		return id, name
	}
	eventually(t, "the update is found", func() bool { id, _ := one(); return id != "" })
	id, old := one()
	sent := func() int {
		return len(get[[]delivery.Delivery](d, http.MethodGet, "/api/deliveries"))
	}
	eventually(t, "the trigger is told", func() bool {
		all := get[[]delivery.Delivery](d, http.MethodGet, "/api/deliveries?state=sent")
		return len(all) == 1
	})
	must(t, f.engine.Rename(old, "new"))
	eventually(t, "the name is known", func() bool { _, name := one(); return name == "new" })
	must(t, f.engine.Rename("new", "newest"))
	eventually(t, "the next name is known", func() bool { _, name := one(); return name == "newest" })
	get[[]any](d, http.MethodPost, "/api/containers/watch")

	var renames []string
	for _, e := range get[[]event.Event](d, http.MethodGet, "/api/events") {
		switch e.Type {
		case event.ContainerRenamed:
			renames = append(renames, e.From+" → "+e.Subject)
		case event.ContainerRemoved, event.ContainerReplaced:
			t.Errorf("%s %s", e.Type, e.Subject)
		}
	}
	if want := "new → local/newest, " + old + " → local/new"; strings.Join(renames, ", ") != want {
		t.Errorf("renames: %q, want %s", renames, want)
	}
	if now, _ := one(); now != id || sent() != 1 {
		t.Errorf("container %s, was %s; %d deliveries", now, id, sent())
	}

	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for path, want := range map[string]string{
		"/containers/local/" + old:          "/containers/local/newest",
		"/containers/local/new?why=1":       "/containers/local/newest?why=1",
		"/containers/local/" + old + "/why": "/containers/local/newest/why",
	} {
		resp, err := stay.Get(d.url + path)
		must(t, err)
		resp.Body.Close()
		if got := resp.Header.Get("Location"); resp.StatusCode != http.StatusFound || got != want {
			t.Errorf("%s: %d to %q, want %s", path, resp.StatusCode, got, want)
		}
	}
	if status, _ := d.request(http.MethodGet, "/containers/local/never", ""); status != http.StatusNotFound {
		t.Errorf("a name that nothing ever had: %d", status)
	}
	_, page := d.request(http.MethodGet, "/containers/local/newest?tab=activity", "")
	for _, want := range []string{"Renamed: new → newest", "Renamed: " + old + " → new", "Found, running"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	_, history := d.request(http.MethodGet, "/history", "")
	if !strings.Contains(string(history), "renamed: "+old+" → new") {
		t.Error("the history does not tell of it")
	}
}
