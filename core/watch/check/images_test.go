package check

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestLabelsOfImages reads the source and the version of known images from their labels, as their
// projects set them: testdata/images.json says where each is from. What it does not say is not guessed.
func TestLabelsOfImages(t *testing.T) {
	text, err := os.ReadFile("testdata/images.json")
	if err != nil {
		t.Fatal(err)
	}
	var images []struct {
		Image, Tag, Source, Version, From string
		Labels                            map[string]string
	}
	if err := json.Unmarshal(text, &images); err != nil {
		t.Fatal(err)
	}
	distinct := map[string]bool{}
	for _, image := range images {
		distinct[image.Image] = true
		ref, err := reference.Parse(image.Image + ":" + image.Tag)
		if err != nil || image.From == "" {
			t.Errorf("%s, %q: %v", image.Image, image.From, err)
			continue
		}
		c := sdk.Container{
			Labels: image.Labels,
			Image:  sdk.Image{Name: ref.Path, Registry: sdk.Registry{Host: ref.Domain}, Tag: sdk.Tag{Value: image.Tag}},
		}
		if got := candidate.RunningVersion(&c); got != image.Version {
			t.Errorf("%s:%s has version %q, want %q (%s)", image.Image, image.Tag, got, image.Version, image.From)
		}
		source := ""
		if r, _, found := notes.Find(&c, "", nil); found {
			source = r.URL()
		}
		if source != image.Source {
			t.Errorf("%s:%s has source %q, want %q (%s)", image.Image, image.Tag, source, image.Source, image.From)
		}
	}
	if len(distinct) < 40 {
		t.Errorf("%d images only", len(distinct))
	}
}
