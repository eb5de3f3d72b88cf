package plugin

import (
	"slices"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/internal/webaddress"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// readable leaves of the names in a container what readers see. Its id stays, by which the watcher
// knows it, and its labels, which are data: what is read from them for readers is cleaned there.
func readable(c *sdk.Container) {
	image := &c.Image
	for _, name := range []*string{
		&c.Name, &c.Status, &c.Stack, &image.Name, &image.Tag.Value, &image.Registry.Host, &image.Architecture,
		&image.OS, &image.Variant,
	} {
		*name = visible.Line(*name)
	}
}

// readableTypes leaves of what types say of themselves what readers see, and where it is a link,
// what leads to a web page.
func readableTypes(types []kind.Type) {
	for i := range types {
		t := &types[i]
		t.Summary, t.DocsURL = visible.Text(t.Summary), webaddress.Of(t.DocsURL)
		for j := range t.Options {
			t.Options[j].Help = visible.Text(t.Options[j].Help)
		}
	}
}

// onlyTags leaves out what cannot be a tag: no engine could run it, it may not be what it looks like, and
// names go into links, messages, compose files and variables of commands (OCI distribution specification, "Pulling
// manifests": [a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}).
func onlyTags(tags []string) []string {
	return slices.DeleteFunc(tags, func(tag string) bool { return !reference.IsTag(tag) })
}

func onlyDescribedTags(tags []registry.DescribedTag) []registry.DescribedTag {
	return slices.DeleteFunc(tags, func(t registry.DescribedTag) bool { return !reference.IsTag(t.Name) })
}
