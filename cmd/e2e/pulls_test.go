package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

// hubSite is the API of Docker Hub's web site for a simulated registry
// (https://docs.docker.com/reference/api/hub/latest/).
type hubSite struct {
	*registrysim.Registry

	mu       sync.Mutex
	pushed   map[string][]hubPush // by repository, the newest first
	requests []string
	down     bool
}

type hubPush struct {
	tag string
	at  time.Time
}

// push pushes an image each behind tags, at a time.
func (h *hubSite) push(repo string, at time.Time, tags ...string) {
	h.Push(repo, tags...)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, tag := range tags {
		h.pushed[repo] = slices.DeleteFunc(h.pushed[repo], func(p hubPush) bool { return p.tag == tag })
		h.pushed[repo] = slices.Insert(h.pushed[repo], 0, hubPush{tag, at})
	}
}

// tag puts the image behind a tag behind others, too, at a time.
func (h *hubSite) tag(repo string, at time.Time, tag string, others ...string) {
	h.Tag(repo, tag, others...)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, other := range others {
		h.pushed[repo] = slices.Insert(h.pushed[repo], 0, hubPush{other, at})
	}
}

// took returns the requests since it was called last.
func (h *hubSite) took() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	requests := h.requests
	h.requests = nil
	return requests
}

// ServeHTTP serves the tags of a repository, or one.
func (h *hubSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	repo, tag := r.PathValue("namespace")+"/"+r.PathValue("name"), r.PathValue("tag")
	h.requests = append(h.requests, fmt.Sprint(repo, ":", tag))
	var found []any
	for _, p := range h.pushed[repo] {
		if tag != "" && p.tag != tag || len(found) == 100 {
			continue
		}
		image, _ := h.Image(repo, p.tag)
		var images []any
		for _, i := range image.Platforms {
			images = append(images, map[string]any{
				"architecture": i.Platform.Architecture, "os": i.Platform.OS, "variant": nil, "digest": i.Digest,
				"status": "active", "last_pushed": p.at.UTC(),
			})
		}
		found = append(found, map[string]any{
			"name": p.tag, "digest": image.Digest, "images": images, "tag_last_pushed": p.at.UTC(), "last_updated": p.at.UTC(),
		})
	}
	switch {
	case h.down:
		w.WriteHeader(http.StatusServiceUnavailable)
	case len(found) == 0:
		w.WriteHeader(http.StatusNotFound)
	case tag != "":
		_ = json.NewEncoder(w).Encode(found[0])
	default:
		_ = json.NewEncoder(w).Encode(map[string]any{
			"count": len(h.pushed[repo]), "next": nil, "previous": nil, "results": found,
		})
	}
}

// newHubSite returns Docker Hub under its real names, for the registry of a fleet, and the options that lead there.
func newHubSite(t testing.TB, r *registrysim.Registry) (*hubSite, []string) {
	n := newInternet(t, "")
	n.site("registry-1.docker.io").Handle("/", r)
	n.site("auth.docker.io").Handle("/", r)
	h := &hubSite{Registry: r, pushed: map[string][]hubPush{}}
	for _, path := range []string{"", "/{tag}"} {
		n.site("hub.docker.com").Handle("GET /v2/namespaces/{namespace}/repositories/{name}/tags"+path, h)
	}
	return h,
		[]string{"DOGWATCH_REGISTRY_HUB_PUBLIC_PROXY=http://" + n.proxy, "DOGWATCH_REGISTRY_HUB_PUBLIC_TLS_CAFILE=" + n.file}
}

// TestChecksMakeNoPullsAtDockerHub: Docker Hub counts each GET of a manifest as a pull. Checks
// make none: for images of any kind, when digests change and when rules ask for an age. Versions
// and dates that pages show are found without one, too.
func TestChecksMakeNoPullsAtDockerHub(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 0,
		registrysim.Options{Auth: registrysim.Token, Service: "registry.docker.io",
			Realm: "https://auth.docker.io/token", ETags: true, Config: func(repo string, _ int) map[string]any {
				if repo == "team/labelled" {
					return map[string]any{"Labels": map[string]string{"org.opencontainers.image.version": "2.0.0"}}
				}
				return map[string]any{}
			}})
	hub, env := newHubSite(t, f.registries[galleryHub])
	old := time.Now().Add(-30 * 24 * time.Hour)
	digest := map[string]string{"dogwatch.watch.digest": "true"}
	for _, a := range []struct {
		name, repo, tag string
		others          []string
		labels          map[string]string
	}{
		{"version", "library/redis", "7.4.1", []string{"7.4.2", "latest"}, nil},
		{"aged", "team/aged", "1.0.0", []string{"1.1.0"}, map[string]string{"dogwatch.update.minage": "7d"}},
		{"current", "team/current", "1.0.0", nil, nil},
		{"floating", "library/postgres", "16-alpine", []string{"16.3-alpine", "16.4-alpine"}, nil},
		{"latest", "library/nginx", "latest", []string{"1.27.2", "1.27.3"}, digest},
		{"outdated", "team/outdated", "latest", nil, digest},
		{"stable", "team/stable", "stable", []string{"2.0.0"}, digest},
		{"labelled", "team/labelled", "lts", nil, map[string]string{
			"dogwatch.watch.digest": "true", "org.opencontainers.image.version": "1.0.0",
		}},
	} {
		hub.push(a.repo, old, append(a.others, a.tag)...)
		f.run(t, a.name, galleryHub, a.repo, a.tag, "", a.labels)
	}
	hub.push("team/outdated", time.Now(), "latest") // the first check finds it changed
	in := install(t, append(f.env(), env...)...)
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
	site := func(what string, want ...string) {
		t.Helper()
		got := hub.took()
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: the web site got %q, want %q", what, got, want)
		}
	}
	d.waitFor(8)
	d.settled()
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch") // ends after the check at the start
	if counts := hub.Counts(); counts.Manifests+counts.Blobs > 0 || counts.Tags == 0 {
		t.Errorf("the first check: %+v", counts)
	}
	site("the first check", "library/redis:", "team/aged:", "team/outdated:")
	check("nothing is new", 0, 3)
	site("nothing is new")
	hub.push("team/current", time.Now(), "2.0.0")
	check("a new version", 0, 4)
	hub.ExpireTokens()
	check("without a token", 0, 4)
	site("a new version", "team/current:") // whether it is an image
	hub.push("team/aged", time.Now(), "1.2.0")
	check("a version that is too young", 0, 4)
	site("a version that is too young", "team/aged:1.2.0") // the list is still fresh
	if c := d.container("aged"); c.Result.Tag != "1.1.0" || c.Result.Levels.Minor.Tag != "1.2.0" ||
		c.Result.Levels.Minor.Created.IsZero() {
		t.Errorf("a version that is too young: %s", show(c))
	}

	// The version behind a tag is found with HEAD requests, when its page is looked at.
	hub.ResetCounts()
	d.versionIsSought(t, "stable")
	if counts := hub.Counts(); counts.Manifests > 0 || counts.Heads != 1 {
		t.Errorf("looking for a version: %+v", counts)
	}
	check("a version was looked for", 0, 4)

	// Changed digests take a request each to the web site.
	hub.push("library/nginx", time.Now(), "latest")
	hub.tag("library/nginx", time.Now(), "latest", "1.27.4", "1.27")
	hub.push("team/stable", time.Now(), "stable")
	hub.push("team/labelled", time.Now(), "lts")
	hub.push("library/postgres", time.Now(), "16-alpine")
	check("changed digests", 0, 8)
	site("changed digests", "library/nginx:", "library/postgres:", "team/labelled:", "team/stable:")
	if c := d.container("latest"); c.Result.Version != "1.27.4" {
		t.Errorf("the version of a changed digest: %s", show(c))
	}
	check("the same digests", 0, 8)
	d.stop()
	d = in.start()
	d.waitFor(8)
	check("after a restart", 0, 8)
	site("after a restart")
	use := map[string]int{}
	for _, r := range get[[]registryUse](d, http.MethodGet, "/api/registries") {
		for _, u := range r.Requests {
			use[u.Host] += u.Used
		}
	}
	if use["hub.docker.com"] != 9 || use["docker.io"] == 0 {
		t.Errorf("counted requests: %v", use)
	}

	// Pages have the dates of two new versions found, and a version that only a label says: that is a pull.
	hub.ResetCounts()
	if status, _ := d.request(http.MethodGet, "/containers", ""); status != http.StatusOK {
		t.Errorf("the list: %d", status)
	}
	eventually(t, "all dates are known", func() bool {
		return !slices.ContainsFunc(d.containers(), func(c sdk.Container) bool {
			return c.UpdateAvailable && c.Result.Created.IsZero()
		})
	})
	if counts := hub.Counts(); counts.Manifests > 0 {
		t.Errorf("looking at dates: %+v", counts)
	}
	d.versionIsSought(t, "labelled")
	eventually(t, "the version that only a label says is known", func() bool {
		return d.container("labelled").Result.Version == "2.0.0"
	})
	if counts := hub.Counts(); counts.Manifests != 2 {
		t.Errorf("looking at a labelled image: %+v", counts)
	}
	check("dates were read", 0, 8)

	// Without the web site manifests are read, as from any registry.
	hub.mu.Lock()
	hub.down = true
	hub.mu.Unlock()
	hub.push("team/stable", time.Now(), "stable")
	hub.push("library/postgres", time.Now(), "16-alpine")
	hub.took()
	check("the web site is down", 2*2, 8)
	if requests := hub.took(); len(requests) != 1 && len(requests) != 2 { // one after the other, or at once
		t.Errorf("requests to a web site that is down: %q", requests)
	}
}

// registryUse is what the API says of the requests to a registry.
type registryUse struct {
	Requests []struct {
		Host string
		Used int
	}
}

// versionIsSought looks at the page of a container, until the search for its version has ended.
func (d *daemon) versionIsSought(t *testing.T, name string) {
	t.Helper()
	image := d.container(name).Image
	if status, body := d.request(http.MethodGet, "/containers/local/"+name, ""); status != http.StatusOK {
		t.Fatalf("%s: %d %s", name, status, body)
	}
	eventually(t, "the search for the version of "+name+" has ended", func() bool {
		return d.logged("docker.io/"+image.Name, "no tag with the digest of an image was found") ||
			d.logged("docker.io/"+image.Name, "found out the version of an image")
	})
}

// container returns one by its name.
func (d *daemon) container(name string) sdk.Container {
	d.t.Helper()
	all := d.containers()
	i := slices.IndexFunc(all, func(c sdk.Container) bool { return c.Name == name })
	if i < 0 {
		d.t.Fatalf("there is no container %s", name)
	}
	return all[i]
}
