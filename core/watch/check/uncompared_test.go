package check

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// loaded is a container of an image that came from a file: the engine has its id only.
func loaded(name, image string, labels ...string) sdk.Container {
	c := container(name, image, labels...)
	c.Image.Digest.Repos = nil
	return c
}

// TestLoadedImageIsCompared: by the digest of its configuration, which is its id, or else by
// that of its manifest.
func TestLoadedImageIsCompared(t *testing.T) {
	const image = "library/nginx"
	for _, c := range []struct {
		about, image, id string
		manifest         registry.Manifest
		update           bool
		manifests        int // read in the first check
	}{
		{"the same configuration", "nginx:latest", digest("c"), manifest("a", "c"), false, 1},
		{"another configuration", "nginx:latest", digest("c"), manifest("a", "d"), true, 1},
		{"the id of the index", "nginx:latest", digest("2"), manifest("a", "c"), false, 0},
		{"the id of the manifest", "nginx:latest", digest("a"), manifest("a", "c"), false, 1},
		{"behind a version", "nginx:1.25", digest("c"), manifest("a", "d"), true, 1},
	} {
		w := open(t)
		web := loaded("web", c.image)
		web.Image.ID = c.id
		w.hub.tags[image] = []string{"1.25", "1.25.3"}
		w.hub.digests[image+":latest"], w.hub.digests[image+":1.25"] = digest("2"), digest("2")
		w.hub.manifests[digest("2")] = c.manifest
		w.engine.has(web)
		w.run()
		got := w.get("id-web")
		if got.Check.State != sdk.CheckOK || got.Check.Reason != "" || got.UpdateAvailable != c.update {
			t.Errorf("%s: %+v, update %t", c.about, got.Check, got.UpdateAvailable)
		}
		read := func() (n int) {
			for _, r := range w.hub.requests() {
				if strings.HasPrefix(r, "manifest ") {
					n++
				}
			}
			return n
		}
		if n := read(); n != c.manifests {
			t.Errorf("%s: %d manifests read, want %d", c.about, n, c.manifests)
		}
		w.restart() // another process knows it, too
		w.run()
		if n := read(); n != 0 {
			t.Errorf("%s: the next check reads %d manifests", c.about, n)
		}
	}
}

// TestLoadedImageIsComparedWithoutPull: what was pushed after the container was created is another image.
func TestLoadedImageIsComparedWithoutPull(t *testing.T) {
	w := open(t)
	web := loaded("web", "nginx:latest")
	web.Created, web.Image.Created = sdk.TimeOf(noon.Add(-time.Hour)), sdk.TimeOf(noon.Add(-time.Hour))
	w.hub.digests["library/nginx:latest"] = digest("2")
	w.hub.described = map[string][]registry.DescribedTag{
		"library/nginx": {{Name: "latest", Digest: digest("2"), Image: digest("a"), Pushed: noon}},
	}
	w.engine.has(web)
	w.run()
	if got := w.get("id-web"); got.Check.State != sdk.CheckOK || !got.UpdateAvailable {
		t.Errorf("%+v, update %t", got.Check, got.UpdateAvailable)
	}
	equal(t, "requests", w.hub.requests(), []string{"describe library/nginx", "resolve library/nginx:latest"})
}

// TestNothingComparedIsUnknown: what could not be compared is not up to date, and says why.
func TestNothingComparedIsUnknown(t *testing.T) {
	unauthorized := sdk.WithKind(sdk.ErrUnauthorized, errors.New("login needed"))
	for _, c := range []struct {
		about     string
		container sdk.Container
		prepare   func(*fixture)
		state     string
		says      string
	}{
		{"digest not watched", container("web", "nginx:latest", "dogwatch.watch.digest=false"), nil, sdk.CheckUnknown,
			"latest is no version, and its digest is not watched: the label dogwatch.watch.digest=true has it watched"},
		{"not in the registry", loaded("web", "shop:latest"), nil, sdk.CheckUnknown,
			"built or loaded here, so there is no digest to compare, and its registry shows no such image: docker.io " +
				"has no tag"},
		{"a version that is not in the registry", loaded("web", "shop:1.0"), nil, sdk.CheckUnknown,
			"docker.io has no repository library/shop"},
		{"refused", loaded("web", "shop:1.0"), func(w *fixture) { w.hub.errs["tags library/shop "] = unauthorized },
			sdk.CheckUnknown, "login needed"},
		{"registry down", loaded("web", "shop:1.0"), func(w *fixture) {
			w.hub.errs["tags library/shop "] = sdk.WithKind(sdk.ErrUnavailable, errors.New("down"))
		}, sdk.CheckFailed, ""},
		{"pulled, and gone from the registry", container("web", "shop:1.0"), nil, sdk.CheckFailed, ""},
		{"registry without digests", container("web", "nginx:latest"), func(w *fixture) {
			w.hub.digests["library/nginx:latest"] = ""
		},
			sdk.CheckUnknown, "docker.io gives no digest of the tag latest"},
		{"manifest without configuration", loaded("web", "nginx:latest"), func(w *fixture) {
			w.hub.digests["library/nginx:latest"], w.hub.manifests[digest("2")] = digest("2"),
				registry.Manifest{Digest: digest("2")}
		}, sdk.CheckUnknown, "the engine has only the id of the image"},
		{"neither digest nor id", func() sdk.Container {
			c := loaded("web", "nginx:latest")
			c.Image.ID = ""
			return c
		}(), nil, sdk.CheckUnknown, "neither a digest nor the id"},
		{"an id that is no digest", func() sdk.Container {
			c := loaded("web", "nginx:latest")
			c.Image.ID = "image-7"
			return c
		}(), nil, sdk.CheckUnknown, "built or loaded here"},
		{"tags compared", loaded("web", "nginx:1.25.0"), func(w *fixture) {
			w.hub.tags["library/nginx"] = []string{"1.25.0"}
		}, sdk.CheckOK, ""},
		{"pinned", container("web", "nginx:"+digest("1")), nil, sdk.CheckOK, ""},
	} {
		if strings.HasPrefix(c.about, "pinned") {
			img := &c.container.Image
			img.Name, img.Tag.Value, img.Digest.Repo = "nginx", "", digest("1")
		}
		w := open(t)
		if c.prepare != nil {
			c.prepare(w)
		}
		w.engine.has(c.container)
		report := w.run()
		got := w.get("id-web")
		if got.Check.State != c.state || got.UpdateAvailable || (got.Error != nil) != (c.state == sdk.CheckFailed) ||
			(got.Check.Reason != "") != (c.state == sdk.CheckUnknown) ||
			report.Failed != len(decision.Problem(got))/max(len(decision.Problem(got)), 1) {
			t.Errorf("%s: %+v, error %q, %d failed", c.about, got.Check, decision.Problem(got), report.Failed)
		}
		contains(t, c.about, got.Check.Reason, c.says)
		if why := strings.Join(phrase.Strings(w.Explain(t.Context(), got).Summary), " "); c.says != "" {
			contains(t, c.about+", explained", why, c.says)
		}
	}
}

// TestUnknownIsAnEvent: pages and streams hear of a state that has become unknown, once.
func TestUnknownIsAnEvent(t *testing.T) {
	w := open(t)
	w.hub.digests["library/nginx:latest"] = digest("1")
	w.engine.has(container("web", "nginx:latest"))
	w.run()
	_, last := w.events(0)
	w.hub.digests["library/nginx:latest"] = ""
	w.run()
	w.run()
	events, _ := w.events(last)
	equal(t, "events", events, []string{"container.changed local/web"})
}

// TestBuiltImageIsNotAskedFor: its name stays in the house, and nothing has failed.
func TestBuiltImageIsNotAskedFor(t *testing.T) {
	for _, image := range []string{"shop-web:latest", "shop-web:1.2.3", "unserved.example/web:1"} {
		w := open(t)
		web := loaded("web", image, "dogwatch.watch.digest=true")
		web.Image.Built = true
		stored := loaded("stored", image)
		stored.Image.Built, stored.Image.Digest.Repo = true, digest("c") // as the store of containerd has it
		w.engine.has(web, stored)
		report := w.run()
		for _, id := range []string{"id-web", "id-stored"} {
			got := w.get(id)
			if got.Check.State != sdk.CheckUnknown || got.Check.Reason != builtHere || got.Error != nil ||
				got.UpdateAvailable {
				t.Errorf("%s: %+v, %q", image, got.Check, decision.Problem(got))
			}
			if candidate.Unversioned(&got) != nil {
				t.Errorf("%s: its version is looked for", image)
			}
			contains(t, image, strings.Join(phrase.Strings(w.Explain(t.Context(), got).Summary), " "),
				"was built on the machine of its engine, so no registry is asked about it")
		}
		if report.Failed != 0 || len(w.hub.requests()) != 0 {
			t.Errorf("%s: %d failed, requests %q", image, report.Failed, w.hub.requests())
		}
	}
}

// TestBuiltImageIsCheckedAnew once the same container is known to be one, or none.
func TestBuiltImageIsCheckedAnew(t *testing.T) {
	w := open(t)
	w.hub.tags["library/shop"] = []string{"1.0.0", "2.0.0"}
	w.engine.has(loaded("web", "shop:1.0.0"))
	w.run()
	if got := w.get("id-web"); !got.UpdateAvailable {
		t.Fatalf("%+v", got.Check)
	}
	web := loaded("web", "shop:1.0.0")
	web.Image.Built = true
	w.engine.has(web)
	w.run()
	if got := w.get("id-web"); got.UpdateAvailable || got.Check.State != sdk.CheckUnknown {
		t.Errorf("%+v, update %t", got.Check, got.UpdateAvailable)
	}
}
