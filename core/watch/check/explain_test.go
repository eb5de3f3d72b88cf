package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestExplainAgreesWithRun makes fleets at random and compares, for every
// container, what a check stored with the explanation of it.
func TestExplainAgreesWithRun(t *testing.T) {
	const seeds = 8
	names := []string{"nginx", "team/app", "ghcr.io/a/b", "missing"}
	tags := []string{"latest", "stable", "1.25.0", "1.25", "1", "1.25-alpine", "2.0.0-rc1", "22.04", "20240101",
		"v1.2.3", "abc1234"}
	some := []string{
		"dogwatch.tag.include=^1", "dogwatch.tag.include=[", "wud.tag.exclude=alpine$",
		"wud.tag.transform=^v(.*) => $1", "dogwatch.tag.prerelease=true",
		"dogwatch.watch.digest=true", "dogwatch.watch.digest=false", "wud.watch.digest=eh",
		"dogwatch.link.template=https://r/${major}", "dogwatch.link.template=${container.x.y}", "wud.link.template=${",
	}
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 1))
		pick := func(from []string) string { return from[r.IntN(len(from))] }
		w := open(t)
		hosts := []*fake{w.hub, w.host("ghcr.io")}
		for _, f := range hosts {
			for _, repo := range []string{"library/nginx", "team/app", "a/b"} {
				f.tags[repo] = nil
				for range r.IntN(8) {
					f.tags[repo] = append(f.tags[repo],
						pick(append(tags, "1.26.0", "1.26", "2", "1.26-alpine", "24.04", "v1.3.0", "2.0.0")))
				}
				for _, tag := range tags {
					switch r.IntN(3) {
					case 0:
						f.digests[repo+":"+tag] = digest("1")
					case 1:
						f.digests[repo+":"+tag] = digest("2")
					}
				}
			}
			if r.IntN(2) == 0 {
				f.manifests[digest("2")] = manifest("a", pick([]string{"c", "d"}))
			}
		}
		var list []sdk.Container
		for i := range 30 {
			var labels []string
			for range r.IntN(3) {
				labels = append(labels, pick(some))
			}
			c := container(fmt.Sprint("c", i), pick(names)+":"+pick(tags), labels...)
			switch r.IntN(10) {
			case 0:
				c.Image.Digest.Repos = nil
			case 1:
				c.Image.Tag.Value, c.Image.Digest.Repo = "", digest("1")
			case 2:
				c.Error = &sdk.ContainerError{Message: "the engine cannot tell"}
			}
			list = append(list, c)
		}
		w.engine.has(list...)
		for range 2 { // the second time, what is stored has a history
			w.run()
			for _, c := range list {
				agrees(t, w, w.get(c.ID))
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestExplain(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0", "1.26.0-alpine", "latest", "1.24.0"}
	w.engine.has(container("web", "nginx:1.25.0", `wud.tag.exclude=^9`, "dogwatch.link.template=${",
		"dogwatch.tag.inlcude=1"))
	w.run()
	w.hub.requests()
	why := w.Explain(t.Context(), w.get("id-web"))
	equal(t, "requests", w.hub.requests(), []string{"tags library/nginx"})
	if why.ID != "id-web" || why.Image != "docker.io/library/nginx:1.25.0" || why.Registry != "hub.public" {
		t.Errorf("explains %s %s %s", why.ID, why.Image, why.Registry)
	}
	if len(why.Summary) != 4 ||
		!strings.HasPrefix(why.Summary[3].String(), "What a label asks for was left out: label dogwatch.link.template: ") {
		t.Fatalf("summary %q", why.Summary)
	}
	equal(t, "summary", phrase.Strings(why.Summary[:3]), []string{
		"Dogwatch compares 1.25.0 with the 5 tags of library/nginx.",
		"Newer versions that the rules allow: 1.",
		"So web can be updated to 1.26.0 (minor).",
	})
	var verdicts []string
	for _, v := range why.Tags {
		verdicts = append(verdicts, v.Tag+" "+v.Reason)
		if v.Detail.String() == "" || v.Kept != (v.Tag == "1.26.0") {
			t.Errorf("verdict %+v", v)
		}
	}
	equal(t, "verdicts", verdicts,
		[]string{"1.25.0 current", "1.26.0 newest", "1.26.0-alpine family", "latest not-version", "1.24.0 not-newer"})
	for _, want := range []labels.Rule{
		{Name: "tag.exclude", Value: "^9", Source: "label wud.tag.exclude"},
		{Name: "tag.transform", Value: "none", Source: "default"},
	} {
		if slices.Contains(why.Rules, want) {
			continue
		}
		t.Errorf("rules %+v", why.Rules)
	}
	contains(t, "warnings", strings.Join(phrase.Strings(why.Warnings), "\n"), "label dogwatch.link.template: ",
		"unknown label dogwatch.tag.inlcude")
	events, _ := w.events(0)
	if len(events) != 2 { // added and found, by the check
		t.Errorf("explaining left events: %q", events)
	}
	encoded, err := json.Marshal(w.Explain(t.Context(), sdk.Container{ID: "x", Name: "x"}))
	if err != nil || strings.Contains(string(encoded), "null") {
		t.Errorf("%s, %v", encoded, err)
	}
}

// TestExplainRetriesFailedCheck: that the last check failed is no answer.
func TestExplainRetriesFailedCheck(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.hub.errs["tags library/nginx "] = sdk.WithKind(sdk.ErrUnavailable, errors.New("down"))
	w.engine.has(container("web", "nginx:1.25.0"))
	w.run()
	stored := w.get("id-web")
	if why := w.Explain(t.Context(), stored); why.Error != "down" ||
		!slices.Equal(phrase.Strings(why.Summary), []string{"The check failed: down."}) {
		t.Errorf("%q %q", why.Error, why.Summary)
	}
	delete(w.hub.errs, "tags library/nginx ")
	if why := w.Explain(t.Context(), stored); why.Error != "" || !why.UpdateAvailable {
		t.Errorf("%q %+v", why.Error, why.Result)
	}
}

func TestExplainImage(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	for reference, want := range map[string][]string{
		"nginx:1.25.0": {"Dogwatch compares 1.25.0 with the 2 tags of library/nginx.",
			"Newer versions that the rules allow: 1.", "So nginx:1.25.0 can be updated to 1.26.0 (minor)."},
		"nginx": {"latest is not a version, so no other tag can be newer.",
			"Its digest can only be compared with that of a running image.",
			"Nothing could be compared: neither a digest nor the id " +
				"of a running image is known, so there is nothing to compare."},
		"nginx@" +
			digest("1"): {"The image is pinned to a digest without a tag, so nothing can be newer.",
			"So nothing newer is known."},
		"NGINX":       {`The check failed: invalid image reference "NGINX": repository "library/NGINX" must be lower-case letters and digits, with single separators between them.`},
		"nothere:1.0": {"The check failed: docker.io has no repository library/nothere."},
	} {
		equal(t, reference, phrase.Strings(w.ExplainImage(t.Context(), reference).Summary), want)
	}
}

// TestExplainOfUncheckedParts: what was not fetched is not known.
func TestExplainOfUncheckedParts(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0"}
	w.hub.tags["library/busy"] = []string{"1.25.0"}
	w.hub.errs["tags library/busy "] = sdk.RateLimited(time.Hour, errors.New("429 too many requests"))
	built := container("built", "nginx:latest", "dogwatch.watch.digest=true")
	built.Image.Digest.Repo, built.Image.Digest.Repos = "", nil
	for _, test := range []struct {
		container sdk.Container
		known     bool
		failed    bool
	}{
		{container("current", "nginx:1.25.0"), true, false},
		{container("unwatched", "nginx:latest", "dogwatch.watch.digest=false"), false, false},
		{built, false, false},
		{container("missing", "nowhere:1.0"), false, true},
		{container("busy", "busy:1.25.0"), false, true},
		{container("wrong", "nginx:1.25.0", "dogwatch.tag.include=["), false, true},
	} {
		why := w.Explain(t.Context(), test.container)
		text := strings.Join(phrase.Strings(why.Summary), " ")
		if said := strings.Contains(text, "nothing newer is known"); said != test.known || (why.Error != "") != test.failed {
			t.Errorf("%s: %q, error %q", test.container.Name, text, why.Error)
		}
	}
	if why := w.ExplainImage(t.Context(), "nginx"); !strings.Contains(why.Error, "is no version") {
		t.Errorf("an image that cannot be compared: %q", why.Error)
	}
}

func TestImagesChecksReferencesWithoutContainer(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	got := w.Images(t.Context(),
		[]string{"nginx:1.25.0", "NGINX", "nginx", "nginx:1.26.0", "nginx@" + digest("1"), "unserved.example/x:1"})
	var lines []string
	for _, c := range got {
		line := fmt.Sprintf("%s %s %t", c.Name, c.Check.State, c.UpdateAvailable)
		if c.Error != nil {
			line += " " + c.Error.Message
		}
		lines = append(lines, line)
	}
	equal(t, "images", lines, []string{
		"nginx:1.25.0 ok true",
		`NGINX failed false invalid image reference "NGINX": repository "library/NGINX" must be lower-case letters and digits, with single separators between them`,
		`nginx failed false tag "latest" is no version, and without an engine there is no running image to compare its digest with`,
		"nginx:1.26.0 ok false",
		"nginx@" + digest("1") + " ok false",
		"unserved.example/x:1 failed false no registry serves unserved.example: configure one with that host",
	})
	equal(t, "requests", w.hub.requests(), []string{"tags library/nginx"})
	if w.Images(t.Context(), nil) != nil {
		t.Error("something from nothing")
	}
}

// TestExplainSaysBaseIsDropped says why an image on another base is offered.
func TestExplainSaysBaseIsDropped(t *testing.T) {
	w := open(t)
	w.hub.tags["library/memcached"] = []string{"1.6.33-alpine3.21", "1.6.34-alpine3.22"}
	equal(t, "dropped", phrase.Strings(w.ExplainImage(t.Context(), "memcached:1.6.33-alpine3.21").Summary), []string{
		"Dogwatch compares 1.6.33-alpine3.21 with the 2 tags of library/memcached.",
		"Newer versions that the rules allow: 1.",
		"Nothing newer is published on its base alpine3.21, so another base is offered.",
		"So memcached:1.6.33-alpine3.21 can be updated to 1.6.34-alpine3.22 (patch).",
	})
}

func TestExplainCountsTags(t *testing.T) {
	for tags, want := range map[string]string{"1.25.0": "with the only tag of ", "1.25.0 1.26.0": "with the 2 tags of "} {
		w := open(t)
		w.hub.tags["library/nginx"] = strings.Fields(tags)
		w.engine.has(container("web", "nginx:1.25.0"))
		w.run()
		contains(t, tags, w.Explain(t.Context(), w.get("id-web")).Summary[0].String(), want)
	}
}
