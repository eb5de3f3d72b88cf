package config

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/viper"

	"github.com/dogwatch/dogwatch/sdk/option"
)

// Input is what Load looks at. The zero value of a field means: nothing of the kind.
type Input struct {
	// File is the configuration file named on the command line. Without one it is the
	// file in DOGWATCH_CONFIG, else the first that exists of dogwatch.yaml
	// in /etc/dogwatch, /config and the working directory.
	File string
	// Environ is the environment, as os.Environ returns it.
	Environ []string
	// Flags are settings from the command line by path: {"server.port": 3001}.
	Flags map[string]any
	// WatcherTypes are the known types of watchers; they tell
	// DOGWATCH_WATCHER_DOCKER_LOCAL_CRON (type, name, option) from
	// DOGWATCH_WATCHER_LOCAL_CRON (name, option).
	WatcherTypes []string
	// DockerOptions are the options of Docker watchers. They tell DOGWATCH_WATCHER_LOCAL_TLS_CAFILE
	// (name, option) from DOGWATCH_WATCHER_JSONFILE_LAB_PATH, whose type is that of a
	// third party. Without them the former is assumed.
	DockerOptions option.Schema
	// Open opens a file for reading; nil means that of the operating system,
	// for regular files and folders only.
	Open func(name string) (fs.File, error)
}

// Load reads the configuration. Its Problems are for the operator and leave
// everything they do not name at work. The error, an *InvalidError with all
// Problems, is for what cannot be worked around: a file that cannot be read or is
// not YAML, or a wrong setting of the server, the store or the plugins, where a
// default would do something else than was asked. The Config then holds what
// was understood, for reports; it is not fit to run.
func Load(in Input) (*Config, error) {
	open := openFunc(in.Open)
	if open == nil {
		open = openRegular
	}
	l := &loader{
		open: open, environ: in.Environ, schema: settingsSchema(),
		raw: map[string]Value{}, index: map[string]int{}, policies: map[string]map[string]Value{}, unknown: map[string]bool{},
	}
	var file []entry
	if name, by := in.findFile(open); name != "" {
		l.config.File = name
		file = l.readFile(name, by)
	}
	env, empty, problems := readEnv(in.Environ, in.WatcherTypes, in.DockerOptions)
	l.report(problems...)
	l.config.WUDFile = wudFile(in.Environ)
	l.config.FromWUD = fromWUD(in.Environ)
	l.merge(file, env, flagEntries(in.Flags))
	l.settings()
	l.namedPolicies()
	l.checkSecurity()
	l.unsetComponents(empty)
	l.config.AuthRequired = l.login
	c := &l.config
	if l.fatal {
		return c, &InvalidError{Problems: c.Problems}
	}
	return c, nil
}

// loader carries one Load.
type loader struct {
	open     openFunc
	environ  []string
	schema   option.Schema // of the settings
	config   Config
	raw      map[string]Value            // settings as they were written
	index    map[string]int              // place of a component in its list, by key
	policies map[string]map[string]Value // rules of named policies as they were written
	unknown  map[string]bool             // unknown sections that were already reported
	login    bool                        // whether a way to log in was written
	fatal    bool
}

// ruling are the sections whose wrong settings must not be replaced by
// defaults: what was to be private could be open, or written elsewhere.
var ruling = []string{"server", "store", "plugins"}

func (l *loader) report(problems ...Problem) {
	for _, p := range problems {
		section, _, _ := strings.Cut(p.Key, ".")
		if p.Level == Error && (p.Key == "" || slices.Contains(ruling, section)) {
			l.fatal = true
		}
		l.config.Problems = append(l.config.Problems, p)
	}
}

func (l *loader) readFile(name, by string) []entry {
	data, err := l.open.read(name, maxFileSize)
	if err != nil {
		l.report(Problem{Source: by, Message: "configuration file " + name + ": " + err.Error(), Level: Error})
		return nil
	}
	entries, problems := readYAML(name, data)
	l.report(problems...)
	return entries
}

// commandLine is the source of a setting that a flag gave.
const commandLine = "command line"

func flagEntries(flags map[string]any) []entry {
	var entries []entry
	for path, v := range flags {
		entries = append(entries, newEntry(strings.ToLower(path), v, commandLine))
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return entries
}

// merge lays the layers over each other and puts each value in its place.
func (l *loader) merge(layers ...[]entry) {
	// Paths are single keys of viper, for from and from.name may both be set;
	// values travel with their source.
	v := viper.NewWithOptions(viper.KeyDelimiter("::"))
	var order []string
	seen := map[string]bool{}
	for _, entries := range layers {
		layer := map[string]any{}
		for _, e := range entries {
			if strings.Contains(e.path, "::") {
				l.report(Problem{Key: e.path, Source: e.value.Source, Message: "unknown setting", Level: Warning})
				continue
			}
			before, twice := layer[e.path].(Value)
			if twice && e.supersedes(before) {
				l.report(Problem{
					Key: e.path, Source: before.Source, Message: "is not used, since its file is set, too",
					Remedy: "remove one", Level: Warning,
				})
				twice = false
			}
			if twice {
				layer[e.path] = e.clash(before)
				continue
			}
			layer[e.path] = e.read(l.open)
			if !seen[e.path] {
				seen[e.path] = true
				order = append(order, e.path)
			}
		}
		// Its only error is one of viper's own configuration.
		_ = v.MergeConfigMap(layer)
	}
	for _, path := range order {
		if value, ok := v.Get(path).(Value); ok {
			l.place(path, value)
		}
	}
}

// supersedes reports whether e names the file of a value that is also written
// out in a variable of What's Up Docker, which takes the file then.
func (e entry) supersedes(before Value) bool {
	name, env := strings.CutPrefix(e.value.Source, "env ")
	return env && isWUD(name) && e.isFile && isEnv(before.Source)
}

// clash is the value of a path that one layer sets twice: none, unless both are the same.
func (e entry) clash(before Value) Value {
	if text, same := e.value.V.(string); same && !e.isFile && before.V == any(text) &&
		!strings.HasPrefix(before.Source, "file ") {
		return before
	}
	message := "set twice, also by " + before.Source
	if wasFile := strings.HasPrefix(before.Source, "file "); wasFile != e.isFile {
		message = fmt.Sprintf("set twice, as itself and by %s%s, also by %s",
			e.path[strings.LastIndexByte(e.path, '.')+1:], fileSuffix, before.Source)
	}
	return Value{
		Source:  e.value.Source,
		problem: &Problem{Key: e.path, Source: e.value.Source, Level: Error, Message: message, Remedy: "keep one"},
	}
}

// canonical returns a path with its section in the singular, unless it is a
// setting: registries.dockerconfig is none of a component.
func canonical(path string) string {
	section, rest, dotted := strings.Cut(path, ".")
	if section == "registries" && isSetting(path) {
		return path
	}
	switch section {
	case "watchers":
		section = "watcher"
	case "registries":
		section = "registry"
	case "triggers":
		section = "trigger"
	}
	if dotted {
		return section + "." + rest
	}
	return section
}
