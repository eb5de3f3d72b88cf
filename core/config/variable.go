package config

import (
	"strings"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Variable says what a variable of ours or of What's Up Docker means: the path
// that it sets, under the proper name of the option and with "__file" behind
// it if the variable names a file. The problem, if any, is of the name when the
// path is "", and else of the value. Both are nothing for the variables of
// others and for those that set no value.
func Variable(name, value string, watcherTypes []string, schema SchemaOf) (path string, problem *Problem) {
	if !isNative(name) && !isWUD(name) || isServiceLink(name, value) {
		return "", nil
	}
	switch upper := strings.ToUpper(name); {
	case isOfCommands(upper):
		return "", nil
	case upper == wudPrefix+"VERSION":
		return "", &Problem{Source: "env " + name, Message: "is set by the image of What's Up Docker", Remedy: "remove it"}
	case upper == wudPrefix+wudStoreFile:
		return "", &Problem{
			Source: "env " + name, Message: "names the file of What's Up Docker that the first start imports",
			Remedy: "keep it until then",
		}
	}
	docker, _ := schema(kind.Watcher, dockerType)
	path, problem = envPath(name, watcherTypes, docker)
	if problem != nil {
		return "", problem
	}
	value = unquoted(value)
	e := newEntry(path, value, "env "+name)
	l := &loader{schema: settingsSchema(), raw: map[string]Value{}, index: map[string]int{}, unknown: map[string]bool{}}
	if e.isFile {
		e.value.V = "x" // what is in the file does not matter
	}
	l.place(e.path, e.value)
	if len(l.config.Problems) > 0 {
		return "", &l.config.Problems[0]
	}
	known := l.schema
	section := ""
	for _, c := range append(l.config.Components, l.config.Auth...) {
		section = c.Key() + "."
		if len(c.Options) == 0 {
			return e.path + fileOf(e), nil
		}
		var has bool
		if known, has = schema(c.Kind, c.Type); !has && c.Kind == authKind {
			return e.path + fileOf(e), nil
		} else if !has {
			return "", &Problem{
				Key: string(c.Kind) + "." + c.Type, Source: e.value.Source,
				Message: "there is no " + string(c.Kind) + " type " + c.Type + " in this version",
			}
		}
		if _, has = known.Find(strings.TrimPrefix(e.path, section)); !has {
			p := c.unknownOption(strings.TrimPrefix(e.path, section), known)
			return "", &p
		}
	}
	o, found := known.Find(strings.TrimPrefix(e.path, section))
	if !found {
		return "", nil // an empty group, or one of the operator's own
	}
	path = section + o.Name + fileOf(e)
	if e.isFile || value == "" {
		return path, nil
	}
	_, invalid, _ := option.Schema{o}.Resolve(map[string]any{o.Name: value})
	for _, f := range invalid {
		return path, &Problem{Key: path, Source: e.value.Source, Message: f.Detail,
			Remedy: commented(e.value), Level: Error}
	}
	return path, nil
}

func fileOf(e entry) string {
	if e.isFile {
		return fileSuffix
	}
	return ""
}

// DefaultWatcher is the key of the watcher that exists without configuration.
const DefaultWatcher = string(kind.Watcher) + "." + dockerType + ".local"
