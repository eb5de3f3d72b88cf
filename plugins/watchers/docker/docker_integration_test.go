package docker

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// flavour is how one engine differs from others in its responses.
type flavour struct {
	// domain and namespace are what it lists before a name without them.
	domain, namespace string
	// server is how it names itself.
	server string
	// digests is true when it gives images a digest that were made here.
	digests bool
	// dropsTag is true when it forgets the tag of a name that has a digest, too.
	dropsTag bool
	// runs is true when containers run on while the engine is stopped.
	runs bool
}

// TestRealEngine runs against a dockerd and a Podman of its own, and a registry that it pushes to and pulls from.
func TestRealEngine(t *testing.T) {
	t.Parallel()
	t.Run("docker", func(t *testing.T) { testRealEngine(t, dockertest.Start(t), flavour{server: "Docker/"}) })
	t.Run("podman", func(t *testing.T) {
		testRealEngine(t, dockertest.StartPodman(t), flavour{
			domain: "docker.io", namespace: "library/", server: "Libpod/", digests: true, dropsTag: true, runs: true,
		})
	})
}

func testRealEngine(t *testing.T, engine *dockertest.Daemon, is flavour) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")

	watching := watch(t, Options{Connection: Connection{Socket: engine.Host}})
	everything := watch(t, Options{Connection: Connection{Socket: engine.Host}, WatchAll: true})
	labels := map[string]string{"dogwatch.watch": "true", "dogwatch.tag.include": `^\d+$`, "empty": ""}
	first := engine.Image(t, "app:1", "LABEL generation=1")
	web := engine.Run(t, "web", "app:1", labels)

	t.Run("fields", func(t *testing.T) {
		inspected, err := engine.API.ImageInspect(t.Context(), first)
		check(t, err)
		born, err := time.Parse(time.RFC3339Nano, inspected.Created)
		check(t, err)
		wanted := map[string]string{"generation": "1"}
		for k, v := range labels {
			wanted[k] = v
		}
		got := list(t, watching)["web"]
		if is.digests {
			got.Image.Digest, got.Image.Digests = "", nil
		}
		started, err := engine.API.ContainerInspect(t.Context(), web)
		check(t, err)
		created, err := time.Parse(time.RFC3339Nano, started.Created)
		check(t, err)
		same(t, got, watcher.Container{
			ID: web, Name: "web", Status: "running", Created: sdk.TimeOf(created.Truncate(time.Second)),
			Labels: wanted, ImageLabels: []string{"generation"},
			Image: watcher.Image{ID: first, Host: is.domain, Name: is.namespace + "app", Tag: "1", Built: !is.digests,
				Platform: sdk.Platform{OS: "linux", Architecture: runtime.GOARCH}, Created: sdk.TimeOf(born)},
		})
	})

	t.Run("about", func(t *testing.T) {
		about, err := watching.Probe(t.Context(), sdk.ProbeRequest{})
		check(t, err)
		if !strings.HasPrefix(about.Summary, is.server) || !strings.Contains(about.Summary, ", API 1.") {
			t.Errorf("the engine is %q", about.Summary)
		}
	})

	t.Run("events", func(t *testing.T) {
		d := watch(t, Options{Connection: Connection{Socket: engine.Host}, WatchAll: true})
		list(t, d)
		f := subscribe(t, d)
		f.streams(1)
		check(t, engine.API.ContainerStop(t.Context(), web, container.StopOptions{}))
		f.expect(watcher.ActionStatus, web, "exited")
		if c := list(t, everything)["web"]; c.Status != "exited" {
			t.Errorf("listed as %s", c.Status)
		}
		if got := list(t, watching); len(got) != 0 {
			t.Errorf("without watchall: %+v", got)
		}
		check(t, engine.API.ContainerStart(t.Context(), web, container.StartOptions{}))
		f.expect(watcher.ActionStatus, web, "running")
		check(t, engine.API.ContainerRename(t.Context(), web, "renamed"))
		f.expect(watcher.ActionChanged, web, "")
		if _, found := list(t, watching)["renamed"]; !found {
			t.Error("not found under its new name")
		}
		check(t, engine.API.ContainerRename(t.Context(), web, "web"))
		f.expect(watcher.ActionChanged, web, "")
		created := engine.Create(t, "new", "app:1", nil)
		f.expect(watcher.ActionChanged, created, "")
		engine.Remove(t, "new")
		f.expect(watcher.ActionChanged, created, "")
	})

	t.Run("tag taken by another image", func(t *testing.T) {
		second := engine.Image(t, "app:1", "LABEL generation=2")
		found, err := engine.API.ContainerInspect(t.Context(), web)
		check(t, err)
		if second == first || found.Image != first {
			t.Fatalf("images %s, %s; container of %s", first, second, found.Image)
		}
		c := list(t, watching)["web"]
		if i := c.Image; i.ID != first || i.Name != is.namespace+"app" || i.Tag != "1" || c.Error != "" {
			t.Errorf("%+v", c)
		}
		engine.Remove(t, "web")
		engine.Run(t, "web", "app:1", nil)
		if i := list(t, watching)["web"].Image; i.ID != second || i.Tag != "1" {
			t.Errorf("recreated: %+v", i)
		}
	})

	t.Run("image ids", func(t *testing.T) {
		named := engine.Image(t, "named:7")
		nameless := engine.Image(t, "")
		engine.Run(t, "by-id", named, nil)
		engine.Run(t, "by-short-id", strings.TrimPrefix(named, "sha256:")[:12], nil)
		engine.Run(t, "nameless", nameless, nil)
		got := list(t, watching)
		for _, name := range []string{"by-id", "by-short-id"} {
			if c := got[name]; c.Image.Name != is.namespace+"named" || c.Image.Tag != "7" || c.Image.ID != named ||
				c.Error != "" {
				t.Errorf("%s: %+v", name, c)
			}
		}
		if c := got["nameless"]; c.Image.ID != nameless || c.Error == "" || !strings.Contains(c.Error, "has no name") {
			t.Errorf("nameless: %+v", c)
		}
	})

	t.Run("made here", func(t *testing.T) {
		engine.Image(t, "localhost/mine:2")
		engine.Run(t, "mine", "localhost/mine:2", nil)
		c := list(t, watching)["mine"]
		if c.Image.Host != "localhost" || c.Image.Name != "mine" || c.Image.Tag != "2" {
			t.Errorf("%+v", c.Image)
		}
		if podman := is.domain != ""; podman != c.Image.Built || c.Error != "" {
			t.Errorf("built %t, error %v", c.Image.Built, c.Error)
		}
	})

	t.Run("pushed, pulled and pinned", func(t *testing.T) {
		repository := host + "/team/app"
		id := engine.Image(t, repository+":1.0")
		engine.Run(t, "local", repository+":1.0", nil)
		if i := list(t, watching)["local"].Image; !is.digests && (i.Digest != "" || len(i.Digests) != 0) {
			t.Errorf("before the push: %+v", i)
		}
		engine.Push(t, repository+":1.0")
		response, err := http.Head(server.URL + "/v2/team/app/manifests/1.0")
		check(t, err)
		check(t, response.Body.Close())
		digest := response.Header.Get("Docker-Content-Digest")
		engine.Pull(t, repository+":1.0") // Podman learns the digest by pulling only
		pushed := list(t, watching)["local"].Image
		if pushed.ID != id || pushed.Host != host || pushed.Name != "team/app" || !strings.HasPrefix(digest, "sha256:") ||
			!slices.Contains(pushed.Digests, repository+"@"+digest) || !is.digests && pushed.Digest != digest {
			t.Fatalf("after the push of %s: %+v", digest, pushed)
		}
		pinned := repository + "@" + digest
		engine.Pull(t, pinned)
		engine.Run(t, "pinned", pinned, nil)
		engine.Run(t, "both", repository+":1.0@"+digest, nil)
		got := list(t, watching)
		for _, name := range []string{"pinned", "both"} { // the engine has one tag for the image, and knows which
			if i := got[name].Image; i.ID != id || i.Host != host || i.Name != "team/app" || i.Tag != "1.0" ||
				i.Digest != digest || !i.Pinned {
				t.Errorf("%s: %+v", name, i)
			}
		}
		if got["local"].Image.Pinned {
			t.Error("a container of a tag is pinned")
		}

		// Another build takes the tag, is pushed, and pulled under the running container.
		engine.Image(t, repository+":1.0", "LABEL generation=2")
		engine.Push(t, repository+":1.0")
		engine.Pull(t, repository+":1.0")
		if i := list(t, watching)["local"].Image; i.ID != id || i.Tag != "1.0" ||
			!slices.Contains(i.Digests, repository+"@"+digest) {
			t.Errorf("after its tag was pulled again: %+v", i)
		}
		both := "1.0"
		if is.dropsTag {
			both = ""
		}
		got = list(t, watching)
		for name, tag := range map[string]string{"pinned": "", "both": both} { // no name of the engine tells the tag any more
			if i := got[name].Image; i.ID != id || i.Tag != tag || i.Digest != digest || !i.Pinned {
				t.Errorf("%s, after its tag was pulled again: %+v", name, i)
			}
		}
	})

	t.Run("restart of the engine", func(t *testing.T) {
		d := watch(t, Options{Connection: Connection{Socket: engine.Host}, WatchAll: true})
		before := list(t, d)
		f := subscribe(t, d)
		f.streams(1)
		engine.Restart(t)
		f.await("following events", 2)
		if is.runs {
			check(t, engine.API.ContainerStop(t.Context(), before["web"].ID, container.StopOptions{}))
			f.expect(watcher.ActionStatus, before["web"].ID, "exited")
			return
		}
		stopped := map[string]string{}
		for len(stopped) < len(before) { // from the old engine's last events or from the comparison afterwards
			e := f.next()
			if e.Action != watcher.ActionStatus {
				t.Fatalf("%+v", e)
			}
			stopped[e.ContainerID] = e.Status
		}
		for id, status := range stopped {
			if status != "exited" {
				t.Errorf("%.12s is %s", id, status)
			}
		}
		id := before["web"].ID
		check(t, engine.API.ContainerStart(t.Context(), id, container.StartOptions{}))
		f.expect(watcher.ActionStatus, id, "running")
	})
}
