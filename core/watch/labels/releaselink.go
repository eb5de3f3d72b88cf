package labels

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/config/template"
	"github.com/dogwatch/dogwatch/internal/webaddress"
	"github.com/dogwatch/dogwatch/sdk"
)

// linkShapes are the variables of a link template: the container, and the version of a tag.
var linkShapes = sync.OnceValue(func() map[string]*template.Shape { return shapesOf[sdk.Container]() })

// imageLinkShapes are those of a link template that the image brings: a link is opened by
// readers of messages, so that it is not to carry the labels of the container elsewhere.
var imageLinkShapes = sync.OnceValue(func() map[string]*template.Shape { return shapesOf[imageOnly]() })

// imageOnly is the container of such a template.
type imageOnly struct {
	Image sdk.Image `json:"image"`
}

func shapesOf[Container any]() map[string]*template.Shape {
	shapes := map[string]*template.Shape{"container": template.ShapeOf(reflect.TypeFor[Container]())}
	for _, name := range []string{"original", "raw", "transformed", "major", "minor", "patch", "prerelease"} {
		shapes[name] = template.Text
	}
	return shapes
}

// WriteReleaseLinks implements decision.Labels. It renders the release links of the running tag, of the result and of
// the newest version of each step: addresses of web pages, or nothing. With an error there are none: half a link is
// none.
func (l *Labels) WriteReleaseLinks(c *sdk.Container) error {
	c.Link = ""
	if l.link == nil {
		return nil
	}
	var container any
	var err error
	if slices.Contains(l.link.Names(), "container") {
		var shown any = *c
		if l.isImageLink {
			shown = imageOnly{c.Image}
		}
		container, err = template.Value(shown)
	}
	render := func(tag string) (text string) {
		if err != nil {
			return ""
		}
		major, minor, patch, prerelease := l.Selector.Parts(tag)
		text, err = l.link.Render(map[string]any{
			"container": container, "original": tag, "raw": tag, "transformed": l.Selector.Transform(tag),
			"major": major, "minor": minor, "patch": patch, "prerelease": prerelease,
		})
		if text = strings.TrimSpace(text); text == "" || err != nil {
			return text
		}
		if _, err = webaddress.Parse(text); err != nil {
			return ""
		}
		return text
	}
	running := render(c.Watched().Tag.Value)
	newest := running
	if c.Result.Tag != c.Watched().Tag.Value {
		newest = render(c.Result.Tag)
	}
	linked := func(r *sdk.Release) *sdk.Release {
		if r == nil {
			return nil
		}
		copied := *r
		copied.Link = render(r.Tag)
		return &copied
	}
	levels := c.Result.Levels
	if levels != nil {
		levels = &sdk.Levels{Major: linked(levels.Major), Minor: linked(levels.Minor), Patch: linked(levels.Patch)}
	}
	if err != nil {
		return fmt.Errorf("label %s: %w", l.source(label.LinkTemplate), err)
	}
	c.Link, c.Result.Link, c.Result.Levels = running, newest, levels
	return nil
}
