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

// linkValue returns the container of link templates.
func linkValue(c *sdk.Container, p containerLabels) (any, error) {
	if p.isImageLink {
		return template.Value(imageOnly{c.Image})
	}
	return template.Value(*c)
}

// Problems implements decision.Labels.
func (p *containerLabels) Problems() []string { return p.wrong }

// Diff implements decision.Labels.
func (p *containerLabels) Diff(from, to string) string { return p.selector.Diff(from, to) }

// Link implements decision.Labels.
func (p *containerLabels) Link(c *sdk.Container) error { return link(c, *p) }

// Link writes the links that the labels of a stored container ask for.
func (c *Checker) Link(stored *sdk.Container) error {
	labels := c.labelsOf(*stored, true)
	return labels.Link(stored)
}

// link renders the links of the running tag, of the result and of the newest
// version of each step: addresses of web pages, or nothing. With an error there are none: half a link is none.
func link(c *sdk.Container, p containerLabels) error {
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
	var levels sdk.Levels
	if l := c.Result.Levels; l != nil {
		for _, r := range []struct{ from, to **sdk.Release }{{&l.Major, &levels.Major}, {&l.Minor, &levels.Minor},
			{&l.Patch, &levels.Patch}} {
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
