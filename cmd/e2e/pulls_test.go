package e2e

import (
	"net/http"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestChecksMakeNoPullsAtDockerHub: Docker Hub counts each GET of a manifest as a pull. Checks
// make none for images of any kind, and read what is behind a changed digest once. Pages
// that are looked at have dates read; versions are found without a pull.
func TestChecksMakeNoPullsAtDockerHub(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 0, registrysim.Options{Auth: registrysim.Token, Service: "registry.docker.io", ETags: true})
	hub := f.registries[galleryHub]
	digest := map[string]string{"dogwatch.watch.digest": "true"}
	for _, a := range []struct {
		name, repo, tag string
		others          []string
		labels          map[string]string
	}{
		{"version", "library/redis", "7.4.1", []string{"7.4.2", "latest"}, nil},
		{"current", "team/current", "1.0.0", nil, nil},
		{"floating", "library/postgres", "16-alpine", []string{"16.3-alpine", "16.4-alpine"}, nil},
		{"latest", "library/nginx", "latest", []string{"1.27.2", "1.27.3"}, digest},
		{"stable", "team/stable", "stable", []string{"2.0.0"}, digest},
		{"labelled", "team/labelled", "lts", nil, map[string]string{"dogwatch.watch.digest": "true", "org.opencontainers.image.version": "1.0.0"}},
	} {
		hub.Push(a.repo, append(a.others, a.tag)...)
		f.run(t, a.name, galleryHub, a.repo, a.tag, "", a.labels)
	}
	in := install(t, append(f.env(), "DOGWATCH_REGISTRY_HUB_PUBLIC_MIRROR=http://"+f.hosts[galleryHub])...)
	d := in.start()
	check := func(what string, pulls, updates int) {
		t.Helper()
		hub.ResetCounts()
		var got int
		for _, c := range get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch") {
			if c.Check.State != sdk.CheckOK || c.Image.Registry.Host != "docker.io" {
				t.Errorf("%s: %s", what, show(c))
			}
			if c.UpdateAvailable {
				got++
			}
		}
		if counts := hub.Counts(); counts.Manifests != pulls || counts.Heads == 0 || got != updates {
			t.Errorf("%s: %d updates, %+v; want %d updates and %d reads of manifests", what, got, counts, updates, pulls)
		}
	}
	d.waitFor(6)
	d.settled()
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch") // ends after the check at the start
	if counts := hub.Counts(); counts.Manifests+counts.Blobs > 0 || counts.Tags == 0 {
		t.Errorf("the first check: %+v", counts)
	}
	check("nothing is new", 0, 1)
	hub.Push("team/current", "2.0.0")
	check("a new version", 0, 2)
	hub.ExpireTokens()
	check("without a token", 0, 2)

	// An index and the manifest of the platform for each of the four.
	hub.Push("library/nginx", "latest")
	hub.Push("team/stable", "stable")
	hub.Push("team/labelled", "lts")
	hub.Push("library/postgres", "16-alpine")
	check("changed digests", 4*2, 6)
	check("the same digests", 0, 6)
	d.stop()
	d = in.start()
	d.waitFor(6)
	check("after a restart", 0, 6)

	// The versions behind tags are found with HEAD requests, when their page is looked at.
	hub.ResetCounts()
	f.versionsAreFound(t, d, "/containers/local/latest", 1)
	if counts := hub.Counts(); counts.Manifests > 0 {
		t.Errorf("looking for a version: %+v", counts)
	}
	check("a version was looked for", 0, 6)

	// The dates of two new versions are read when they are looked at.
	hub.ResetCounts()
	if status, _ := d.request(http.MethodGet, "/containers", ""); status != http.StatusOK {
		t.Errorf("the list: %d", status)
	}
	eventually(t, "both dates are known", func() bool {
		known := 0
		for _, c := range d.containers() {
			if c.UpdateKind.Kind == sdk.KindTag && c.UpdateAvailable && !c.Result.Created.IsZero() {
				known++
			}
		}
		return known == 2
	})
	if counts := hub.Counts(); counts.Manifests != 2*2 {
		t.Errorf("looking at two dates: %+v", counts)
	}
	check("dates were read", 0, 6)
}

// versionsAreFound looks at a page until tags were resolved for it.
func (f *fleet) versionsAreFound(t *testing.T, d *daemon, path string, heads int) {
	t.Helper()
	if status, body := d.request(http.MethodGet, path, ""); status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, status, body)
	}
	eventually(t, "tags are resolved", func() bool { return f.registries[galleryHub].Counts().Heads >= heads })
}
