package config

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/option"
)

// Resolve reads the component's options by schema. The problems, those in
// c.Problems first, are of level Error for a value that is missing or not
// accepted and of level Warning for an option that is deprecated or that the
// schema does not know: a typo stops a component only where a required option
// is missing for it.
func (c Component) Resolve(schema option.Schema) (option.Values, []Problem) {
	raw := map[string]any{}
	for name, v := range c.Options {
		raw[name] = v.V
	}
	problems := slices.Clone(c.Problems)
	values, invalid, unknown := schema.Resolve(raw)
	var strange []Problem
	for _, name := range unknown {
		strange = append(strange, c.unknownOption(name, schema))
	}
	for _, f := range invalid {
		o, _ := schema.Find(f.Field)
		if c.unread(o) || c.misnamed(o, strange) {
			continue
		}
		given := c.Options[f.Field]
		problems = append(problems, Problem{
			Key: c.Key() + "." + f.Field, Source: given.Source, Message: f.Detail, Level: Error,
			Remedy: commented(given),
		})
	}
	for _, o := range schema {
		for _, name := range append(slices.Clone(o.Aliases), o.Name) {
			if given, has := c.Options[name]; has && o.Deprecated != "" && given.V != "" {
				problems = append(problems, Problem{
					Key: c.Key() + "." + name, Source: given.Source, Message: "is deprecated", Remedy: o.Deprecated, Level: Warning,
				})
			}
		}
	}
	return values, append(problems, strange...)
}

// misnamed reports whether o is missing because an option that is not known was
// given for it. The problem of that one becomes the error then: it is one mistake.
func (c Component) misnamed(o option.Option, strange []Problem) bool {
	for _, name := range append([]string{o.Name}, o.Aliases...) {
		if _, given := c.Options[name]; given {
			return false
		}
	}
	i := Suggesting(strange, c.Key()+"."+o.Name)
	if i < 0 || !o.Required {
		return false
	}
	strange[i].Level = Error
	strange[i].Remedy += " It is required"
	if o.Help != "" {
		strange[i].Remedy += ": " + o.Help
	}
	return true
}

// unread reports whether o has a value that could not be read, in which case
// it is not reported as missing too.
func (c Component) unread(o option.Option) bool {
	return slices.ContainsFunc(c.Problems, func(p Problem) bool {
		name, mine := strings.CutPrefix(p.Key, c.Key()+".")
		return mine && (name == o.Name || slices.Contains(o.Aliases, name))
	})
}

// commented explains how an env file puts more into a variable than was meant.
func commented(v Value) string {
	text, _ := v.V.(string)
	if isEnv(v.Source) && strings.Contains(text, " #") {
		return "the comment is part of the value; remove it"
	}
	return ""
}
