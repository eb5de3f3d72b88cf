// Package option turns a struct into a schema: field tags say what a user may
// configure, and validation, defaults, documentation, forms and masking all
// read the same list.
//
//	type Options struct {
//		URL     *url.URL      `option:"url"            default:"https://ntfy.sh" help:"Server address"`
//		Topic   string        `option:"topic,required" help:"Topic to publish to"`
//		Token   string        `option:"token,secret"   help:"Access token"`
//		Mode    string        `option:"mode"           default:"a" choices:"a,b" help:"How"`
//		Level   int           `option:"level"          default:"3" min:"1" max:"5" help:"1 to 5"`
//		Timeout time.Duration `option:"timeout"        default:"10s" help:"Per request"`
//		TLS     TLS           `option:"tls"` // a struct: its options are named tls.…
//	}
//
// A field is a string, bool, int, int64, float64, time.Duration, *url.URL or
// []string; a pointer to one of the scalars tells "not set" from zero. An
// embedded struct without a tag adds its options without a prefix.
package option

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Type is how an option's value is read.
type Type string

// The types of options. A duration is written as Go writes it ("1m30s") or as
// a whole number of milliseconds; a list is separated by commas.
const (
	String   Type = "string"
	Int      Type = "int"
	Float    Type = "float"
	Bool     Type = "bool"
	Duration Type = "duration"
	URL      Type = "url"
	List     Type = "list"
)

// Mask is how the HTTP interface shows a secret. It never changes logs, events or errors:
// no secret is written there, whatever its mask.
type Mask string

// The masks. The zero Mask of a secret means MaskFirst.
const (
	MaskFirst Mask = "first" // first character, the rest asterisks, length kept
	MaskNone  Mask = "none"  // as stored
	MaskURL   Mask = "url"   // a URL whose password is replaced, and the values of its query if it is Secret
)

// Option describes one thing a user can set.
type Option struct {
	// Name is lower case and may have dots: "tls.verify".
	Name string
	Type Type
	Help string
	// Default is the text a user would write; nil when there is none.
	Default  *string
	Required bool
	Secret   bool
	Mask     Mask
	// Choices are the accepted values of a string, compared without regard to case.
	Choices []string
	// Aliases are other names that mean the same option.
	Aliases []string
	// Min and Max bound a number, both included; nil when there is no bound.
	Min, Max *float64
	// Refers is the kind of the component whose id the value is, such as "trigger"; "" for none. The
	// host reports a value that names nothing.
	Refers string
	// Deprecated says what to use instead.
	Deprecated string
	// Example is a plausible value as a user would write it. The options of a type
	// that have one and no default, with the required ones, are a working configuration together.
	Example string
}

// Schema is the options of one type, in the order of its struct.
type Schema []Option

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(\.[a-z0-9]+)*$`)

// Of derives the schema of the struct type T. The error names the field whose tags are wrong.
func Of[T any]() (Schema, error) {
	s, err := fieldsOf(reflect.TypeFor[T](), "")
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, o := range s {
		for _, n := range append([]string{o.Name}, o.Aliases...) {
			if seen[n] {
				return nil, fmt.Errorf("option %q is declared twice", n)
			}
			seen[n] = true
		}
	}
	return s, nil
}

// Find returns the option called name, by its name or an alias.
func (s Schema) Find(name string) (Option, bool) {
	for _, o := range s {
		if o.Name == name || slices.Contains(o.Aliases, name) {
			return o, true
		}
	}
	return Option{}, false
}

func fieldsOf(t reflect.Type, prefix string) (Schema, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("options must be a struct, not %s", t)
	}
	var s Schema
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("option")
		switch {
		case !tagged && f.Anonymous:
			sub, err := fieldsOf(f.Type, prefix)
			if err != nil {
				return nil, err
			}
			s = append(s, sub...)
		case !tagged:
			continue
		case isGroup(f.Type):
			sub, err := fieldsOf(f.Type, prefix+tag+".")
			if err != nil {
				return nil, err
			}
			s = append(s, sub...)
		default:
			o, err := optionOf(f, prefix, tag)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", t, f.Name, err)
			}
			s = append(s, o)
		}
	}
	return s, nil
}

// isGroup reports whether a field is a struct of options rather than a value.
func isGroup(t reflect.Type) bool { return t.Kind() == reflect.Struct && t != urlType.Elem() }

func optionOf(f reflect.StructField, prefix, tag string) (Option, error) {
	parts := strings.Split(tag, ",")
	o := Option{
		Name: prefix + parts[0], Help: f.Tag.Get("help"), Deprecated: f.Tag.Get("deprecated"), Example: f.Tag.Get("example"),
	}
	if !f.IsExported() {
		return o, fmt.Errorf("an option must be an exported field")
	}
	if err := knowsKeys(f.Tag); err != nil {
		return o, err
	}
	var ok bool
	if o.Type, ok = typeOf(f.Type); !ok {
		return o, fmt.Errorf("an option cannot be a %s", f.Type)
	}
	for _, word := range parts[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "required":
			o.Required = true
		case "secret":
			o.Secret = true
		case "mask":
			o.Mask = Mask(value)
		case "refers":
			o.Refers = value
		case "alias":
			for _, a := range strings.Split(value, "|") {
				o.Aliases = append(o.Aliases, prefix+a)
			}
		default:
			return o, fmt.Errorf("unknown word %q in option tag", word)
		}
	}
	if c := f.Tag.Get("choices"); c != "" {
		o.Choices = strings.Split(c, ",")
	}
	if d, has := f.Tag.Lookup("default"); has {
		o.Default = &d
	}
	var err error
	if o.Min, err = bound(f, "min"); err != nil {
		return o, err
	}
	if o.Max, err = bound(f, "max"); err != nil {
		return o, err
	}
	return o, o.check()
}

// knowsKeys refuses keys that would be ignored, such as enum for choices.
func knowsKeys(tag reflect.StructTag) error {
	known := []string{"option", "help", "default", "choices", "min", "max", "example", "deprecated"}
	for rest := string(tag); ; {
		key, value, more := strings.Cut(strings.TrimLeft(rest, " "), ":")
		if !more {
			return nil
		}
		if !slices.Contains(known, key) && key != "json" && key != "yaml" {
			return fmt.Errorf("unknown key %q in the tag: want one of %s", key, strings.Join(known, ", "))
		}
		quoted, err := strconv.QuotedPrefix(value)
		if err != nil {
			return fmt.Errorf("the text of key %q in the tag is not quoted as Go does it", key)
		}
		rest = value[len(quoted):]
	}
}

func bound(f reflect.StructField, key string) (*float64, error) {
	text, has := f.Tag.Lookup(key)
	if !has {
		return nil, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("%s: %q is not a number", key, text)
	}
	return &v, nil
}

// check refuses declarations that could not be configured, documented or shown.
func (o Option) check() error {
	for _, n := range append([]string{o.Name}, o.Aliases...) {
		if !nameForm.MatchString(n) {
			return fmt.Errorf("option name %q: use a-z and 0-9, joined by dots", n)
		}
	}
	if o.Help == "" {
		return fmt.Errorf("option %q has no help", o.Name)
	}
	switch o.Mask {
	case "", MaskFirst, MaskNone, MaskURL:
	default:
		return fmt.Errorf("option %q: unknown mask %q", o.Name, o.Mask)
	}
	if (o.Min != nil || o.Max != nil) && o.Type != Int && o.Type != Float {
		return fmt.Errorf("option %q: min and max are for numbers", o.Name)
	}
	if o.Choices != nil && o.Type != String && o.Type != List {
		return fmt.Errorf("option %q: choices are for texts and lists", o.Name)
	}
	if o.Default != nil {
		if o.Required {
			return fmt.Errorf("option %q is required and has a default", o.Name)
		}
		if _, err := o.Parse(*o.Default); err != nil {
			return fmt.Errorf("option %q: default: %w", o.Name, err)
		}
	}
	if o.Example != "" {
		if _, err := o.Parse(o.Example); err != nil {
			return fmt.Errorf("option %q: example: %w", o.Name, err)
		}
	}
	return nil
}
