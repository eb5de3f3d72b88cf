package config

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/sdk/option"
)

// Setting is one value of a configuration, as Show shows it.
type Setting struct {
	// Path is the dotted path: "trigger.smtp.main.host".
	Path string `json:"path"`
	// Value is masked if it is a secret; a component without options has an empty object.
	Value any `json:"value"`
	// Source is where it was written, or "default".
	Source string `json:"source"`
}

// List returns what Show writes, as a list.
func List(c *Config, schema SchemaOf, all bool) []Setting {
	list := []Setting{}
	for _, l := range c.leaves(schema, all) {
		source := cmp.Or(l.line, "default")
		list = append(list, Setting{Path: l.path, Value: l.value, Source: source})
	}
	return list
}

// Native writes everything that was configured as the content of a
// configuration file. Unlike Show it writes secrets as they are, but for those
// that were read from a file: of these it names the file.
func Native(c *Config, schema SchemaOf) (string, error) {
	var leaves []leaf
	add := func(path string, v any, source string) {
		if file, ok := secretFile(source); ok {
			path, v = path+fileSuffix, file
		}
		leaves = append(leaves, leaf{path: path, value: plain(v)})
	}
	for _, o := range settingsSchema() {
		if source, given := c.sources[o.Name]; given {
			add(o.Name, c.values[o.Name], source)
		}
	}
	for _, component := range slices.Concat(c.Components, c.Auth) {
		if len(component.Options) == 0 {
			leaves = append(leaves, leaf{path: component.Key(), value: map[string]any{}})
		}
		component.native(schema, add)
	}
	text, err := render(leaves)
	return string(text), err
}

// Document writes values, texts all of them, under their paths
// ("trigger.smtp.main.pass__file") as the content of a configuration file.
func Document(settings []Setting) (string, error) {
	var leaves []leaf
	for _, s := range settings {
		text, _ := s.Value.(string)
		value := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
		if text != "" && value.ShortTag() == "!!null" {
			value.Style = yaml.DoubleQuotedStyle
		}
		leaves = append(leaves, leaf{path: s.Path, value: value})
	}
	text, err := render(leaves)
	return string(text), err
}

// native adds the options that were given: first the known ones, under their
// proper names and as their types, then the others as they were written.
func (c Component) native(schema SchemaOf, add func(path string, v any, source string)) {
	known, _ := schema(c.Kind, c.Type)
	values, _ := c.Resolve(known)
	done := map[string]bool{}
	for _, o := range known {
		for _, name := range append([]string{o.Name}, o.Aliases...) {
			given, has := c.Options[name]
			if !has || values[o.Name] == nil {
				continue
			}
			done[name] = true
			if path, needed := c.current(known, o); needed {
				add(path, values[o.Name], given.Source)
			}
			break
		}
	}
	var rest []string
	for name := range c.Options {
		if !done[name] {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	for _, name := range rest {
		add(c.Key()+"."+name, c.Options[name].V, c.Options[name].Source)
	}
}

// current returns the path under which an option is written, which is never a deprecated one; false
// when it need not be written, as nothing takes its place, or what does is given.
func (c Component) current(known option.Schema, o option.Option) (path string, needed bool) {
	if o.Deprecated != "" {
		other, has := Replacement(known, o)
		if _, given := c.Options[other.Name]; given || !has {
			return "", false
		}
		o = other
	}
	return c.Key() + "." + o.Name, true
}

// secretFile returns the file that a value was read from, if it was.
func secretFile(source string) (string, bool) {
	rest, ok := strings.CutPrefix(source, "file ")
	end := strings.LastIndex(rest, " (")
	if !ok || end < 0 {
		return "", false
	}
	return rest[:end], true
}

// plain returns a value as a file holds it.
func plain(v any) any {
	switch v := v.(type) {
	case *url.URL:
		return v.String()
	case time.Duration:
		return v.String()
	}
	return v
}
