package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestFloatingAndPinnedTags: what a tag stands for is watched where it changes, for
// one HEAD more; a container pinned by digest is compared by the version that the
// engine knows; API and page show both.
func TestFloatingAndPinnedTags(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 0, registrysim.Options{})
	sim, repo := f.registries[0], "library/postgres"
	sim.Push(repo, "16-alpine", "16.3-alpine", "16.4-alpine", "16.4", "latest")
	sim.Push("team/app", "1.0.0", "1.1.0")
	run := func(name, reference, repo, tag string, tags []string, labels map[string]string) {
		t.Helper()
		image, _ := sim.Image(repo, tag)
		f.engine.AddImage(enginesim.Image{
			ID: image.Platforms[0].Config, Tags: tags, Digests: []string{f.hosts[0] + "/" + repo + "@" + image.Digest},
		})
		if reference == "" {
			reference = f.hosts[0] + "/" + repo + "@" + image.Digest
		}
		_, err := f.engine.Create(enginesim.Container{Name: name, Image: reference, Labels: labels})
		must(t, err)
	}
	alpine := f.hosts[0] + "/" + repo + ":16-alpine"
	run("floating", alpine, repo, "16-alpine", []string{alpine}, nil)
	run("left-alone", alpine, repo, "16-alpine", []string{alpine}, map[string]string{"wud.watch.digest": "false"})
	fixed := f.hosts[0] + "/" + repo + ":16.4-alpine"
	run("fixed", fixed, repo, "16.4-alpine", []string{fixed}, nil)
	run("pinned", "", "team/app", "1.0.0", []string{f.hosts[0] + "/team/app:1.0.0", "mirror.example/team/app:latest"}, nil)

	d := install(t, f.env()...).start()
	check := func(heads int) map[string]sdk.Container {
		t.Helper()
		sim.ResetCounts()
		all := map[string]sdk.Container{}
		for _, c := range get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch") {
			if all[c.Name] = c; c.Check.State != sdk.CheckOK {
				t.Errorf("%s: %s", c.Name, show(c))
			}
		}
		if got := sim.Counts(); got.Heads != heads || got.Tags != 2 {
			t.Errorf("%+v, want %d HEAD requests and 2 lists", got, heads)
		}
		return all
	}
	d.loaded()
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch") // ends with the check at start, which is not counted
	for range 2 {
		all := check(1)
		if c := all["floating"]; c.UpdateAvailable || !c.Image.Tag.Floating || !c.Image.Digest.Watch {
			t.Errorf("floating: %s", show(c))
		}
		if c := all["left-alone"]; c.UpdateAvailable || !c.Image.Tag.Floating || c.Image.Digest.Watch {
			t.Errorf("left alone: %s", show(c))
		}
		if c := all["fixed"]; c.UpdateAvailable || c.Image.Tag.Floating || c.Image.Digest.Watch {
			t.Errorf("fixed: %s", show(c))
		}
		if c := all["pinned"]; !c.Image.Digest.Pinned || c.Image.Tag.Value != "1.0.0" ||
			c.UpdateKind.Kind != sdk.KindTag || c.Result.Tag != "1.1.0" {
			t.Errorf("pinned: %s", show(c))
		}
	}
	sim.Push(repo, "16-alpine") // stands for another image now
	now, _ := sim.Image(repo, "16-alpine")
	all := check(1)
	if c := all["floating"]; c.UpdateKind.Kind != sdk.KindDigest || c.UpdateKind.RemoteValue != now.Digest {
		t.Errorf("moved: %s", show(c))
	}
	if c := all["left-alone"]; c.UpdateAvailable {
		t.Errorf("moved, left alone: %s", show(c))
	}
	sim.Push(repo, "17-alpine")
	if c := check(1)["floating"]; c.Result.Tag != "17-alpine" {
		t.Errorf("a newer version comes first: %s", show(c))
	}
	check(0) // it was read once
	// The last, since viewing a page has versions and dates looked up: requests that are not those of a check.
	for path, want := range map[string]string{
		"/containers/local/floating?tab=details":   "floats: the registry has more specific tags, and the image behind it changes with them</dd>",
		"/containers/local/left-alone?tab=details": "changes with them; that is not watched</dd>",
		"/containers/local/pinned?tab=details":     "<dt>Pinned</dt>",
	} {
		status, page := d.request(http.MethodGet, path, "")
		if status != http.StatusOK || !strings.Contains(string(page), want) {
			t.Errorf("%s: %d, want %q in %s", path, status, want, page)
		}
	}
	if _, page := d.request(http.MethodGet, "/containers/local/fixed", ""); strings.Contains(string(page), "floats") ||
		strings.Contains(string(page), "<dt>Pinned</dt>") {
		t.Errorf("fixed: %s", page)
	}
	d.stop()
}
