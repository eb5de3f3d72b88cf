package check

import (
	"slices"

	"github.com/dogwatch/dogwatch/core/label"
	"github.com/dogwatch/dogwatch/core/template"
	"github.com/dogwatch/dogwatch/sdk"
)

// link renders the link of the running tag and that of the result. A template
// that fails becomes the container's error, and half a link is none.
func link(c *sdk.Container, p policy) {
	c.Link = ""
	if p.link == nil {
		return
	}
	var container any
	var err error
	if slices.Contains(p.link.Names(), "container") {
		container, err = template.Value(*c) // costs more than the rest
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
	if err != nil {
		complain(c, "label "+p.source(label.LinkTemplate)+": "+err.Error())
		return
	}
	c.Link, c.Result.Link = running, newest
}
