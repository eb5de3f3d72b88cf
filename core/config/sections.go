package config

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// authKind is the section of the ways to log in. They are no plugins, but are
// written as components are.
const authKind kind.Kind = "auth"

func componentSections() []string {
	sections := []string{string(authKind)}
	for _, k := range kind.Kinds() {
		sections = append(sections, string(k))
	}
	return sections
}

// extensionPrefix starts the names of sections that are the operator's own, for anchors.
const extensionPrefix = "x-"

// settingsSchema is never wrong: its declarations are constant, and tested.
func settingsSchema() option.Schema {
	s, err := option.Of[Settings]()
	if err != nil {
		panic("config: settings: " + err.Error())
	}
	return s
}

// place puts a value where it belongs: to a component or to the settings.
func (l *loader) place(path string, v Value) {
	section, _, _ := strings.Cut(path, ".")
	switch {
	case slices.Contains(componentSections(), section):
		l.placeOption(path, v)
	case section == policiesSection:
		l.placePolicy(path, v)
	case l.isSetting(path):
		l.raw[path] = v
	case v.V == "" && l.isGroup(path), strings.HasPrefix(section, extensionPrefix):
	default:
		l.reportUnknown(path, v.Source)
	}
}

// Help returns what each setting of the program is for, by its path.
func Help() map[string]string {
	help := map[string]string{}
	for _, o := range settingsSchema() {
		help[o.Name] = o.Help
	}
	return help
}

// isSetting is for where no loader is.
func isSetting(path string) bool {
	_, known := settingsSchema().Find(strings.TrimSuffix(path, fileSuffix))
	return known
}

func (l *loader) isSetting(path string) bool {
	_, known := l.schema.Find(path)
	return known
}

// isGroup reports whether there are settings below path.
func (l *loader) isGroup(path string) bool {
	return slices.ContainsFunc(l.schema, func(o option.Option) bool { return strings.HasPrefix(o.Name, path+".") })
}

// settings decodes the host's own settings. One that is wrong keeps its default.
func (l *loader) settings() {
	raw := map[string]any{}
	for path, v := range l.raw {
		if v.problem != nil {
			l.report(*v.problem)
			continue
		}
		raw[path] = v.V
	}
	_, invalid, _ := l.schema.Resolve(raw)
	for _, f := range invalid {
		given := l.raw[f.Field]
		l.report(Problem{Key: f.Field, Source: given.Source, Message: f.Detail, Remedy: commented(given), Level: Error})
		o, _ := l.schema.Find(f.Field)
		for _, name := range append(slices.Clone(o.Aliases), o.Name) {
			delete(raw, name)
		}
	}
	l.config.sources = map[string]string{}
	for path := range raw {
		o, _ := l.schema.Find(path)
		l.config.sources[o.Name] = l.raw[path].Source
	}
	// What is wrong was taken out above.
	l.config.Settings, _ = option.Decode[Settings](raw)
	l.config.values, _, _ = l.schema.Resolve(raw)
	l.complete()
	l.checkSettings()
	s := &l.config.Settings
	l.config.values["store.path"], l.config.values["plugins.dir"], l.config.values["server.basepath"] = s.Store.Path,
		s.Plugins.Dir, s.Server.BasePath
	if s.Registries.DockerConfig != "" {
		l.config.values[dockerConfigKey] = s.Registries.DockerConfig
	}
}

var (
	typeForm = lazyregexp.New(`^[a-z0-9]+$`)
	nameForm = lazyregexp.New(`^[a-z0-9][a-z0-9-]*$`)
)

// placeOption gives v to its component. "trigger.mock.example: true", or without
// a value, makes a component with no options.
func (l *loader) placeOption(path string, v Value) {
	parts := strings.SplitN(path, ".", 4)
	if v.V != "" || v.problem != nil || len(parts) > 1 {
		l.wantsLogin(parts)
	}
	if len(parts) < 3 {
		if v.V != "" || v.problem != nil {
			p := Problem{
				Key: path, Source: v.Source, Message: "the type or the name is missing", Level: Warning,
				Remedy: "write " + componentForm(parts[0], v.Source),
			}
			if near := l.pluralSetting(parts); near != "" {
				p.Message, p.Remedy = "unknown setting", meant(near, v.Source)
			}
			l.report(p)
		}
		return
	}
	text, isText := v.V.(string)
	if len(parts) == 3 && (!isText || text != "" && !strings.EqualFold(text, "true")) {
		l.reportNameless(parts, v.Source)
		return
	}
	if p := malformed(parts, path, v.Source); p != nil {
		l.report(*p)
		return
	}
	c := l.component(kind.Kind(parts[0]), parts[1], parts[2])
	switch {
	case v.problem != nil:
		c.Problems = append(c.Problems, *v.problem)
	case len(parts) == 4:
		c.Options[parts[3]] = v
	}
}

// wantsLogin notes that a setting asks for a login, however wrong it is: an
// operator who writes one wants no open server.
func (l *loader) wantsLogin(parts []string) {
	l.login = l.login || parts[0] == string(authKind) && (len(parts) < 2 || parts[1] != "anonymous")
}

// componentForm is how an option of a component is written.
func componentForm(section, source string) string {
	typ := "{type}"
	if section == string(kind.Watcher) && isEnv(source) {
		typ = dockerType // which needs not be written
	}
	return spell(section+"."+typ+".{name}.{option}", source)
}

// reportNameless explains registry.hub.login: an option where a component is
// expected, as in versions of What's Up Docker before 8 and in YAML that forgot
// the level of the names.
func (l *loader) reportNameless(parts []string, source string) {
	name := "main"
	if parts[0] == string(kind.Registry) {
		name = "private"
	}
	l.report(Problem{
		Key: strings.Join(parts, "."), Source: source, Message: "the name is missing", Level: Warning,
		Remedy: "write " + spell(strings.Join([]string{parts[0], parts[1], name, parts[2]}, "."), source),
	})
}

func malformed(parts []string, path, source string) *Problem {
	p := Problem{Key: path, Source: source, Level: Error}
	switch {
	case slices.Contains(strings.Split(path, "."), ""):
		p.Message, p.Level = "a part of the name is empty", Warning
		p.Remedy = "use one underscore or dot between two parts"
	case !typeForm().MatchString(parts[1]):
		p.Message = "a type has only letters and digits"
	case !nameForm().MatchString(parts[2]):
		p.Message = "a name has only letters, digits and -"
		p.Key = strings.Join(parts[:3], ".")
		if clean := strings.ReplaceAll(parts[2], "_", "-"); nameForm().MatchString(clean) {
			p.Remedy = "write " + clean
		}
	default:
		return nil
	}
	return &p
}

func (l *loader) component(k kind.Kind, typ, name string) *Component {
	list := &l.config.Components
	if k == authKind {
		list = &l.config.Auth
	}
	c := Component{Kind: k, Type: typ, Name: name, Options: map[string]Value{}}
	i, known := l.index[c.Key()]
	if !known {
		i = len(*list)
		l.index[c.Key()] = i
		*list = append(*list, c)
	}
	return &(*list)[i]
}

// unsetComponents speaks of components all of whose variables are empty: they
// were meant to be optional, or a compose file forgot to fill them in.
func (l *loader) unsetComponents(empty []entry) {
	reported := map[string]bool{}
	for _, e := range empty {
		parts := strings.SplitN(e.path, ".", 4)
		l.wantsLogin(parts)
		switch {
		case !slices.Contains(componentSections(), parts[0]):
			if !l.isSetting(e.path) {
				l.reportUnknown(e.path, e.value.Source)
			}
			continue
		case len(parts) < 3:
			l.placeOption(e.path, Value{V: " ", Source: e.value.Source})
			continue
		case len(parts) == 3:
			l.report(Problem{Key: e.path, Source: e.value.Source, Level: Warning,
				Message: "has no effect, being empty", Remedy: "set it to true if it names a " + parts[0] + " without options"})
			continue
		}
		key := strings.Join(parts[:3], ".")
		if _, exists := l.index[key]; exists || reported[key] {
			continue
		}
		reported[key] = true
		if parts[0] == string(authKind) && parts[1] != "anonymous" {
			l.report(Problem{Key: key, Source: e.value.Source, Level: Error,
				Message: "lets nobody in, since all its variables are empty", Remedy: "give them values or remove them"})
			continue
		}
		l.report(Problem{Key: key, Source: e.value.Source, Level: Warning,
			Message: "does not exist, since all its variables are empty", Remedy: "give them values or remove them"})
	}
}
