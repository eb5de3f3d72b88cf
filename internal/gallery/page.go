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

Plugins that add something to Dogwatch. ` + "`dogwatch plugin search`" + ` lists them, ` +
	"`dogwatch plugin install trigger-file`" + ` [installs](../plugins-install.md#from-the-gallery)
one, by what is in the column of that name, and the page of the plugins does both. The README of each says how to configure it.
A plugin is a program that runs beside Dogwatch: look at its source first. That one is listed here says no more than that its reference is complete.
Those of this repository are built and signed by the release; you can [build them yourself](../plugins.md#installing-one), too.

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
| ` + "`install`" + ` | reference of the artifact; without it users build the plugin from its source; not for a folder of this repository |
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
	install := "`" + p.Install + "`"
	switch {
	case Released(p.Install):
		install = "`" + p.Name + "`"
	case p.Install == "":
		install = "[build it](" + p.address() + ")"
	}
	return fmt.Sprintf("| [%s](%s) | `%s.%s` | %s | %s | %s | %s |\n", p.Name, p.address(), p.Kind, p.Type, p.Does, install,
		p.License, p.SDK)
}
