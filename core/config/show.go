package config

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Show writes c as YAML, each value with the place it comes from behind it.
// Secrets are masked, whatever their mask, and so is every value whose option
// is not known: it may be a secret under a mistyped name. Values that are
// defaults are only shown with all.
func Show(c *Config, schema SchemaOf, all bool) (string, error) {
	text, err := render(c.leaves(schema, all))
	return string(text), err
}

// SchemaOf returns the options of a type, those of the host included, and whether the type is known.
type SchemaOf func(k kind.Kind, typ string) (option.Schema, bool)

// leaves are the values of c as Show writes them.
func (c *Config) leaves(schema SchemaOf, all bool) []leaf {
	var leaves []leaf
	for _, o := range settingsSchema() {
		v, set := c.values[o.Name]
		source, given := c.sources[o.Name]
		if set && (given || all) {
			leaves = append(leaves, leaf{path: o.Name, value: masked(o, v), line: origin(source)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Policies)) {
		for rule, text := range c.Policies[name].Values() {
			path := strings.Join([]string{policiesSection, name, rule}, ".")
			leaves = append(leaves, leaf{path: path, value: text, line: origin(c.sources[path])})
		}
	}
	for _, component := range slices.Concat(c.Components, c.Auth) {
		s, known := schema(component.Kind, component.Type)
		shown := component.show(s, known, all)
		if len(shown) == 0 {
			shown = []leaf{{path: component.Key(), value: map[string]any{}}}
		}
		leaves = append(leaves, shown...)
	}
	return leaves
}

func origin(source string) string {
	if source == "" {
		return "default"
	}
	return oneLine(source)
}

// NotAccepted follows the source of a value that does not suit its option.
const NotAccepted = ", not accepted"

func (c Component) show(schema option.Schema, typeKnown, all bool) []leaf {
	var leaves []leaf
	add := func(name string, v any, line string) {
		leaves = append(leaves, leaf{path: c.Key() + "." + name, value: v, line: line})
	}
	values, _ := c.Resolve(schema)
	known := map[string]bool{}
	for _, o := range schema {
		accepted, ok := values[o.Name]
		var source string
		for _, name := range append([]string{o.Name}, o.Aliases...) {
			given, has := c.Options[name]
			known[name] = true
			switch {
			case has && ok:
				source = given.Source
			case has && given.V != "":
				add(name, hidden(o.Secret, given.V), origin(given.Source)+NotAccepted)
			}
		}
		if ok && (all || source != "") {
			add(o.Name, masked(o, accepted), origin(source))
		}
	}
	var rest []string
	for name := range c.Options {
		if !known[name] {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	for _, name := range rest {
		line := origin(c.Options[name].Source)
		if typeKnown {
			line += ", unknown option"
		}
		add(name, hidden(true, c.Options[name].V), line)
	}
	return leaves
}

// masked returns v as Show prints it: the password of a URL is a secret even
// when its option is none.
func masked(o option.Option, v any) any {
	if d, ok := v.(time.Duration); ok && !o.Secret {
		return d.String()
	}
	if o.Type == option.URL && !o.Secret {
		o.Mask = option.MaskURL
	}
	o.Name = "value"
	return option.Schema{o}.Show(option.Values{o.Name: v}, true)[o.Name]
}

// hidden returns a value as it was written, masked if secret.
func hidden(secret bool, v any) any {
	o := option.Option{Name: "value", Type: option.String, Secret: secret}
	return masked(o, v)
}

// leaf is one value of a YAML document.
type leaf struct {
	path       string
	value      any    // or a ready *yaml.Node
	head, line string // comments above and behind it
}

// render writes leaves as nested YAML in their order. Where one's path goes on
// behind another's ("from" and "from.name"), its last part keeps the dots.
func render(leaves []leaf) ([]byte, error) {
	if len(leaves) == 0 {
		return nil, nil
	}
	ends := map[string]bool{}
	for _, l := range leaves {
		ends[l.path] = true
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, l := range leaves {
		node, rest := root, l.path
		for {
			segment, after, nested := strings.Cut(rest, ".")
			before := strings.TrimSuffix(l.path, "."+after)
			if !nested || ends[before] {
				break
			}
			node, rest = child(node, segment), after
		}
		key := &yaml.Node{Kind: yaml.ScalarNode, HeadComment: l.head}
		key.SetString(rest)
		value, ready := l.value.(*yaml.Node)
		if !ready {
			value = &yaml.Node{}
			if err := value.Encode(l.value); err != nil {
				return nil, err
			}
		}
		if value.Style == yaml.LiteralStyle || strings.Contains(value.Value, "\n") {
			value.Style = yaml.DoubleQuotedStyle
		}
		if value.Kind == yaml.SequenceNode {
			value.Style = yaml.FlowStyle
		}
		value.LineComment = l.line
		node.Content = append(node.Content, key, value)
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(root)
	return b.Bytes(), err
}

// child returns the mapping under a key of m, made when it is missing.
func child(m *yaml.Node, key string) *yaml.Node {
	for i := 0; i < len(m.Content); i += 2 {
		if m.Content[i].Value == key && m.Content[i+1].Kind == yaml.MappingNode {
			return m.Content[i+1]
		}
	}
	k, v := &yaml.Node{}, &yaml.Node{Kind: yaml.MappingNode}
	k.SetString(key)
	m.Content = append(m.Content, k, v)
	return v
}
