package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Difference is one value that two configurations do not share.
type Difference struct {
	// Path is that of a setting, an option of a component or a rule of a policy; of a
	// component without options it is the component.
	Path string `json:"path"`
	// Before and After are the values as text, "" where there is none. Secrets are masked.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Source is where the value that counts from now on was written; of one that is gone, where it was.
	Source string `json:"source,omitempty"`
	// Component is the component that it is about, such as trigger.smtp.main; "" for none.
	Component string `json:"component,omitempty"`
}

// String returns the difference in one line, marked with +, - or ~.
func (d Difference) String() string {
	switch {
	case d.Before == "":
		return fmt.Sprintf("+ %s: %s", d.Path, d.After)
	case d.After == "":
		return fmt.Sprintf("- %s: %s", d.Path, d.Before)
	case d.Before == d.After: // a secret
		return fmt.Sprintf("~ %s: %s (another one)", d.Path, d.After)
	}
	return fmt.Sprintf("~ %s: %s → %s", d.Path, d.Before, d.After)
}

// Diff returns what differs between two configurations, sorted by path: effective
// settings, and components, logins and named policies as they were written.
func Diff(before, after *Config, schema SchemaOf) []Difference {
	old, now := before.written(schema), after.written(schema)
	var all []Difference
	for path, v := range now {
		was, had := old[path]
		if !had {
			all = append(all, Difference{Path: path, After: v.shown, Source: v.source, Component: v.component})
		} else if !reflect.DeepEqual(was.raw, v.raw) {
			all = append(all, Difference{
				Path: path, Before: was.shown, After: v.shown, Source: v.source, Component: v.component,
			})
		}
	}
	for path, v := range old {
		if _, still := now[path]; !still {
			all = append(all, Difference{Path: path, Before: v.shown, Source: v.source, Component: v.component})
		}
	}
	slices.SortFunc(all, func(a, b Difference) int { return cmp.Compare(a.Path, b.Path) })
	return all
}

// compared is a value to compare, and as it is shown.
type compared struct {
	raw                      any
	shown, source, component string
}

// written returns the values of c by path.
func (c *Config) written(schema SchemaOf) map[string]compared {
	all := map[string]compared{}
	for _, o := range settingsSchema() {
		if v, set := c.values[o.Name]; set {
			all[o.Name] = compared{raw: v, shown: text(masked(o, v)), source: origin(c.sources[o.Name])}
		}
	}
	for name, p := range c.Policies {
		for rule, v := range p.Values() {
			all[strings.Join([]string{policiesSection, name, rule}, ".")] = compared{raw: v, shown: v}
		}
	}
	for _, component := range slices.Concat(c.Components, c.Auth) {
		component.written(schema, all)
	}
	return all
}

func (c Component) written(schema SchemaOf, all map[string]compared) {
	id := c.Key()
	if c.Kind != kind.Watcher && c.Kind != kind.Registry && c.Kind != kind.Trigger {
		id = "" // a login is no component
	}
	known, _ := schema(c.Kind, c.Type)
	for name, v := range c.Options {
		o, found := known.Find(name)
		if !found {
			o = option.Option{Name: name, Type: option.String, Secret: true}
		}
		shown := v.V
		if found && o.Secret || !found {
			shown = hidden(true, v.V)
		} else if o.Mask == option.MaskURL || o.Type == option.URL {
			shown = masked(o, v.V)
		}
		all[c.Key()+"."+o.Name] = compared{raw: v.V, shown: text(shown), source: origin(v.Source), component: id}
	}
	if len(c.Options) == 0 {
		all[c.Key()] = compared{raw: true, shown: "with its defaults", component: id}
	}
}

// text returns a value in one line.
func text(v any) string {
	if list, ok := v.([]string); ok {
		return oneLine(strings.Join(list, ","))
	}
	return cmp.Or(oneLine(fmt.Sprint(v)), `""`)
}
