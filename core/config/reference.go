package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// wudSettings are the settings that What's Up Docker has too.
var wudSettings = []string{
	"server.enabled", "server.port", "server.tls.enabled", "server.tls.key", "server.tls.cert",
	"server.cors.enabled", "server.cors.origin", "server.cors.methods", "server.basepath", "server.feature.delete",
	"store.path", "log.level", "log.format", "prometheus.enabled", "public.url",
}

const introduction = `# Configuration

Dogwatch needs none: it watches the local Docker socket, knows the public registries and serves on port 3000.
What you set comes from a YAML file, from environment variables, or from both.

## Where settings come from

The file is the one named by ` + "`--config`" + `, else by the variable ` + "`DOGWATCH_CONFIG`" +
	`, else the first that exists of
` + "`/etc/dogwatch/dogwatch.yaml`, `/config/dogwatch.yaml` and `dogwatch.yaml`" +
	` in the working directory (or the same with ` + "`.yml`" + `).
The order is: defaults, file, environment, command line; the later wins. ` + "`dogwatch config show`" +
	` prints the result with
the place each value comes from, ` + "`dogwatch config validate`" + ` finds every mistake. ` + "`DOGWATCH_TOKEN`" +
	` is no setting: commands that speak to a
Dogwatch that serves send it when a login is asked for and they may not write its database.

**One path, two spellings.** ` + "`trigger.smtp.main.tls.verify`" + ` in the file, nested or with dots, is
` + "`DOGWATCH_TRIGGER_SMTP_MAIN_TLS_VERIFY`" + ` in the environment. Case does not matter. The name of a component (` +
	"`main`" + `) is yours to choose:
letters, digits and ` + "`-`" + `, but no underscore. ` + "`DOGWATCH_TRIGGER_MOCK_MAIN=true`" +
	` makes a component that needs no options.

**Watchers** may leave out their type, which is then ` + "`docker`" + `: ` +
	"`DOGWATCH_WATCHER_LOCAL_CRON` and `DOGWATCH_WATCHER_DOCKER_LOCAL_CRON`" + ` are the same.
With at least three parts the first is the type: that of a [plugin](plugins.md) has to be written, ` +
	"`DOGWATCH_WATCHER_SHELF_MAIN_CRON`" + ` for ` + "`watcher.shelf.main.cron`" + `. With two parts
the first is the name of a Docker watcher: ` + "`DOGWATCH_WATCHER_DOCKER_CRON`" + ` sets the option ` + "`cron`" +
	` of one called ` + "`docker`" + `, and ` + "`DOGWATCH_WATCHER_SHELF_CRON`" + ` that of one called ` + "`shelf`" + `.

**Policies** say which updates are offered, and when: the section ` + "`policy`" +
	` for all containers, and as many named ones as you like,
` + "`policies.careful.minage: 7d` (`DOGWATCH_POLICIES_CAREFUL_MINAGE`)" +
	`, with the same keys. A container has the one that its label ` + "`dogwatch.policy`" + ` names, else
the one of its watcher; what that leaves open is taken from ` + "`policy`" +
	`, and labels of the container come before both. [Policies](policies.md) has the rest.

**Secrets in files.** Put ` + "`__FILE`" + ` behind a variable (` + "`__file`" +
	` behind a key) and the value is read from the file it names,
without its last line break; 64 KiB at most. A byte order mark and quotation marks around all of it are left out, as are those around the value of a
variable. Setting a value and its file is a mistake.

**Values.** ` +
	"A duration is written `30s` or `1m30s`, or as a number of milliseconds; a list as a YAML list or separated by commas. " + `An empty
variable counts as not set. A section whose name starts with ` + "`x-`" +
	` is yours, for YAML anchors. A mistyped key switches nothing off: it is reported with the nearest known one.

**Reloading.** ` + "`dogwatch reload`" + `, the signal ` + "`SIGHUP`" + ` (` + "`docker kill --signal HUP dogwatch`" +
	`) and the page of the settings have the Dogwatch that
serves read the file, and the files of secrets, anew; ` + "`dogwatch config diff`" +
	` says before what that would change. A configuration with a mistake changes
nothing, and the log, the command and the page say which. Of watchers, registries and triggers only those restart that are new or different, and deliveries
under way are completed; policies count at once. When another setting differs, everything restarts within the process, in a few seconds; if it cannot start
so, it goes on as before. A process keeps its environment: what you set there needs a new start, or a new container.

**Coming from What's Up Docker?** Every ` + "`WUD_…`" + ` variable is read as the ` + "`DOGWATCH_…`" +
	` one; if both are set, ours wins. Watchers have
no type there: ` + "`WUD_WATCHER_LOCAL_CRON`" + `; of a value and its ` + "`__FILE`" + ` the file counts. ` +
	"`WUD_STORE_FILE`" + ` names the file that the first start imports.

**Logins** are the sections ` + "`auth.basic.{name}`" + ` (a user and the hash of a password) and ` +
	"`auth.oidc.{name}`" + ` (an OpenID Connect provider);
[Logins and tokens](authentication.md) has their options. Without one everybody may do everything; with one, even a mistaken one, nobody may without a login.
`

// Reference returns the documentation of all that can be set, as Markdown: the
// settings of the host, the options it adds to all components of a kind, and
// the list of types, whose options are on their Pages.
func Reference(types []kind.Type, hostOptions map[kind.Kind]option.Schema) string {
	var b strings.Builder
	b.WriteString(introduction)
	b.WriteString("\n## Settings\n")
	section := ""
	for _, o := range settingsSchema() {
		if head, _, _ := strings.Cut(o.Name, "."); head != section {
			section = head
			b.WriteString("\n### " + section +
				"\n\n| Key | Environment | WUD | Type | Default | Meaning |\n|---|---|---|---|---|---|\n")
		}
		twin := ""
		if slices.Contains(wudSettings, o.Name) {
			twin = code(wudName(o.Name))
		}
		row(&b, code(o.Name), code(EnvName(o.Name)), twin, string(o.Type), defaultOf(o), meaning(o))
	}
	for _, k := range kind.Kinds() {
		writeKind(&b, k, types, hostOptions[k])
	}
	return b.String()
}

var plurals = map[kind.Kind]string{kind.Watcher: "Watchers", kind.Registry: "Registries", kind.Trigger: "Triggers"}

func writeKind(b *strings.Builder, k kind.Kind, types []kind.Type, host option.Schema) {
	b.WriteString("\n## " + plurals[k] + "\n")
	if len(host) > 0 {
		prefix := string(k) + ".{type}.{name}."
		twin := " or `" + wudName(prefix) + "`"
		if k == kind.Watcher {
			short := string(k) + ".{name}."
			twin = fmt.Sprintf(", and those of type `%s` also with `%s` or `%s`", dockerType, EnvName(short),
				wudName(string(k)+"."+dockerType+".{name}."))
		}
		fmt.Fprintf(b, "\nEvery %s has these options. Their variables start with `%s`%s:\n", k, EnvName(prefix), twin)
		writeOptions(b, host)
	}
	if some := ofKind(types, k); len(some) > 0 {
		b.WriteString("\nEach type has a page with its own options:\n")
		writeTypes(b, some, "providers/")
		fmt.Fprintf(b, "\nThe options of a type in `plugins.dir` are shown by `dogwatch plugin describe %s.TYPE`.\n", k)
	}
}

// ofKind returns the types of a kind by name.
func ofKind(types []kind.Type, k kind.Kind) []kind.Type {
	var some []kind.Type
	for _, t := range types {
		if t.Kind == k {
			some = append(some, t)
		}
	}
	slices.SortFunc(some, func(a, b kind.Type) int { return strings.Compare(a.Name, b.Name) })
	return some
}

func writeOptions(b *strings.Builder, schema option.Schema) {
	b.WriteString("\n| Key | Environment | Type | Default | Meaning |\n|---|---|---|---|---|\n")
	for _, o := range schema {
		variable := "…_" + strings.ToUpper(strings.ReplaceAll(o.Name, ".", "_"))
		row(b, code(o.Name), code(variable), string(o.Type), defaultOf(o), meaning(o))
	}
}

func row(b *strings.Builder, cells ...string) {
	for i, c := range cells {
		cells[i] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(c)
	}
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func code(text string) string {
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		text = " " + text + " "
	}
	return fence + text + fence
}

func defaultOf(o option.Option) string {
	switch {
	case o.Required:
		return "**required**"
	case o.Default == nil || *o.Default == "":
		return ""
	}
	return code(strings.ReplaceAll(*o.Default, "\n", `\n`))
}

// meaning returns the help with all that the schema knows besides.
func meaning(o option.Option) string {
	parts := []string{o.Help}
	switch {
	case len(o.Choices) > 0:
		parts = append(parts, "one of "+code(strings.Join(o.Choices, " ")))
	case o.Min != nil && o.Max != nil:
		parts = append(parts, fmt.Sprintf("%v to %v", *o.Min, *o.Max))
	case o.Min != nil:
		parts = append(parts, fmt.Sprintf("at least %v", *o.Min))
	case o.Max != nil:
		parts = append(parts, fmt.Sprintf("at most %v", *o.Max))
	}
	if o.Secret {
		parts = append(parts, "secret")
	}
	if len(o.Aliases) > 0 {
		parts = append(parts, "also "+code(strings.Join(o.Aliases, " ")))
	}
	if o.Deprecated != "" {
		parts = append(parts, "deprecated: "+o.Deprecated)
	}
	return strings.Join(parts, "; ")
}

// Sample returns a YAML file with everything that can be set, at its default
// and commented out. Components are called main.
func Sample(types []kind.Type, hostOptions map[kind.Kind]option.Schema) (string, error) {
	var leaves []leaf
	add := func(prefix string, schema option.Schema) {
		for _, o := range schema {
			leaves = append(leaves, leaf{path: prefix + o.Name, value: sampleOf(o), head: meaning(o)})
		}
	}
	add("", settingsSchema())
	for _, k := range kind.Kinds() {
		for _, t := range ofKind(types, k) {
			add(string(k)+"."+t.Name+".main.", slices.Concat(t.Options, hostOptions[k]))
		}
	}
	text, err := render(leaves)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Everything that can be set. Remove the # in front of what you need, sections included.\n\n")
	for line := range strings.Lines(string(text)) {
		b.WriteString("#" + line)
	}
	return b.String(), nil
}

// sampleOf returns the default as one would write it; an empty value, which
// counts as not set, when there is none.
func sampleOf(o option.Option) any {
	if o.Default == nil {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	}
	switch o.Type {
	case option.List:
		return strings.Split(*o.Default, ",")
	case option.String, option.URL:
		return *o.Default
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: *o.Default}
}
