package check

import (
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/label"
	"github.com/dogwatch/dogwatch/core/template"
	"github.com/dogwatch/dogwatch/sdk"
)

// linkValue returns the container of link templates.
func linkValue(c *sdk.Container, p labelPolicy) (any, error) {
	if p.isImageLink {
		return template.Value(imageOnly{c.Image})
	}
	return template.Value(*c)
}

// link renders the links of the running tag, of the result and of the newest
// version of each step. With an error there are none: half a link is none.
func link(c *sdk.Container, p labelPolicy) error {
	c.Link = ""
	if p.link == nil {
		return nil
	}
	var container any
	var err error
	if slices.Contains(p.link.Names(), "container") {
		container, err = linkValue(c, p) // costs more than the rest
	}
	render := func(tag string) (text string) {
		if err != nil {
			return ""
		}
		major, minor, patch, prerelease := p.selector.Parts(tag)
		text, err = p.link.Render(map[string]any{
			"container": container, "original": tag, "raw": tag, "transformed": p.selector.Transform(tag),
			"major": major, "minor": minor, "patch": patch, "prerelease": prerelease,
		})
		return text
	}
	running, newest := render(c.Image.Tag.Value), render(c.Result.Tag)
	var levels sdk.Levels
	if l := c.Result.Levels; l != nil {
		for _, r := range []struct{ from, to **sdk.Release }{{&l.Major, &levels.Major}, {&l.Minor, &levels.Minor}, {&l.Patch, &levels.Patch}} {
			if from := *r.from; from != nil {
				with := *from
				with.Link = render(with.Tag)
				*r.to = &with
			}
		}
	}
	if err != nil {
		return fmt.Errorf("label %s: %w", p.source(label.LinkTemplate), err)
	}
	if c.Link, c.Result.Link = running, newest; c.Result.Levels != nil {
		c.Result.Levels = &levels
	}
	return nil
}
