package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/internal/yamltext"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// installSetting is a list of mappings in YAML, and of texts elsewhere.
const installSetting = "plugins.install"

// Install is a plugin that the operator wants to be there.
type Install struct {
	// Name is that of the file in plugins.dir.
	Name string
	// Ref is where it comes from.
	Ref string
	// Digest is the only one that is accepted; "" for any.
	Digest string
	// Key is the publisher's, or its file; "" for the one that is first seen.
	Key string
	// Grants are the capabilities that it is given.
	Grants []string
}

// installFields are the fields of an Install as they are written.
var installFields = []string{"name", "ref", "digest", "key", "grants"}

// grantSeparator is between the capabilities of a text: a comma is between plugins.
const grantSeparator = "+"

func (i *Install) set(name, value string) {
	switch name {
	case "name":
		i.Name = value
	case "ref":
		i.Ref = value
	case "digest":
		i.Digest = strings.ToLower(value)
	case "key":
		i.Key = value
	case "grants":
		i.Grants = strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return r == '+' || r == ',' })
	}
}

// Declared returns the plugins of plugins.install. Those that are malformed were
// reported by Load, and left out.
func (p Plugins) Declared() []Install {
	var all []Install
	for _, text := range p.Installs {
		if i, problem, _ := parseInstall(text); problem == "" {
			all = append(all, i)
		}
	}
	return all
}

// installs writes each mapping of a list as a text of name=value pairs.
func (w *yamlWalk) installs(n *yaml.Node, depth int) []string {
	items := []string{}
	for _, item := range n.Content {
		if !w.enter(item, depth) {
			return items
		}
		item = yamltext.Resolve(item)
		if item.Kind == yaml.ScalarNode {
			items = append(items, item.Value)
			continue
		}
		if item.Kind != yaml.MappingNode {
			w.fault(item, "each plugin is a mapping with "+strings.Join(installFields, ", "), "")
			continue
		}
		var fields []string
		for _, p := range w.pairs(item, depth+1) {
			value := yamltext.Resolve(p.value)
			if p.name == "grants" && value.Kind == yaml.SequenceNode {
				value = w.joined(value, depth+1)
			}
			if value.Kind != yaml.ScalarNode || strings.ContainsAny(strings.TrimSpace(value.Value), " \t\n") {
				w.fault(p.key, fmt.Sprintf("%s of %s is one text without spaces", p.name, installSetting), "")
				continue
			}
			fields = append(fields, p.name+"="+strings.TrimSpace(value.Value))
		}
		items = append(items, strings.Join(fields, " "))
	}
	return items
}

// joined returns a list of texts as one text.
func (w *yamlWalk) joined(list *yaml.Node, depth int) *yaml.Node {
	var items []string
	for _, item := range list.Content {
		if !w.enter(item, depth) {
			break
		}
		item = yamltext.Resolve(item)
		if item.Kind != yaml.ScalarNode {
			return item // which is refused
		}
		items = append(items, strings.TrimSpace(item.Value))
	}
	return &yaml.Node{
		Kind: yaml.ScalarNode, Value: strings.Join(items, grantSeparator), Line: list.Line, Column: list.Column,
	}
}

var digestForm = lazyregexp.New(`^(sha256:[0-9a-f]{64})?$`)
var installNameForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// parseInstall reads a text of name=value pairs, or says what is wrong with it.
func parseInstall(text string) (i Install, problem, remedy string) {
	for _, pair := range strings.Fields(text) {
		name, value, written := strings.Cut(pair, "=")
		name = strings.ToLower(name)
		if !written || !slices.Contains(installFields, name) {
			remedy = "the fields are " + strings.Join(installFields, ", ")
			if near := option.Suggest(name, installFields); near != "" {
				remedy = "did you mean " + near + "?"
			}
			return i, fmt.Sprintf("%q is no field of a plugin", name), remedy
		}
		i.set(name, value)
	}
	for _, capability := range i.Grants {
		if !slices.Contains(Grantable(), capability) {
			return i, fmt.Sprintf("the grants of %s name %q, which is no capability", i.Name, capability),
				"the capabilities are " + strings.Join(Grantable(), ", ")
		}
	}
	switch {
	case i.Name == "" || i.Ref == "":
		return i, "a plugin lacks its name or its ref", "write name: trigger-lamp and ref: ghcr.io/me/trigger-lamp:1.0"
	case !installNameForm().MatchString(i.Name):
		return i, fmt.Sprintf("the name %q is none of a file in plugins.dir", i.Name), "use letters, digits, dots, - and _"
	case strings.Contains(i.Ref, "@") && strings.Contains(i.Ref, "://") && !strings.HasPrefix(i.Ref, "oci://"):
		return i, "the ref of " + i.Name + " has a user or a password",
			"remove it: registries take the login of their component"
	case !digestForm().MatchString(i.Digest):
		return i, fmt.Sprintf("the digest of %s is no SHA-256", i.Name), "write sha256: and 64 hexadecimal digits"
	case strings.HasPrefix(i.Ref, "https://") && i.Digest == "":
		return i, "the address of " + i.Name + " has no digest", "add digest: sha256: and the SHA-256 of the file"
	}
	return i, "", ""
}

// checkInstalls reports what is wrong with plugins.install.
func (l *loader) checkInstalls(p Plugins) {
	seen := map[string]bool{}
	for _, text := range p.Installs {
		i, problem, remedy := parseInstall(text)
		if problem != "" {
			l.fault(installSetting, problem, remedy)
			continue
		}
		if seen[i.Name] {
			l.fault(installSetting, "names "+i.Name+" twice", "keep one")
		}
		seen[i.Name] = true
	}
}
