package docker

import (
	"archive/tar"
	"bytes"
	"io"
	"testing"

	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/client"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
)

// TestIsBuilt: by what is certain, in both image stores.
func TestIsBuilt(t *testing.T) {
	composed, tagged := imageOrigin{composed: true}, imageOrigin{tagged: true}
	identified := imageOrigin{tagged: true, identified: true}
	labels := map[string]string{compose.LabelProject: "shop", compose.LabelService: "web"}
	for _, c := range []struct {
		about, image string
		origin       imageOrigin
		digests      []string
		labels       map[string]string
		want         bool
	}{
		{"built by compose", "shop-web", composed, nil, labels, true},
		{"built by compose, under a name of the user's", "store:1.2", composed, nil, nil, true},
		{"built by compose, in the store of containerd", "shop-web", composed, []string{"shop-web@sha256:1"},
			labels, true},
		{"built by compose, as Podman names it", "docker.io/library/shop-web", composed,
			[]string{"docker.io/library/shop-web@sha256:1"}, labels, true},
		{"built by compose elsewhere and pulled", "team/web:1.2", composed, []string{"team/web@sha256:1"},
			labels, false},
		{"built by compose for a registry", "registry.example.org/web:1.2", composed, nil, labels, false},
		{"built by compose 1", "shop_web", imageOrigin{}, nil, labels, true},
		{"built in another builder and loaded, by compose", "shop-web", imageOrigin{}, nil, labels, true},
		{"docker build", "web", tagged, nil, nil, true},
		{"docker build, with a namespace", "team/web:1", tagged, nil, nil, true},
		{"docker build, for a registry", "registry.example.org/web:1", tagged, nil, nil, false},
		{"docker build, for a registry without a dot", "localhost:5000/web:1", tagged, nil, nil, false},
		{"pulled", "nginx:1.25", imageOrigin{}, []string{"nginx@sha256:1"}, nil, false},
		{"pulled by compose, and called like its service", "mongo-express", imageOrigin{}, []string{"mongo-express@sha256:1"},
			map[string]string{compose.LabelProject: "mongo", compose.LabelService: "express"}, false},
		{"pulled and tagged", "nginx:1.25", tagged, []string{"mirror.example.org/nginx@sha256:1"}, nil, false},
		{"pulled in the store of containerd, where all are tagged", "nginx:1.25", tagged,
			[]string{"nginx@sha256:1"}, nil, false},
		{"docker build, in the store of containerd", "web", identified, []string{"web@sha256:1"}, nil, true},
		{"docker build for a registry, in the store of containerd", "registry.example.org/web:1", identified,
			[]string{"registry.example.org/web@sha256:1"}, nil, false},
		{"loaded from a file", "nginx:1.25", imageOrigin{}, nil, nil, false},
		{"loaded from a file, in a stack", "nginx:1.25", imageOrigin{}, nil, labels, false},
		{"pinned", "nginx@sha256:" + "11111111111111111111111111111111" + "11111111111111111111111111111111", tagged,
			nil, nil, false},
	} {
		ref, err := engine.ParseReference(c.image)
		if err != nil {
			t.Fatal(err)
		}
		about := description{facts: facts{origin: c.origin}, digests: c.digests}
		if got := isBuilt(ref, about, c.labels); got != c.want {
			t.Errorf("%s: built %t", c.about, got)
		}
	}
}

// TestEngineSaysWhatWasBuilt: from API 1.53 on, of which the client library knows nothing yet, the image store of
// containerd tells what was built from what was pulled, by the request that is made anyway.
func TestEngineSaysWhatWasBuilt(t *testing.T) {
	for _, version := range []string{"1.52", "1.53"} {
		e := enginesim.New(enginesim.Config{APIVersion: version})
		for name, from := range map[string]enginesim.Image{
			"built":  {Builds: []string{"mv1aald"}},
			"pushed": {Builds: []string{"mv1aald"}, Pulls: []string{"docker.io/team/pushed"}},
			"pulled": {Pulls: []string{"docker.io/library/pulled"}},
		} {
			from.Tags, from.Digests = []string{name + ":1"}, []string{name + "@sha256:" + hexA}
			e.AddImage(from)
			create(t, e, enginesim.Container{Name: name, Image: name + ":1"})
		}
		found := list(t, watch(t, Options{Connection: Connection{Socket: serve(t, e)}}))
		for name, c := range found {
			if want := name == "built" && version == "1.53"; c.Image.Built != want {
				t.Errorf("API %s: %s is built here: %t", version, name, c.Image.Built)
			}
		}
		if len(found) != 3 {
			t.Errorf("API %s: found %v", version, found)
		}
	}
}

// TestRealEngineKnowsWhatWasBuilt: an engine tells what it built from what it loaded from a file.
func TestRealEngineKnowsWhatWasBuilt(t *testing.T) {
	t.Parallel()
	engine, other := dockertest.Start(t), dockertest.Start(t)
	file := func(name, content string) io.Reader {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		check(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}))
		_, err := w.Write([]byte(content))
		check(t, err)
		check(t, w.Close())
		return &b
	}
	other.Image(t, "base:1")
	other.Image(t, "nginx:1.25")
	saved, err := other.API.ImageSave(t.Context(), []string{"base:1", "nginx:1.25"})
	check(t, err)
	defer saved.Close()
	loaded, err := engine.API.ImageLoad(t.Context(), saved, client.ImageLoadWithQuiet(true))
	check(t, err)
	_, err = io.Copy(io.Discard, loaded.Body)
	check(t, err)
	check(t, loaded.Body.Close())

	built, err := engine.API.ImageBuild(t.Context(), file("Dockerfile", "FROM base:1\nLABEL a=b\n"),
		build.ImageBuildOptions{Tags: []string{"shop-web"}, Version: build.BuilderBuildKit})
	check(t, err)
	_, err = io.Copy(io.Discard, built.Body)
	check(t, err)
	check(t, built.Body.Close())

	engine.Run(t, "web", "shop-web", nil)
	engine.Run(t, "proxy", "nginx:1.25", nil)
	found := list(t, watch(t, Options{Connection: Connection{Socket: engine.Host}}))
	if web := found["web"].Image; !web.Built {
		t.Errorf("what was built: %+v", web)
	}
	if proxy := found["proxy"].Image; proxy.Built || proxy.ID == "" {
		t.Errorf("what was loaded: %+v", proxy)
	}
}
