package gallery

import (
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/kind"
)

var titles = map[kind.Kind]string{kind.Watcher: "Watchers", kind.Registry: "Registries", kind.Trigger: "Triggers"}

// repository is where its folders are for those who have the documents alone.
const repository = "https://github.com/dogwatch/dogwatch"

const heading = `# Gallery of plugins

Plugins that add something to Dogwatch. ` + "`dogwatch plugin install REFERENCE`" +
	` [installs](../plugins-install.md) one, and
[Plugins](../plugins.md) says how to trust and configure it. It is a program that runs beside Dogwatch: look at its source first. That one is
listed here says no more than that its reference is complete.

`

const footing = `## Adding yours

Add a reference to [` + "`gallery.yaml`" + `](gallery.yaml) and run ` + "`go generate ./cmd/dogwatch`" +
	`, which makes this page and says what a reference lacks. Its keys:

| Key | Holds |
|---|---|
| ` + "`name`" + ` | name of the executable |
| ` + "`kind`, `type`" + ` | what is configured: ` + "`trigger`" + ` and ` + "`lamp`" + ` for ` + "`trigger.lamp`" + ` |
| ` + "`does`" + ` | what it does, in a line |
| ` + "`license`" + ` | identifier of SPDX |
| ` + "`source`" + ` | address of the source, or a folder of this repository |
| ` + "`install`" + ` | reference of the artifact; without it users build the plugin from its source |
| ` + "`sdk`" + ` | version of the SDK that it was built with; not for a folder of this repository |
`

// Page returns the gallery as a page of documentation, for the folder docs/plugins.
func Page(plugins []Plugin) string {
	var page strings.Builder
	page.WriteString(heading)
	for _, k := range kind.Kinds() {
		rows := ""
		for _, p := range plugins {
			if p.Kind == k {
				rows += p.row()
			}
		}
		if rows == "" {
			continue
		}
		fmt.Fprintf(&page,
			"## %s\n\n| Plugin | Type | What it does | Install | License | SDK |\n|---|---|---|---|---|---|\n%s\n",
			titles[k], rows)
	}
	page.WriteString(footing)
	return page.String()
}

func (p Plugin) row() string {
	source, install := p.Source, "`"+p.Install+"`"
	if p.ours() {
		source = repository + "/tree/main/" + p.Source
	}
	if p.Install == "" {
		install = "[build it](" + source + ")"
		if p.ours() {
			install = "[build it](" + repository + "/blob/main/" + p.Source + "/README.md#build-and-install)"
		}
	}
	return fmt.Sprintf("| [%s](%s) | `%s.%s` | %s | %s | %s | %s |\n", p.Name, source, p.Kind, p.Type, p.Does, install,
		p.License, p.SDK)
}
