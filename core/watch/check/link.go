package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/config/template"
	"github.com/dogwatch/dogwatch/internal/weblink"
	"github.com/dogwatch/dogwatch/sdk"
)

// Link writes the links that the labels of a stored container ask for.
func (c *Checker) Link(stored *sdk.Container) error {
	labels := c.labelsOf(*stored, true)
	return labels.Link(stored)
}

// Link implements decision.Labels. It renders the links of the running tag, of the result and of the newest
// version of each step: addresses of web pages, or nothing. With an error there are none: half a link is none.
func (p *containerLabels) Link(c *sdk.Container) error {
	c.Link = ""
	if p.link == nil {
		return nil
	}
	var container any
	var err error
	if slices.Contains(p.link.Names(), "container") {
		var shown any = *c
		if p.isImageLink {
			shown = imageOnly{c.Image}
		}
		container, err = template.Value(shown)
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
		if text = strings.TrimSpace(text); text == "" || err != nil {
			return text
		}
		if _, err = weblink.Parse(text); err != nil {
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
		return fmt.Errorf("label %s: %w", p.source(label.LinkTemplate), err)
	}
	c.Link, c.Result.Link, c.Result.Levels = running, newest, levels
	return nil
}
