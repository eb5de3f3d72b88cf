package docker

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
)

func auto() map[string]string { return map[string]string{"dogwatch.update": "auto"} }

func TestListSaysWhichLabelsImagesBring(t *testing.T) {
	generations(t, func(t *testing.T, e *enginesim.Engine) {
		e.AddImage(enginesim.Image{Tags: []string{"app:1"}, Labels: map[string]string{
			"dogwatch.update": "auto", "same": "1", "other": "1", "empty": "", "version": "1",
		}})
		create(t, e, enginesim.Container{Name: "web", Image: "app:1", Labels: map[string]string{
			"same": "1", "other": "2", "mine": "1", "empty": " ",
		}})
		e.AddImage(enginesim.Image{Tags: []string{"plain:1"}})
		create(t, e, enginesim.Container{Name: "plain", Image: "plain:1", Labels: auto()})
		d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
		for range 2 { // inspected, and from then on known
			got := list(t, d)
			if names := got["web"].ImageLabels; !slices.Equal(names, []string{"dogwatch.update", "same", "version"}) {
				t.Errorf("the image of web brings %v", names)
			}
			if names := got["plain"].ImageLabels; len(names) != 0 {
				t.Errorf("an image without labels brings %v", names)
			}
		}
		if n := e.Requests(enginesim.InspectImage); n != 2 {
			t.Errorf("%d requests for 2 images", n)
		}
	})
}

// TestListOfAnImageThatIsNotKnown: where the image cannot be inspected, each label may be its own.
func TestListOfAnImageThatIsNotKnown(t *testing.T) {
	fail := func(route enginesim.Route, status int) func(*enginesim.Engine, string) {
		return func(e *enginesim.Engine, _ string) { e.Fail(route, enginesim.Fault{Status: status}) }
	}
	for name, spoil := range map[string]func(e *enginesim.Engine, id string){
		"gone":              (*enginesim.Engine).RemoveImage,
		"forbidden":         fail(enginesim.InspectImage, http.StatusForbidden),
		"damaged":           fail(enginesim.InspectImage, http.StatusInternalServerError),
		"all are forbidden": fail(enginesim.ListImages, http.StatusForbidden),
	} {
		t.Run(name, func(t *testing.T) {
			e := enginesim.New(enginesim.Config{})
			id := e.AddImage(enginesim.Image{Tags: []string{"app:1"}, Labels: auto()})
			create(t, e, enginesim.Container{Name: "web", Image: "app:1", Labels: map[string]string{"mine": "1"}})
			spoil(e, id)
			c := list(t, watch(t, Options{Connection: Connection{Socket: serve(t, e)}}))["web"]
			if !slices.Equal(c.ImageLabels, []string{"dogwatch.update", "mine"}) || c.Error == "" {
				t.Errorf("the image brings %v; error %q", c.ImageLabels, c.Error)
			}
		})
	}
}

// TestListOfAnotherPlatform: one id of containerd's store stands for several images, whose labels differ.
func TestListOfAnotherPlatform(t *testing.T) {
	for version, want := range map[string]string{"1.52": "dogwatch.update", "1.48": "dogwatch.update mine"} {
		e := enginesim.New(enginesim.Config{APIVersion: version, MinAPIVersion: "1.44"})
		e.AddImage(enginesim.Image{
			Tags: []string{"app:1"}, Labels: map[string]string{"of": "amd64"},
			Platforms: []enginesim.Image{{OS: "linux", Architecture: "arm64", Variant: "v8", Labels: auto()}},
		})
		mine := map[string]string{"mine": "1"}
		create(t, e, enginesim.Container{Name: "native", Image: "app:1", Labels: mine})
		create(t, e, enginesim.Container{Name: "one", Image: "app:1", Platform: "linux/arm64", Labels: mine})
		create(t, e, enginesim.Container{Name: "two", Image: "app:1", Platform: "linux/arm64", Labels: mine})
		d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
		list(t, d)
		before := e.Requests(enginesim.InspectImage)
		got := list(t, d)
		for name, want := range map[string]string{"native": "of", "one": want, "two": want} {
			if names := strings.Join(got[name].ImageLabels, " "); names != want {
				t.Errorf("API %s: the image of %s brings %s, want %s", version, name, names, want)
			}
		}
		if n := e.Requests(enginesim.InspectImage); n != before || before > 3 {
			t.Errorf("API %s: %d inspections of the image, then %d", version, before, n-before)
		}
	}
}

// TestPlainPlatform: builders write a variant that goes without saying, or leave it out.
func TestPlainPlatform(t *testing.T) {
	e := enginesim.New(enginesim.Config{})
	e.AddImage(enginesim.Image{
		Tags: []string{"app:1"}, Architecture: "arm64",
		Platforms: []enginesim.Image{{OS: "linux", Architecture: "arm64", Variant: "v8"}},
	})
	create(t, e, enginesim.Container{Name: "web", Image: "app:1", Platform: "linux/arm64", Labels: auto()})
	c := list(t, watch(t, Options{Connection: Connection{Socket: serve(t, e)}}))["web"]
	if n := e.Requests(enginesim.InspectImage); len(c.ImageLabels) != 0 || n != 1 {
		t.Errorf("the image brings %v, after %d requests", c.ImageLabels, n)
	}
}
