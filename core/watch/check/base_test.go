package check

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// madeHere is a container of an image that was built here a week before noon.
// The labels by which builders say what an image is built on.
const (
	baseNameLabel   = "org.opencontainers.image.base.name"
	baseDigestLabel = "org.opencontainers.image.base.digest"
)

func madeHere(name, image string, labels ...string) sdk.Container {
	c := loaded(name, image, labels...)
	c.Image.Built, c.Image.Created = true, sdk.TimeOf(noon.Add(-7*24*time.Hour))
	return c
}

// fromImage has the image bring all labels of a container.
func fromImage(c sdk.Container) sdk.Container {
	for name := range c.Labels {
		c.ImageLabels = append(c.ImageLabels, name)
	}
	return c
}

// TestBaseIsWatchedInstead: as if it ran, whether a label of the container or of the image names it.
func TestBaseIsWatchedInstead(t *testing.T) {
	const name, hash = baseNameLabel + "=docker.io/library/node:22-alpine", baseDigestLabel + "="
	at := func(d time.Duration) registry.Manifest {
		m := manifest("a", "d")
		m.Created = sdk.TimeOf(noon.Add(d))
		return m
	}
	day := 24 * time.Hour
	for _, c := range []struct {
		about     string
		container sdk.Container
		manifest  registry.Manifest // behind 22-alpine, as the index 2
		tags      []string
		state     string
		kind      sdk.UpdateKind
	}{
		{"a newer tag", madeHere("web", "shop-web:latest", "dogwatch.base=node:22-alpine"), at(-30 * day),
			[]string{"22-alpine", "24-alpine", "24"}, sdk.CheckOK,
			sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "22-alpine", RemoteValue: "24-alpine",
				SemverDiff: sdk.DiffMajor}},
		{"a newer tag, as the image says", fromImage(madeHere("web", "shop-web:latest", name)), at(-30 * day),
			[]string{"22-alpine", "24-alpine"}, sdk.CheckOK,
			sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "22-alpine", RemoteValue: "24-alpine",
				SemverDiff: sdk.DiffMajor}},
		{"made before the image was built", madeHere("web", "shop-web:latest", "dogwatch.base=node:22-alpine",
			"dogwatch.watch.digest=true"),
			at(-8 * day), []string{"22-alpine"}, sdk.CheckOK, sdk.UpdateKind{Kind: sdk.KindUnknown}},
		{"made after the image was built", madeHere("web", "shop-web:latest", "dogwatch.base=node:22-alpine",
			"dogwatch.watch.digest=true"), at(-6 * day), []string{"22-alpine"}, sdk.CheckOK,
			sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: digest("c"), RemoteValue: digest("2")}},
		{"the digest of the index", fromImage(madeHere("web", "shop-web:latest", name, hash+digest("2"),
			"dogwatch.watch.digest=true")),
			at(-6 * day), []string{"22-alpine"}, sdk.CheckOK, sdk.UpdateKind{Kind: sdk.KindUnknown}},
		{"the digest of the manifest", fromImage(madeHere("web", "shop-web:latest", name, hash+digest("a"),
			"dogwatch.watch.digest=true")),
			at(-6 * day), []string{"22-alpine"}, sdk.CheckOK, sdk.UpdateKind{Kind: sdk.KindUnknown}},
		{"another digest", fromImage(madeHere("web", "shop-web:latest", name, hash+digest("5"),
			"dogwatch.watch.digest=true")), at(-30 * day), []string{"22-alpine"}, sdk.CheckOK,
			sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: digest("5"), RemoteValue: digest("2")}},
		{"no dates", madeHere("web", "shop-web:latest", "dogwatch.base=node:22-alpine", "dogwatch.tag.include=^$",
			"dogwatch.watch.digest=true"),
			manifest("a", "d"), nil, sdk.CheckFailed, sdk.UpdateKind{Kind: sdk.KindUnknown}},
		{"the operator's, of an image that was not built here",
			container("web", "team/web:1.0", "dogwatch.base=node:22-alpine"), at(0),
			[]string{"22-alpine", "24-alpine"}, sdk.CheckOK,
			sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "22-alpine", RemoteValue: "24-alpine",
				SemverDiff: sdk.DiffMajor}},
	} {
		w := open(t, func(_ *fixture, opt *options) { opt.WatchFloating = false })
		if c.tags != nil {
			w.hub.tags["library/node"] = c.tags
		}
		w.hub.digests["library/node:22-alpine"], w.hub.manifests[digest("2")] = digest("2"), c.manifest
		w.engine.has(c.container)
		w.run()
		got := w.get("id-web")
		if got.Check.State != c.state || got.UpdateKind != c.kind ||
			got.UpdateAvailable != (c.kind.Kind != sdk.KindUnknown) {
			t.Errorf("%s: %+v, %+v, %q", c.about, got.Check, got.UpdateKind, decision.Problem(got))
		}
		if got.Image.Name == "library/node" || got.Base == nil || got.Base.Name != "library/node" ||
			got.Base.Registry.Name != "hub.public" {
			t.Errorf("%s: image %+v, base %+v", c.about, got.Image, got.Base)
		}
		for _, request := range w.hub.requests() {
			if strings.Contains(request, "shop") || strings.Contains(request, "team/web") {
				t.Errorf("%s: request %s", c.about, request)
			}
		}
		before := got
		report := w.run()
		if again := w.get("id-web"); again.UpdateKind != before.UpdateKind || report.Found != nil {
			t.Errorf("%s: the next check finds %+v, %v", c.about, again.UpdateKind, report.Found)
		}
		if got.UpdateAvailable {
			contains(t, c.about, strings.Join(phrase.Strings(w.Explain(t.Context(), got).Summary), " "),
				"It is built on docker.io/library/node:22-alpine, which is watched instead.",
				"So base image node:22-alpine → ", ": rebuild web.")
		}
	}
}

// TestBaseIsReadOnce for each digest, and not where the host says when it was pushed.
func TestBaseIsReadOnce(t *testing.T) {
	w := open(t)
	w.hub.digests["library/node:lts"] = digest("2")
	m := manifest("a", "d")
	m.Created = noon
	w.hub.manifests[digest("2")] = m
	web := madeHere("web", "shop-web:latest", "dogwatch.base=node:lts")
	w.engine.has(web)
	w.run()
	equal(t, "requests", w.hub.requests(), []string{"manifest library/node@" + digest("2") + " linux/amd64",
		"resolve library/node:lts"})
	w.restart()
	w.run()
	equal(t, "later requests", w.hub.requests(), []string{"resolve library/node:lts"})

	w.hub.digests["library/node:lts"] = digest("3")
	w.hub.described = map[string][]registry.DescribedTag{"library/node": {{Name: "lts", Digest: digest("3"),
		Image: digest("b"), Pushed: noon}}}
	w.run()
	equal(t, "requests where it is described", w.hub.requests(),
		[]string{"describe library/node", "resolve library/node:lts"})
	if got := w.get("id-web"); got.Result.Digest != digest("3") || !got.UpdateAvailable {
		t.Errorf("%+v", got.Result)
	}
	w.run()
	equal(t, "later requests where it is described", w.hub.requests(), []string{"resolve library/node:lts"})
}

// TestWhoMaySayTheBase: the operator of every image, an image of itself if it was built here, and
// nobody a registry that is none of this Dogwatch.
func TestWhoMaySayTheBase(t *testing.T) {
	const oci = baseNameLabel + "=node:22-alpine"
	for _, c := range []struct {
		about     string
		container sdk.Container
		how       string
		base      string // its name
		state     string
		says      string
	}{
		{"an image that was pulled", fromImage(container("web", "team/web:1.0", "dogwatch.base=node:22-alpine")), "",
			"", sdk.CheckOK, ""},
		{"the OCI label of an image that was pulled", fromImage(container("web", "team/web:1.0", oci)), "", "",
			sdk.CheckOK, ""},
		{"an image that was built here", fromImage(madeHere("web", "web:1.0", "dogwatch.base=node:22-alpine")), "",
			"library/node", sdk.CheckOK, ""},
		{"images say nothing", fromImage(madeHere("web", "web:1.0", oci)), label.ImageNone, "",
			sdk.CheckUnknown, builtHere},
		{"the operator switches it off", madeHere("web", "web:1.0", "dogwatch.base=false", oci), "", "",
			sdk.CheckUnknown, builtHere},
		{"scratch", fromImage(madeHere("web", "web:1.0", baseNameLabel+"=scratch")), "", "",
			sdk.CheckUnknown, builtHere},
		{"no reference", fromImage(madeHere("web", "web:1.0", baseNameLabel+"=a b")), "", "",
			sdk.CheckUnknown, builtHere},
		{"no reference of the operator", madeHere("web", "web:1.0", "dogwatch.base=a b"), "", "", sdk.CheckUnknown,
			"label dogwatch.base: "},
		{"a digest alone", madeHere("web", "web:1.0", "dogwatch.base=node@"+digest("1")), "", "", sdk.CheckUnknown,
			"names no tag"},
		{"a registry that is not configured",
			fromImage(madeHere("web", "web:1.0", baseNameLabel+"=unserved.example/node:22")), "", "",
			sdk.CheckUnknown, builtHere},
		{"a registry that is not configured, by the operator",
			madeHere("web", "web:1.0", "dogwatch.base=unserved.example/node:22"), "",
			"node", sdk.CheckFailed, "no registry serves unserved.example"},
		{"an image that is not there", fromImage(madeHere("web", "web:1.0", baseNameLabel+"=team/private:22")), "",
			"team/private", sdk.CheckUnknown, "what its label says of its base image cannot be looked up"},
		{"an image that is not there, by the operator", madeHere("web", "web:1.0", "dogwatch.base=team/private:22"), "",
			"team/private", sdk.CheckFailed, "no repository team/private"},
	} {
		w := open(t, func(_ *fixture, opt *options) { opt.Labels.Image = c.how })
		w.hub.tags["library/node"], w.hub.tags["team/web"] = []string{"22-alpine"}, []string{"1.0"}
		w.hub.digests["library/node:22-alpine"] = digest("2")
		w.hub.manifests[digest("2")] = registry.Manifest{Digest: digest("a"), Config: digest("d"),
			Created: sdk.TimeOf(noon.Add(-30 * 24 * time.Hour))}
		w.engine.has(c.container)
		w.run()
		got := w.get("id-web")
		base := ""
		if got.Base != nil {
			base = got.Base.Name
		}
		if base != c.base || got.Check.State != c.state {
			t.Errorf("%s: base %q, %+v, %q", c.about, base, got.Check, decision.Problem(got))
		}
		contains(t, c.about, got.Check.Reason+" "+decision.Problem(got), c.says)
	}
}

// TestBaseThatChangesIsCheckedAnew: what was found of another base is not kept.
func TestBaseThatChangesIsCheckedAnew(t *testing.T) {
	w := open(t)
	w.hub.tags["library/node"] = []string{"22-alpine", "24-alpine"}
	w.engine.has(madeHere("web", "shop-web:latest", "dogwatch.base=node:22-alpine"))
	w.run()
	if got := w.get("id-web"); got.Result == nil || got.Result.Tag != "24-alpine" {
		t.Fatalf("%+v", got)
	}
	w.hub.errs["tags library/node "] = sdk.ErrUnavailable
	w.engine.has(madeHere("web", "shop-web:latest", "dogwatch.base=node:23-alpine"))
	w.run()
	if got := w.get("id-web"); got.UpdateAvailable || got.Base.Tag.Value != "23-alpine" {
		t.Errorf("%+v, update %t", got.Base, got.UpdateAvailable)
	}
}

// TestExplainWhatWasBuiltHere names no registry, since none is asked, and says what can be watched.
func TestExplainWhatWasBuiltHere(t *testing.T) {
	w := open(t)
	w.engine.has(madeHere("web", "shop-web:latest"))
	w.run()
	e := w.Explain(t.Context(), w.get("id-web"))
	equal(t, "the summary", phrase.Strings(e.Summary), []string{
		"The image was built on the machine of its engine, so no registry is asked about it.",
		"What it is built on is watched instead if the label dogwatch.base names that.",
	})
	if e.Registry != "" {
		t.Errorf("it is said to be asked of %s", e.Registry)
	}
}

// TestLogOfACheckAddsUp: each container is counted once, also one of which nothing was compared.
func TestLogOfACheckAddsUp(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.engine.has(madeHere("built", "shop-web:latest"), container("new", "nginx:1.25.0"), container("web", "nginx:1.26.0"),
		container("wrong", "nginx:1.25.0", "dogwatch.tag.include=["), container("nowhere", "unserved.example/x:1.0.0"))
	w.run()
	counted := regexp.MustCompile(`check finished: .*`).FindString(w.log.String())
	sum, all := 0, -1
	for _, m := range regexp.MustCompile(`(\w+)=(\d+)\b`).FindAllStringSubmatch(counted, -1) {
		n, _ := strconv.Atoi(m[2])
		switch m[1] {
		case "containers":
			all = n
		case "updates", "failed", "postponed", "unchecked", "unknown", "current":
			sum += n
		}
	}
	if all != 5 || sum != all || !strings.Contains(counted, " unknown=1 ") {
		t.Errorf("the counts add up to %d of %d: %s", sum, all, counted)
	}
}
