package verify

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

var (
	typeForm   = lazyregexp.New(`^[a-z0-9]+$`)
	optionForm = lazyregexp.New(`^[a-z][a-z0-9]*(\.[a-z][a-z0-9]*)*$`)
	// secretName is what options are called that hold something to keep.
	secretName = lazyregexp.New(`(^|\.)(password|passwd|token|secret|apikey)$`)
)

// optionTypes are the types that protocol 1 has.
var optionTypes = []option.Type{option.String, option.Int, option.Float, option.Bool, option.Duration, option.URL,
	option.List}

// describe returns what the plugin holds, and those of its types that can be used.
func (e *exam) describe(ctx context.Context, c *pluginclient.Client) (pluginclient.Description, []kind.Type, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	d, err := c.Describe(ctx)
	if err != nil {
		return d, nil, err
	}
	e.report.Version, e.report.SDK = d.Version, d.SDKVersion
	var usable []kind.Type
	seen := map[string]bool{}
	for _, t := range d.Types {
		name := fullName(t)
		wrong := mistakes(t)
		if seen[name] {
			wrong = append(wrong, "it is held twice")
		}
		seen[name] = true
		e.report.Types = append(e.report.Types, name)
		if len(wrong) > 0 {
			e.failed(checkDescribe, name, strings.Join(wrong, "; "), remedyFor(t))
		} else {
			e.ok(checkDescribe, name, fmt.Sprintf("%d options, each with a help text", len(t.Options)))
		}
		e.holder(name)
		if slices.Contains(kind.Kinds(), t.Kind) && len(wrong) == 0 {
			usable = append(usable, t)
		}
	}
	if len(d.Types) == 0 {
		e.failed(checkDescribe, "", "it holds no types", "return one TypeInfo for each type")
	}
	return d, usable, nil
}

// holder tells who holds a type where the plugin is verified.
func (e *exam) holder(typ string) {
	if e.opt.Holder == nil {
		return
	}
	switch by := e.opt.Holder(typ); {
	case by.Builtin:
		e.failed(checkType, typ, by.String(), "give the type another name: Dogwatch accepts no other plugin for it")
	case by.Bundle != "":
		e.ok(checkType, typ, by.String()+": beside that file it is refused, in its place it is not")
	default:
		e.ok(checkType, typ, "no plugin holds it here")
	}
}

// remedyFor is what to do about a description with mistakes.
func remedyFor(t kind.Type) string {
	for _, o := range t.Options {
		if !slices.Contains(optionTypes, o.Type) {
			var known []string
			for _, valid := range optionTypes {
				known = append(known, string(valid))
			}
			return "the types of options are " + strings.Join(known, ", ")
		}
	}
	return "users read this in plugin describe and write it in their configuration"
}

// mistakes are what is wrong with the description of a type.
func mistakes(t kind.Type) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if !slices.Contains(kind.Kinds(), t.Kind) {
		say("its kind is %q: want watcher, registry or trigger", t.Kind)
	}
	if !typeForm().MatchString(t.Name) {
		say("its name is %q: want letters a-z and digits alone, as it is part of variables", t.Name)
	}
	if t.Summary == "" {
		say("it has no summary")
	}
	if t.Kind == kind.Trigger && t.Guarantee != "" && t.Guarantee != kind.AtLeastOnce && t.Guarantee != kind.AtMostOnce {
		say("its guarantee is %q: want %s or %s", t.Guarantee, kind.AtLeastOnce, kind.AtMostOnce)
	}
	seen := map[string]bool{}
	for _, o := range t.Options {
		switch {
		case !optionForm().MatchString(o.Name):
			say("option %q: want a name of lower-case words with dots between them", o.Name)
		case seen[o.Name]:
			say("option %s: it is there twice", o.Name)
		case !slices.Contains(optionTypes, o.Type):
			say("option %s: its type is %q, which protocol 1 does not have", o.Name, o.Type)
		case o.Help == "":
			say("option %s: it has no help text", o.Name)
		case secretName().MatchString(o.Name) && !o.Secret:
			say("option %s: it is not marked as a secret, so that pages and logs would show it", o.Name)
		}
		seen[o.Name] = true
		if o.Default != nil && *o.Default != "" {
			if _, err := o.Parse(*o.Default); err != nil {
				say("option %s: its default %q does not fit: %v", o.Name, *o.Default, err)
			}
		}
	}
	return wrong
}

func sameTypes(a, b pluginclient.Description) bool {
	return a.Version == b.Version && reflect.DeepEqual(a.Types, b.Types)
}
