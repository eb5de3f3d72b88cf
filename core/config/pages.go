package config

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Page is a file of the documentation.
type Page struct {
	// Name is its path below the folder of all pages: "triggers/ntfy.md".
	Name string
	Text string
}

// Pages returns the documentation of the types as Markdown: a page for each,
// and an index called README.md. Links lead to the other documents where the
// folder of the pages is docs/providers.
func Pages(types []kind.Type) ([]Page, error) {
	pages := []Page{{Name: "README.md", Text: index(types)}}
	for _, k := range kind.Kinds() {
		for _, t := range ofKind(types, k) {
			text, err := page(t)
			if err != nil {
				return nil, fmt.Errorf("document %s.%s: %w", k, t.Name, err)
			}
			pages = append(pages, Page{Name: pageName(t), Text: text})
		}
	}
	return pages, nil
}

// PageOf returns the documentation of a type of a third party, which may lack examples.
func PageOf(t kind.Type) (string, error) {
	t.Options = slices.Clone(t.Options)
	for i := range t.Options {
		o := &t.Options[i]
		if _, err := o.Parse(o.Example); o.Example != "" && err != nil {
			o.Example = ""
		}
		if o.Required && o.Example == "" && o.Default == nil {
			o.Example = plausible(*o)
		}
	}
	text, err := page(t)
	return strings.TrimPrefix(text, generated), err
}

// plausible is a value of an option of which no example is known.
func plausible(o option.Option) string {
	if len(o.Choices) > 0 {
		return o.Choices[0]
	}
	return cmp.Or(map[option.Type]string{
		option.URL: "https://example.com", option.Int: "1", option.Float: "1", option.Bool: "true",
		option.Duration: "1h",
	}[o.Type], "example")
}

func pageName(t kind.Type) string {
	return strings.ToLower(plurals[t.Kind]) + "/" + t.Name + ".md"
}

// generated heads files that are not to be edited.
const generated = "<!-- Written by go generate ./cmd/dogwatch from the options in the code. -->\n\n"

func index(types []kind.Type) string {
	var b strings.Builder
	b.WriteString(generated +
		"# Watchers, registries and triggers\n\nA page for each type, with every option, its variables and an example.\n")
	for _, k := range kind.Kinds() {
		b.WriteString("\n## " + plurals[k] + "\n")
		writeTypes(&b, ofKind(types, k), "")
	}
	return b.String()
}

// writeTypes lists types with links to their pages; below is the way to the folder of the pages.
func writeTypes(b *strings.Builder, types []kind.Type, below string) {
	b.WriteString("\n| Type | What it is | In WUD |\n|---|---|---|\n")
	for _, t := range types {
		known := ""
		if len(wudOptions(t)) > 0 {
			known = "yes"
		}
		row(b, "["+t.Name+"]("+below+pageName(t)+")", t.Summary, known)
	}
}

// page returns the documentation of a type.
func page(t kind.Type) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# The %s `%s`\n\n%s.", generated, t.Kind, t.Name, t.Summary)
	if t.DocsURL != "" {
		fmt.Fprintf(&b, " [Its own documentation](%s).", t.DocsURL)
	}
	b.WriteString("\n")
	if t.DefaultName != "" {
		fmt.Fprintf(&b, "\n`%s.%s.%s` exists without configuration. ", t.Kind, t.Name, t.DefaultName)
		if t.Kind == kind.Watcher {
			b.WriteString("It is gone once any watcher is configured.\n")
		} else {
			b.WriteString("It stays when others are configured.\n")
		}
	}
	if err := writeExample(&b, t); err != nil {
		return "", err
	}
	writeOptionTable(&b, t)
	writeSpellings(&b, t)
	writeMasks(&b, t.Options)
	writeGuarantee(&b, t)
	writeCapabilities(&b, t.Capabilities)
	return b.String(), nil
}

// instance is what the examples call an instance of a type.
func instance(t kind.Type) string {
	if t.Kind == kind.Registry {
		return "private"
	}
	return cmp.Or(t.DefaultName, "main")
}

// writeExample writes the required options, and those with an example and no
// default, in each spelling.
func writeExample(b *strings.Builder, t kind.Type) error {
	key := string(t.Kind) + "." + t.Name + "." + instance(t)
	wud := wudOptions(t)
	var leaves []leaf
	var native, theirs []string
	for _, o := range t.Options {
		if o.Example == "" || o.Default != nil {
			if o.Required {
				return fmt.Errorf("option %s is required and has no example", o.Name)
			}
			continue
		}
		value, err := o.Parse(o.Example)
		if err != nil {
			return fmt.Errorf("option %s: example: %w", o.Name, err)
		}
		path := key + "." + o.Name
		leaves = append(leaves, leaf{path: path, value: plain(value)})
		native = append(native, ShortEnvName(path)+"="+o.Example)
		if slices.Contains(wud, o.Name) {
			theirs = append(theirs, wudName(path)+"="+o.Example)
		}
	}
	if len(leaves) == 0 {
		leaves = []leaf{{path: key, value: map[string]any{}}}
		native, theirs = []string{ShortEnvName(key) + "=true"}, []string{wudName(key) + "=true"}
	}
	text, err := render(leaves)
	if err != nil {
		return err
	}
	fmt.Fprintf(b,
		"\n## Example\n\nIn the file:\n\n```yaml\n%s```\n\nThe same in the environment:\n\n```ini\n%s\n```\n", text,
		strings.Join(native, "\n"))
	if len(wud) > 0 && len(theirs) > 0 {
		fmt.Fprintf(b, "\nWith the variables of What's Up Docker, which work as they are:\n\n```ini\n%s\n```\n",
			strings.Join(theirs, "\n"))
	}
	fmt.Fprintf(b, "\n`dogwatch plugin test %s` tries it.\n", key)
	return nil
}

func writeOptionTable(b *strings.Builder, t kind.Type) {
	b.WriteString("\n## Options\n\n")
	if t.Kind != kind.Registry {
		fmt.Fprintf(b, "Besides those [that every %s has](../../configuration.md#%s)", t.Kind,
			strings.ToLower(plurals[t.Kind]))
		if len(t.Options) == 0 {
			b.WriteString(" there are none.\n")
			return
		}
		b.WriteString(":\n\n")
	}
	b.WriteString("| Option | Type | Default | Meaning |\n|---|---|---|---|\n")
	for _, o := range t.Options {
		row(b, code(o.Name), string(o.Type), defaultOf(o), meaning(o))
	}
}

func writeSpellings(b *strings.Builder, t kind.Type) {
	if len(t.Options) == 0 {
		return
	}
	wud := wudOptions(t)
	b.WriteString("\n## How each option is written\n\n`{name}` is a name of your choice. In the file, the dots of a key may also be levels, as in the example;\n" +
		"`__file` behind a key, or `__FILE` behind a variable, names a file that holds the value.\n\n| In the file | Variable |")
	if len(wud) > 0 {
		b.WriteString(" Variable in WUD |")
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", min(len(wud), 1)) + "\n")
	for _, o := range t.Options {
		path := string(t.Kind) + "." + t.Name + ".{name}." + o.Name
		cells := []string{code(path), code(ShortEnvName(path))}
		switch {
		case slices.Contains(wud, o.Name):
			cells = append(cells, code(wudName(path)))
		case len(wud) > 0:
			cells = append(cells, "")
		}
		row(b, cells...)
	}
}

// writeMasks says what the HTTP interface makes of values, by having it shown.
func writeMasks(b *strings.Builder, schema option.Schema) {
	const text, address = "secret", "https://ana:secret@example.com"
	written := map[string][]string{}
	const (
		first    = "the first character, and an asterisk for each other one"
		password = "without the password in it"
		host     = "scheme, host, user and the names of the query; what may be secret in it as `***`"
		stored   = "as stored to people who are logged in, and to everybody while no login is configured; masked to tokens, and to all with `server.maskall`"
	)
	for _, o := range schema {
		probe, one := text, option.Option{Name: "o", Type: o.Type, Secret: o.Secret, Mask: o.Mask}
		if o.Type == option.URL {
			probe = address
		}
		switch shown, _ := (option.Schema{one}).Show(option.Values{"o": probe}, false)["o"].(string); {
		case shown == option.First(probe):
			written[first] = append(written[first], code(o.Name))
		case shown != probe && o.Secret:
			written[host] = append(written[host], code(o.Name))
		case shown != probe:
			written[password] = append(written[password], code(o.Name))
		case o.Secret:
			written[stored] = append(written[stored], code(o.Name))
		}
	}
	if len(written) == 0 {
		return
	}
	b.WriteString("\n## What the API shows\n\n")
	for _, how := range []string{first, password, host, stored} {
		if options := written[how]; len(options) > 0 {
			fmt.Fprintf(b, "- %s: %s\n", strings.Join(options, ", "), how)
		}
	}
	b.WriteString("\nEverything else is shown as it is. Logs, events and errors hold no secret.\n")
}

func writeGuarantee(b *strings.Builder, t kind.Type) {
	if t.Kind != kind.Trigger {
		return
	}
	b.WriteString("\n## Guarantee\n\n")
	if t.Guarantee == kind.AtMostOnce {
		b.WriteString("At most once: what may have begun is not repeated. It is tried again only when it certainly did not begin.\n")
		return
	}
	b.WriteString("At least once: what fails for a while is tried again for hours, after a restart too. In rare cases, as after a crash\n" +
		"in the middle, the same message comes twice.\n")
}

func writeCapabilities(b *strings.Builder, capabilities []string) {
	if len(capabilities) == 0 {
		return
	}
	b.WriteString("\n## Capabilities\n\n")
	for _, c := range slices.Sorted(slices.Values(capabilities)) {
		fmt.Fprintf(b, "- `%s`: %s\n", c, abilities[c])
	}
}

// abilities says what the capabilities are.
var abilities = map[string]string{
	kind.CapProbe:       "tells whether it works when it is tested, without doing anything",
	kind.CapWatch:       "reports at once what happens on the engine",
	kind.CapLogs:        "reads the last lines that containers wrote, with its option `logs`",
	kind.CapPullSecrets: "has the credentials with which its engine pulls an image used to look that image up, with its option `pullsecrets`",
	kind.CapLabels:      "tells the labels of images from those of containers, which may say more",
	kind.CapUpdate:      "replaces containers by newer ones, with its option `update`",
	kind.CapCredentials: "passes credentials on to triggers that pull images",
	kind.CapLimits:      "tells how many requests its hosts still allow; the API and the metrics show it",
	kind.CapConfig:      "reads what an image sets for its containers, so that the plan of an update shows it before the pull",
	kind.CapTags:        "says what is behind a changed tag and how old versions are, without a pull where its host counts pulls",
	kind.CapStateStream: "is kept informed of all containers, whatever it delivers",
	kind.CapEngine:      "reaches the engine of the watcher",
	kind.CapFiles:       "uses files as Dogwatch does, not only those that its options name",
	kind.CapRun:         "can have other triggers run",
	kind.CapDecide:      "can decide about updates for its users",
	kind.CapDevices:     "reaches the devices that users have subscribed, which no plugin of a third party does",
	kind.CapMessages:    "sends messages that people read; unless `events` is set, they hear how updates ended, too",
	kind.CapProposals:   "opens pull requests that change the image where it is written",
	kind.CapOperate:     "has containers updated by their watchers",
}

// wudTypes lists the types of What's Up Docker 8 with their options.
//
//go:embed wud.txt
var wudTypes string

// wudOptions returns the options that a type has in What's Up Docker, too; none
// for a type that it does not have.
func wudOptions(t kind.Type) []string {
	for line := range strings.Lines(wudTypes) {
		if fields := strings.Fields(line); fields[0] == string(t.Kind)+"."+t.Name {
			return fields[1:]
		}
	}
	return nil
}
