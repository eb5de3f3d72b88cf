package docker

import (
	"io"
	"log"
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

// TestRealEngine runs against a dockerd of its own and a registry that it pushes to and pulls from.
func TestRealEngine(t *testing.T) {
	engine := dockertest.Start(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")

	watching := watch(t, Options{Socket: engine.Host})
	everything := watch(t, Options{Socket: engine.Host, WatchAll: true})
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
		same(t, list(t, watching)["web"], sdk.Container{
			ID: web, Name: "web", Status: "running", Watcher: "local", Labels: wanted,
			Image: sdk.Image{ID: first, Name: "app", Tag: sdk.Tag{Value: "1"}, OS: "linux", Architecture: runtime.GOARCH, Created: sdk.TimeOf(born)},
		})
	})

	t.Run("about", func(t *testing.T) {
		about, err := watching.About(t.Context())
		check(t, err)
		if !strings.HasPrefix(about, "Docker/") || !strings.Contains(about, ", API 1.") {
			t.Errorf("the engine is %q", about)
		}
	})

	t.Run("events", func(t *testing.T) {
		d := watch(t, Options{Socket: engine.Host, WatchAll: true})
		list(t, d)
		f := follow(t, d)
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
		if i := c.Image; i.ID != first || i.Name != "app" || i.Tag.Value != "1" || c.Error != nil {
			t.Errorf("%+v", c)
		}
		engine.Remove(t, "web")
		engine.Run(t, "web", "app:1", nil)
		if i := list(t, watching)["web"].Image; i.ID != second || i.Tag.Value != "1" {
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
			if c := got[name]; c.Image.Name != "named" || c.Image.Tag.Value != "7" || c.Image.ID != named || c.Error != nil {
				t.Errorf("%s: %+v", name, c)
			}
		}
		if c := got["nameless"]; c.Image.ID != nameless || c.Error == nil || !strings.Contains(c.Error.Message, "has no name") {
			t.Errorf("nameless: %+v", c)
		}
	})

	t.Run("pushed, pulled and pinned", func(t *testing.T) {
		repository := host + "/team/app"
		id := engine.Image(t, repository+":1.0")
		engine.Run(t, "local", repository+":1.0", nil)
		if i := list(t, watching)["local"].Image; i.Digest.Repo != "" || len(i.Digest.Repos) != 0 {
			t.Errorf("before the push: %+v", i)
		}
		engine.Push(t, repository+":1.0")
		pushed := list(t, watching)["local"].Image
		if pushed.Registry.Host != host || pushed.Name != "team/app" || !strings.HasPrefix(pushed.Digest.Repo, "sha256:") ||
			!slices.Equal(pushed.Digest.Repos, []string{repository + "@" + pushed.Digest.Repo}) {
			t.Fatalf("after the push: %+v", pushed)
		}
		pinned := repository + "@" + pushed.Digest.Repo
		engine.Pull(t, pinned)
		engine.Run(t, "pinned", pinned, nil)
		engine.Run(t, "both", repository+":1.0@"+pushed.Digest.Repo, nil)
		got := list(t, watching)
		for name, tag := range map[string]string{"pinned": "", "both": "1.0"} {
			if i := got[name].Image; i.ID != id || i.Registry.Host != host || i.Name != "team/app" || i.Tag.Value != tag || i.Digest.Repo != pushed.Digest.Repo {
				t.Errorf("%s: %+v", name, i)
			}
		}

		// Another build takes the tag, is pushed, and pulled under the running container.
		engine.Image(t, repository+":1.0", "LABEL generation=2")
		engine.Push(t, repository+":1.0")
		engine.Pull(t, repository+":1.0")
		if i := list(t, watching)["local"].Image; i.ID != id || i.Tag.Value != "1.0" || i.Digest.Repo != pushed.Digest.Repo {
			t.Errorf("after its tag was pulled again: %+v", i)
		}
	})

	t.Run("restart of the engine", func(t *testing.T) {
		d := watch(t, Options{Socket: engine.Host, WatchAll: true})
		before := list(t, d)
		f := follow(t, d)
		f.streams(1)
		engine.Restart(t)
		f.await("following events", 2)
		stopped := map[string]string{}
		for len(stopped) < len(before) { // told by the old engine's last events or by comparing afterwards
			e := f.next()
			if e.Action != watcher.ActionStatus {
				t.Fatalf("%+v", e)
			}
			stopped[e.ContainerID] = e.Status
		}
		for id, status := range stopped {
			if status != "exited" {
				t.Errorf("%s is %s", short(id), status)
			}
		}
		id := before["web"].ID
		check(t, engine.API.ContainerStart(t.Context(), id, container.StartOptions{}))
		f.expect(watcher.ActionStatus, id, "running")
	})
}
