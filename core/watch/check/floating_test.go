package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/sdk"
)

// floating is a fixture in which postgres:16-alpine stands for 16.4-alpine, and no newer version is there.
func floating(t *testing.T, change ...func(*fixture, *options)) *fixture {
	t.Helper()
	w := open(t, change...)
	w.hub.tags["library/postgres"] = []string{"16-alpine", "16.3-alpine", "16.4-alpine", "16.4", "latest"}
	w.hub.digests["library/postgres:16-alpine"] = digest("1")
	w.hub.manifests[digest("2")] = manifest("p", "d")
	return w
}

func TestFloatingTagWatchesDigest(t *testing.T) {
	w := floating(t)
	w.engine.has(container("db", "postgres:16-alpine"), container("fixed", "postgres:16.4-alpine"))
	w.run()
	equal(t, "requests", w.hub.requests(), []string{"resolve library/postgres:16-alpine", "tags library/postgres"})
	c := w.get("id-db")
	if !c.Image.Tag.Floating || !c.Image.Digest.Watch || c.UpdateAvailable || c.Result.Digest != digest("1") {
		t.Errorf("first check: %+v %+v", c.Image, c.Result)
	}
	if c := w.get("id-fixed"); c.Image.Tag.Floating || c.Image.Digest.Watch || c.UpdateAvailable {
		t.Errorf("the version it stands for: %+v", c.Image)
	}
	_, last := w.events(0)

	// That it floats is known by now, and is no change of the container.
	w.run()
	events, last := w.events(last)
	equal(t, "events of a check that finds nothing new", events, nil)

	w.hub.digests["library/postgres:16-alpine"] = digest("2")
	w.run()
	c = w.get("id-db")
	want := sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: digest("1"), RemoteValue: digest("2")}
	if !c.UpdateAvailable || c.UpdateKind != want || c.Result.Tag != "16-alpine" {
		t.Errorf("moved: %+v %+v", c.UpdateKind, c.Result)
	}
	events, _ = w.events(last)
	equal(t, "events of the move", events, []string{"update.found local/db"})
}

// TestFloatingTagOffersVersionFirst: while there is a newer version, the digest is not fetched.
func TestFloatingTagOffersVersionFirst(t *testing.T) {
	w := floating(t)
	w.hub.tags["library/postgres"] = append(w.hub.tags["library/postgres"], "17-alpine")
	w.hub.digests["library/postgres:16-alpine"] = digest("2")
	w.engine.has(container("db", "postgres:16-alpine"))
	w.run()
	equal(t, "requests", w.hub.requests(), []string{"tags library/postgres"})
	if c := w.get("id-db"); c.UpdateKind.Kind != sdk.KindTag || c.Result.Tag != "17-alpine" || !c.Image.Tag.Floating {
		t.Errorf("%+v %+v %+v", c.Image.Tag, c.UpdateKind, c.Result)
	}
}

func TestFloatingTagNotWatched(t *testing.T) {
	off := func(_ *fixture, o *options) { o.WatchFloating = false }
	on := func(*fixture, *options) {}
	for _, test := range []struct {
		about, label string
		option       func(*fixture, *options)
		watch        bool
	}{
		{"label", "dogwatch.watch.digest=false", on, false},
		{"label of WUD", "wud.watch.digest=false", on, false},
		{"option", "", off, false},
		{"label over option", "dogwatch.watch.digest=true", off, true},
	} {
		w := floating(t, test.option)
		w.hub.digests["library/postgres:16-alpine"] = digest("2")
		w.engine.has(container("db", "postgres:16-alpine", test.label))
		for range 2 {
			w.run()
			requests := []string{"tags library/postgres"}
			got := w.hub.requests()
			c := w.get("id-db")
			if !c.Image.Tag.Floating || c.Image.Digest.Watch != test.watch || c.UpdateAvailable != test.watch {
				t.Errorf("%s: %+v, update %v", test.about, c.Image, c.UpdateAvailable)
			}
			if !test.watch {
				equal(t, test.about, got, requests)
			}
		}
	}
}

// TestFloatingTagLabelChanges: taking the label away brings the digest back
// at the next check, and a check that fails leaves what is known.
func TestFloatingTagLabelChanges(t *testing.T) {
	w := floating(t)
	w.hub.digests["library/postgres:16-alpine"] = digest("2")
	w.engine.has(container("db", "postgres:16-alpine", "dogwatch.watch.digest=false"))
	w.run()
	w.engine.has(container("db", "postgres:16-alpine"))
	w.run()
	if c := w.get("id-db"); !c.UpdateAvailable || !c.Image.Digest.Watch {
		t.Errorf("without the label: %+v, update %v", c.Image, c.UpdateAvailable)
	}
	w.hub.errs["tags library/postgres "] = sdk.ErrUnavailable
	w.run()
	if c := w.get("id-db"); c.Check.State != sdk.CheckFailed || !c.Image.Tag.Floating || !c.Image.Digest.Watch ||
		!c.UpdateAvailable {
		t.Errorf("after a failure: %+v %+v, update %v", c.Check, c.Image, c.UpdateAvailable)
	}
	delete(w.hub.errs, "tags library/postgres ")
	w.hub.tags["library/postgres"] = []string{"16-alpine"}
	w.run()
	if c := w.get("id-db"); c.Image.Tag.Floating || c.Image.Digest.Watch || c.UpdateAvailable {
		t.Errorf("without more specific tags: %+v, update %v", c.Image, c.UpdateAvailable)
	}
}

func TestExplainFloatingTag(t *testing.T) {
	w := floating(t)
	w.engine.has(container("db", "postgres:16-alpine"),
		container("off", "postgres:16-alpine", "dogwatch.watch.digest=false"))
	w.run()
	e := w.Explain(t.Context(), w.get("id-db"))
	contains(t, "summary", strings.Join(phrase.Strings(e.Summary), " "), "It floats",
		"The digest behind 16-alpine is that of the running image")
	if rule := (labels.Rule{Name: "watch.digest", Value: "true", Source: "default"}); !slices.Contains(e.Rules, rule) {
		t.Errorf("rules %+v, want %+v", e.Rules, rule)
	}
	e = w.Explain(t.Context(), w.get("id-off"))
	contains(t, "summary", strings.Join(phrase.Strings(e.Summary), " "), "It floats",
		"Its digest is not watched: set the label dogwatch.watch.digest=true")
}
