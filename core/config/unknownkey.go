package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// reportUnknown says of a setting that is none what was probably meant.
func (l *loader) reportUnknown(path, source string) {
	p := Problem{Key: path, Source: source, Message: "unknown setting", Level: Warning}
	var names, sections, sameEnd []string
	for _, o := range l.schema {
		names = append(names, o.Name)
		section, _, _ := strings.Cut(o.Name, ".")
		sections = append(sections, section)
		if strings.HasSuffix(o.Name, "."+path) {
			sameEnd = append(sameEnd, o.Name)
		}
	}
	sections = append(sections, append(componentSections(), policiesSection)...)
	section, rest, nested := strings.Cut(path, ".")
	switch near := option.Suggest(path, names); {
	case l.isGroup(path):
		p.Message, p.Remedy = "is a group of settings", "write "+spell(path+"."+l.firstIn(path), source)
	case near != "":
		p.Remedy = meant(near, source)
	case nested && slices.Contains(sections, section):
	case nested && option.Suggest(section, sections) != "":
		p.Remedy = meant(option.Suggest(section, sections)+"."+rest, source)
	case len(sameEnd) == 1:
		p.Remedy = meant(sameEnd[0], source)
	}
	p.Remedy = cmp.Or(p.Remedy, "remove it, or correct its name")
	// A mistyped section of a file is one mistake, however much is below it.
	if !isEnv(source) && !slices.Contains(sections, section) {
		if l.unknown[section] {
			return
		}
		l.unknown[section] = true
	}
	l.report(p)
}

func (l *loader) firstIn(group string) string {
	for _, o := range l.schema {
		if rest, in := strings.CutPrefix(o.Name, group+"."); in {
			return rest
		}
	}
	return ""
}

// pluralSetting returns the setting of all components of a kind that was
// probably meant by parts, a section and one more name.
func (l *loader) pluralSetting(parts []string) string {
	if len(parts) != 2 || parts[0] != string(kind.Registry) {
		return ""
	}
	var names []string
	for _, o := range l.schema {
		names = append(names, o.Name)
	}
	return option.Suggest("registries."+parts[1], names)
}

// unknownOption is the problem of an option that the schema has not.
func (c Component) unknownOption(name string, schema option.Schema) Problem {
	p := Problem{Key: c.Key() + "." + name, Source: c.Options[name].Source, Message: "unknown option", Level: Warning}
	var known []string
	for _, o := range schema {
		known = append(known, o.Name)
	}
	if named, rest := splitName(name, schema); rest != "" && isEnv(p.Source) {
		joined := string(c.Kind) + "." + c.Type + "." + c.Name + strings.ReplaceAll(named, ".", "") + "." + rest
		p.Remedy = "a name has no underscore: if " + strings.ToUpper(c.Name+"_"+strings.ReplaceAll(named, ".", "_")) +
			" is the name, write " + spell(joined, p.Source)
	} else if near := nearest(name, known); near != "" {
		p.Remedy = meant(c.Key()+"."+near, p.Source)
	}
	return p
}

// splitName splits what is no option into what may belong to the name in front
// of it, and an option; both are "" when there is none.
func splitName(name string, schema option.Schema) (named, rest string) {
	for i := 0; ; i++ {
		dot := strings.IndexByte(name[i:], '.')
		if dot < 0 {
			return "", ""
		}
		i += dot
		if _, isOption := schema.Find(name[i+1:]); isOption {
			return name[:i], name[i+1:]
		}
	}
}

// meant is the remedy for a name that is not known.
func meant(path, source string) string { return "did you mean " + spell(path, source) + "?" }

// Suggesting returns which of problems is a warning about a name that is not
// known and was probably meant to be path; -1 when none is.
func Suggesting(problems []Problem, path string) int {
	return slices.IndexFunc(problems, func(p Problem) bool {
		return p.Level == Warning && strings.HasPrefix(p.Remedy, meant(path, p.Source))
	})
}

// synonyms are words that different programs use for the same option, the most
// usual first.
var synonyms = [][]string{
	{"login", "username", "user", "account", "userid"},
	{"password", "pass", "passwd", "token", "accesstoken", "apikey", "secret", "hash"},
	{"url", "host", "hostname", "server", "address", "endpoint"},
}

// nearest returns the known name that was probably meant: one that means the
// same, else one that is spelt alike, else the only one that ends in the name
// (auth.token for token), else the longest that the name ends in (url for
// webhookurl).
func nearest(name string, known []string) string {
	if same := synonym(name, known); same != "" {
		return same
	}
	if near := option.Suggest(name, known); near != "" {
		return near
	}
	var below []string
	inside := ""
	for _, k := range known {
		if strings.HasSuffix(k, "."+name) {
			below = append(below, k)
		}
		if strings.HasSuffix(name, k) && len(k) > max(2, len(inside)) {
			inside = k
		}
	}
	if len(below) == 1 {
		return below[0]
	}
	return inside
}

// synonym returns the known name that means the same as name; "" when there is none.
func synonym(name string, known []string) string {
	for _, group := range synonyms {
		if !slices.Contains(group, name) {
			continue
		}
		for _, other := range group {
			if other != name && slices.Contains(known, other) {
				return other
			}
		}
	}
	return ""
}
