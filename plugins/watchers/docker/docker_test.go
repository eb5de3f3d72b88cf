package docker

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/filters"
	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

var created = time.Date(2024, 1, 2, 3, 4, 5, 678_901_234, time.UTC)

// socketDir is a directory with a path short enough for sockets.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { check(t, os.RemoveAll(dir)) })
	return dir
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, e *enginesim.Engine, c enginesim.Container) string {
	t.Helper()
	id, err := e.Create(c)
	check(t, err)
	return id
}

func serve(t *testing.T, e *enginesim.Engine) string {
	t.Helper()
	s, err := e.Listen(socketDir(t))
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return s.Address
}

// watch makes a watcher called "local".
func watch(t testing.TB, o Options) *Docker {
	t.Helper()
	d, err := New(sdk.Env{
		Instance: "watcher.docker.local", Name: "local", UserAgent: "dogwatch/test",
		Log:  hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: testLog{t}}),
		Warn: func(message string) { t.Errorf("unexpected warning: %s", message) },
	}, o)
	check(t, err)
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

func list(t *testing.T, d *Docker) map[string]watcher.Container {
	t.Helper()
	all, err := d.List(t.Context())
	check(t, err)
	byName := map[string]watcher.Container{}
	for _, c := range all {
		byName[c.Name] = c
	}
	if len(byName) != len(all) {
		t.Errorf("names are not unique: %d of %d", len(byName), len(all))
	}
	return byName
}

// newEngine of both generations: Docker 20.10, and 29 that refuses old clients.
func generations(t *testing.T, run func(t *testing.T, e *enginesim.Engine)) {
	for _, c := range []enginesim.Config{
		{APIVersion: "1.41"},
		{APIVersion: "1.44", MinAPIVersion: "1.44"},
		{APIVersion: "1.52", MinAPIVersion: "1.44"},
	} {
		t.Run("API "+c.APIVersion, func(t *testing.T) { run(t, enginesim.New(c)) })
	}
}

func TestListDescribesContainers(t *testing.T) {
	generations(t, func(t *testing.T, e *enginesim.Engine) {
		nginx := e.AddImage(enginesim.Image{
			Tags: []string{"nginx:1.25"}, Digests: []string{"mirror.example/nginx@sha256:" + hexB, "nginx@sha256:" + hexA},
			Architecture: "arm", Variant: "v7", Created: created,
		})
		e.AddImage(enginesim.Image{Tags: []string{"ghcr.io/a/b:2"}, Digests: []string{"ghcr.io/a/b@sha256:" + hexB}})
		e.AddImage(enginesim.Image{Tags: []string{"built-here"}})
		id := create(t, e, enginesim.Container{
			Name: "web", Image: "nginx:1.25", Labels: map[string]string{"dogwatch.watch": "true", "empty": ""},
		})
		create(t, e, enginesim.Container{Name: "db", Aliases: []string{"web/database"}, Image: "ghcr.io/a/b:2"})
		for name, image := range map[string]string{
			"local": "built-here", "pinned": "nginx@sha256:" + hexA, "both": "nginx:1.25@sha256:" + hexA,
		} {
			create(t, e, enginesim.Container{Name: name, Image: image})
		}
		check(t, e.Stop("local"))
		address := serve(t, e)

		got := list(t, watch(t, Options{Connection: Connection{Socket: address}}))
		if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"both", "db", "pinned", "web"}) {
			t.Fatalf("found %v", names)
		}
		want := watcher.Container{
			ID: id, Name: "web", Status: "running",
			Labels: map[string]string{"dogwatch.watch": "true", "empty": ""},
			Image: watcher.Image{
				ID: nginx, Name: "nginx", Tag: "1.25", Digest: "sha256:" + hexA,
				Digests:  []string{"mirror.example/nginx@sha256:" + hexB, "nginx@sha256:" + hexA},
				Platform: sdk.Platform{OS: "linux", Architecture: "arm", Variant: "v7"}, Created: sdk.TimeOf(created),
			},
		}
		if age := time.Since(got["web"].Created.Time); age < 0 || age > time.Hour {
			t.Errorf("web was created %s ago", age)
		}
		want.Created = got["web"].Created
		same(t, got["web"], want)
		if i := got["db"].Image; i.Host != "ghcr.io" || i.Name != "a/b" || i.Tag != "2" || i.Digest != "sha256:"+hexB {
			t.Errorf("db: %+v", i)
		}
		if i := got["pinned"].Image; i.Name != "nginx" || i.Tag != "1.25" || i.Digest != "sha256:"+hexA || !i.Pinned ||
			i.ID != nginx {
			t.Errorf("pinned: %+v", i)
		}
		if i := got["both"].Image; i.Name != "nginx" || i.Tag != "1.25" || i.Digest != "sha256:"+hexA || !i.Pinned {
			t.Errorf("both: %+v", i)
		}

		all := list(t, watch(t, Options{Connection: Connection{Socket: address}, WatchAll: true}))
		local := all["local"]
		if len(all) != 5 || local.Status != "exited" || local.Image.Tag != "latest" || local.Image.Digest != "" ||
			local.Error != "" {
			t.Errorf("stopped container: %+v", local)
		}
	})
}

func same(t *testing.T, got, want any) {
	t.Helper()
	g, err := json.MarshalIndent(got, "", " ")
	check(t, err)
	w, err := json.MarshalIndent(want, "", " ")
	check(t, err)
	if string(g) != string(w) {
		t.Errorf("got %s\nwant %s", g, w)
	}
}

// What the engine lists as the image of a container is an id when the reference
// means another image by now, and when the container was created from an id.
func TestReferenceOfContainersListedByID(t *testing.T) {
	generations(t, func(t *testing.T, e *enginesim.Engine) {
		old := e.AddImage(enginesim.Image{Tags: []string{"nginx:1.25"}, Digests: []string{"nginx@sha256:" + hexA}})
		named := e.AddImage(enginesim.Image{Tags: []string{"redis:7", "redis:7.2"}})
		untagged := e.AddImage(enginesim.Image{Digests: []string{"ghcr.io/a/b@sha256:" + hexB}})
		nameless := e.AddImage(enginesim.Image{Created: created})
		for name, image := range map[string]string{
			"pulled": "nginx:1.25", "by-id": named, "by-short-id": strings.TrimPrefix(named, "sha256:")[:12],
			"untagged": untagged, "nameless": nameless,
		} {
			create(t, e, enginesim.Container{Name: name, Image: image})
		}
		e.AddImage(enginesim.Image{Tags: []string{"nginx:1.25"}, Digests: []string{"nginx@sha256:" + hexB}})
		d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
		for range 2 {
			got := list(t, d)
			if i := got["pulled"].Image; i.ID != old || i.Name != "nginx" || i.Tag != "1.25" || i.Digest != "sha256:"+hexA {
				t.Errorf("pulled again: %+v", i)
			}
			for _, name := range []string{"by-id", "by-short-id"} {
				if i := got[name].Image; i.ID != named || i.Name != "redis" || i.Tag != "7" {
					t.Errorf("%s: %+v", name, i)
				}
			}
			if i := got["untagged"].Image; i.Host != "ghcr.io" || i.Name != "a/b" || i.Tag != "" || i.Digest != "sha256:"+hexB {
				t.Errorf("untagged: %+v", i)
			}
			if c := got["nameless"]; c.Error == "" || !strings.Contains(c.Error, "no name") ||
				c.Image.Platform.Architecture != "amd64" {
				t.Errorf("nameless: %+v", c)
			}
		}
		if n := e.Requests(enginesim.InspectContainer); n != 5 {
			t.Errorf("%d containers inspected in two lists, want each of 5 once", n)
		}
	})
}

// A thousand containers cost two requests once their images are known.
func TestListOfAThousandContainers(t *testing.T) {
	e := enginesim.New(enginesim.Config{APIVersion: "1.44", MinAPIVersion: "1.44"})
	check(t, e.Populate(1000, func(i int) string { return fmt.Sprintf("registry.example/team/app%d:1.%d", i%200, i) }))
	d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
	count := func() int {
		return e.Requests(enginesim.ListContainers) + e.Requests(enginesim.ListImages) + e.Requests(enginesim.InspectImage) +
			e.Requests(enginesim.InspectContainer) + e.Requests(enginesim.Ping)
	}
	if got := list(t, d); len(got) != 1000 || got["c0042"].Image.Digest == "" ||
		got["c0042"].Image.Platform.Architecture == "" {
		t.Fatalf("%d containers; %+v", len(got), got["c0042"])
	}
	if n := count(); n != 1003 {
		t.Errorf("the first list took %d requests, want ping, containers, images and 1000 inspections", n)
	}
	list(t, d)
	if n := count(); n != 1005 {
		t.Errorf("the second list took %d requests, want 2", n-1003)
	}
	_, err := e.Recreate("c0042", "registry.example/team/app43:1.43")
	check(t, err)
	list(t, d)
	if n := count(); n != 1007 {
		t.Errorf("the list after a change took %d requests, want 2", n-1005)
	}
}

func TestListRefreshesRepoDigests(t *testing.T) {
	e := enginesim.New(enginesim.Config{})
	image := enginesim.Image{ID: enginesim.Digest("app"), Tags: []string{"app:1"}}
	e.AddImage(image)
	create(t, e, enginesim.Container{Name: "app", Image: "app:1"})
	d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
	if got := list(t, d)["app"].Image; got.Digest != "" || len(got.Digests) != 0 {
		t.Errorf("before it was pushed: %+v", got)
	}
	image.Digests = []string{"app@sha256:" + hexA}
	e.AddImage(image)
	if got := list(t, d)["app"].Image.Digest; got != "sha256:"+hexA {
		t.Errorf("after it was pushed: %q", got)
	}
}

func TestOnlyReadRequestsAreSent(t *testing.T) {
	e := enginesim.New(enginesim.Config{})
	check(t, e.Populate(3, func(i int) string { return fmt.Sprintf("app:%d", i) }))
	var mu sync.Mutex
	var lines []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		lines = append(lines, r.Method+" "+r.URL.Path)
		mu.Unlock()
		if got := r.Header.Get("User-Agent"); got != "dogwatch/test" {
			t.Errorf("%s: user agent %q", r.URL.Path, got)
		}
		http.StripPrefix("/engine", e).ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	d := watch(t, Options{Connection: Connection{Host: proxy.URL + "/engine/"}})
	list(t, d)
	for _, line := range lines {
		if line != "HEAD /engine/_ping" && !strings.HasPrefix(line, "GET /engine/v1.51/") {
			t.Errorf("unexpected request %s", line)
		}
	}
	api, err := d.engine.Connect(t.Context())
	check(t, err)
	if _, err := api.ContainersPrune(t.Context(), filters.Args{}); err == nil {
		t.Error("a request that changes things was let through")
	}
	if n := len(lines); n != 6 {
		t.Errorf("%d requests: %v", n, lines)
	}
}

func TestListPlatformOfTheContainer(t *testing.T) {
	e := enginesim.New(enginesim.Config{APIVersion: "1.51"})
	body := `[{"Id":"` + hexA + `","Names":["/x"],"Image":"app:1","ImageID":"` +
		e.AddImage(enginesim.Image{Tags: []string{"app:1"}}) + `","State":"running",
		"ImageManifestDescriptor":{"mediaType":"m","digest":"sha256:` + hexB +
		`","size":1,"platform":{"os":"linux","architecture":"arm64","variant":"v8"}}}]`
	e.Fail(enginesim.ListContainers, enginesim.Fault{Body: body})
	if i := list(t, watch(t, Options{Connection: Connection{Socket: serve(t, e)}}))["x"].Image; i.Platform.Architecture != "arm64" ||
		i.Platform.Variant != "v8" || i.Platform.OS != "linux" {
		t.Errorf("%+v", i)
	}
}

// BenchmarkList is the steady state of 1,000 containers, the simulated engine included.
func BenchmarkList(b *testing.B) {
	d := benchmarked(b, 1000)()
	if _, err := d.List(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if got, err := d.List(b.Context()); err != nil || len(got) != 1000 {
			b.Fatal(len(got), err)
		}
	}
}

// BenchmarkFirstList requests 200 images one by one, the simulated engine included.
func BenchmarkFirstList(b *testing.B) {
	fresh := benchmarked(b, 200)
	for b.Loop() {
		if got, err := fresh().List(b.Context()); err != nil || len(got) != 200 {
			b.Fatal(len(got), err)
		}
	}
}

// benchmarked returns a maker of new watchers of an engine with n containers.
func benchmarked(b *testing.B, n int) func() *Docker {
	e := enginesim.New(enginesim.Config{})
	if err := e.Populate(n, func(i int) string { return fmt.Sprintf("registry.example/app%d:1", i) }); err != nil {
		b.Fatal(err)
	}
	s, err := e.Listen("")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return func() *Docker {
		d, err := New(sdk.Env{Name: "local", Log: hclog.NewNullLogger()}, Options{Connection: Connection{Socket: s.Address}})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { d.Close() })
		return d
	}
}
