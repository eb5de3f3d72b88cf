package check

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
)

// pinned is a container of an image by its digest, of which the watcher knows the tag, or "".
func pinned(name, tag string) sdk.Container {
	c := container(name, "nginx:"+tag)
	c.Image.Digest.Repo, c.Image.Digest.Pinned = digest("1"), true
	return c
}

func TestPinnedVersionIsCompared(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.engine.has(pinned("known", "1.25.0"), pinned("unknown", ""))
	for range 2 {
		w.run()
		equal(t, "requests", w.hub.requests(), []string{"tags library/nginx"})
	}
	c := w.get("id-known")
	if !c.UpdateAvailable || c.Result.Tag != "1.26.0" || c.Image.Tag.Value != "1.25.0" || !c.Image.Digest.Pinned ||
		c.Image.Digest.Watch {
		t.Errorf("known tag: %+v, %+v", c.Image, c.Result)
	}
	contains(t, "summary", strings.Join(phrase.Strings(w.Explain(t.Context(), c).Summary), " "),
		"pinned to a digest: it stays on this image of 1.25.0")
	c = w.get("id-unknown")
	if c.UpdateAvailable || c.Image.Tag.Value != digest("1") || !c.Image.Digest.Pinned || c.Check.State != sdk.CheckOK {
		t.Errorf("unknown tag: %+v, %+v", c.Image, c.Result)
	}
}

// TestPinnedChangeIsAnEvent: the same image, under the same tag, from another reference.
func TestPinnedChangeIsAnEvent(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0"}
	w.engine.has(container("web", "nginx:1.25.0"))
	w.run()
	_, last := w.events(0)
	w.engine.has(pinned("web", "1.25.0"))
	w.run()
	events, _ := w.events(last)
	equal(t, "events", events, []string{"container.changed local/web"})
	if c := w.get("id-web"); !c.Image.Digest.Pinned {
		t.Errorf("%+v", c.Image)
	}
}
