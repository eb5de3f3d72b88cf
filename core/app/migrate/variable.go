package migrate

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// variable is one that was found.
type variable struct {
	name  string
	value string
	// open means that the value is not known: it holds variables itself, or
	// comes from elsewhere.
	open bool
	line int
}

// setting is what a variable means here.
type setting struct {
	path  string // with "__file"; "" when nothing means the same
	value string
	note  string
}

func to(path, value string) setting           { return setting{path: path, value: value} }
func but(path, value, note string) setting    { return setting{path: path, value: value, note: note} }
func none(note string) setting                { return setting{note: note} }
func file(path, value string) setting         { return setting{path: path + "__file", value: value} }
func (s setting) because(note string) setting { s.note = note; return s }
func watcherOption(name string) (path string) { return config.DefaultWatcher + "." + name }
func inverted(path, value string) setting     { return flagged(path, value, true) }
func boolean(path, value string) setting      { return flagged(path, value, false) }
func secret(path, value string) setting {
	if strings.HasPrefix(value, "/") {
		return file(path, value).because("the value is the name of a file, which has a variable of its own here")
	}
	return to(path, value)
}

// flagged writes true or false as this program does.
func flagged(path, value string, invert bool) setting {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "true", "1", "t", "yes", "on":
		return to(path, map[bool]string{false: "true", true: "false"}[invert])
	case "false", "0", "f", "no", "off":
		return to(path, map[bool]string{false: "false", true: "true"}[invert])
	}
	if invert {
		return none("want true or false")
	}
	return to(path, value) // what is wrong with it, its option says
}

// scope is what stands together: a file, or the environment of one service.
type scope struct {
	image     string
	variables []variable
}

// get returns a value that is known, by the name in any case.
func (s scope) get(name string) (string, bool) {
	for _, v := range s.variables {
		if strings.EqualFold(v.name, name) && !v.open {
			return v.value, true
		}
	}
	return "", false
}

func (s scope) has(prefixes ...string) bool {
	for _, v := range s.variables {
		for _, prefix := range prefixes {
			if _, ok := cutFold(v.name, prefix); ok {
				return true
			}
		}
	}
	return false
}

// cutFold cuts a prefix whatever its case, and returns the rest in upper case.
func cutFold(name, prefix string) (string, bool) {
	return strings.CutPrefix(strings.ToUpper(name), prefix)
}

// change is what becomes of one variable or label.
type change struct {
	name  string // the new one; "" when it is left
	value string
	note  string
	mine  bool // it belongs to a tool that is known
}

// otherValue is the note of what means the same, but is written differently.
const otherValue = "with another value"

// decide says what becomes of each variable of a scope.
func (r Rewriter) decide(s scope) []change {
	changes := make([]change, len(s.variables))
	taken := map[string]string{} // path → who sets it
	for _, v := range s.variables {
		if _, native := cutFold(v.name, "DOGWATCH_"); native {
			if path, _ := config.Variable(v.name, v.value, r.WatcherTypes, r.Schema); path != "" {
				taken[strings.TrimSuffix(path, "__file")] = v.name
			}
		}
	}
	for _, tool := range tools {
		for i, v := range s.variables {
			if set, mine := tool(r, s, v); mine && !changes[i].mine {
				changes[i] = r.settle(v, set, taken)
			}
		}
	}
	return changes
}

// settle turns a meaning into a change, if it can be one.
func (r Rewriter) settle(v variable, set setting, taken map[string]string) change {
	left := func(note string) change { return change{mine: true, note: note} }
	if set.path == "" {
		return left(set.note)
	}
	set, note := r.current(set)
	if note != "" {
		return left(note)
	}
	name := config.ShortEnvName(set.path)
	plain := strings.TrimSuffix(set.path, "__file")
	path, problem := config.Variable(name, set.value, r.WatcherTypes, r.Schema)
	if path != set.path { // a watcher that is called as a type of watchers has the type in its variables
		name = config.EnvName(set.path)
		path, problem = config.Variable(name, set.value, r.WatcherTypes, r.Schema)
	}
	switch {
	case path == "" && problem != nil:
		return left(problem.Message)
	case r.Keep[strings.ToUpper(v.name)]:
		return left("is kept, since a compose file refers to it; " + name + " is the new name")
	case v.open && set.value != v.value:
		return left("its value is not known here and means something else: set " + name)
	case taken[plain] != "":
		return left("is not used, since " + taken[plain] + " is set")
	}
	taken[plain] = v.name
	c := change{mine: true, name: name, value: set.value, note: set.note}
	if c.value != v.value && c.note == "" {
		c.note = otherValue
	}
	if problem != nil && !v.open {
		c.note = join(c.note, problem.Message)
	}
	return c
}

// current returns a setting without an option that is deprecated: the one that is to be used
// instead takes its place, where its help says "use NAME", and else a note says why there is none.
func (r Rewriter) current(set setting) (_ setting, note string) {
	plain, isFile := strings.CutSuffix(set.path, "__file")
	parts := strings.SplitN(plain, ".", 4)
	if len(parts) < 4 {
		return set, ""
	}
	schema, _ := r.Schema(kind.Kind(parts[0]), parts[1])
	o, _ := schema.Find(parts[3])
	if o.Deprecated == "" {
		return set, ""
	}
	other, has := config.Replacement(schema, o)
	if !has {
		return set, "is not needed any more: " + o.Deprecated
	}
	set.path = strings.TrimSuffix(plain, parts[3]) + other.Name
	if isFile {
		set.path += "__file"
	}
	set.note = join(set.note, o.Deprecated)
	return set, ""
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// translator says what a variable of a tool means; false when it is none of the tool's.
type translator func(r Rewriter, s scope, v variable) (setting, bool)

// tools are in the order in which they win.
var tools = []translator{Rewriter.wud, Rewriter.diun, Rewriter.drydock, Rewriter.watchtower}

// wud: every variable of What's Up Docker has a twin.
func (r Rewriter) wud(_ scope, v variable) (setting, bool) {
	if _, ok := cutFold(v.name, "WUD_"); !ok {
		return setting{}, false
	}
	path, problem := config.Variable(v.name, v.value, r.WatcherTypes, r.Schema)
	switch {
	case path == "" && problem == nil:
		return setting{}, false // a link of Docker or Kubernetes
	case path == "":
		return none(join(problem.Message, problem.Remedy)), true
	}
	return to(path, v.value), true
}

// drydock: what it kept of What's Up Docker has a twin. DD_ is also the prefix
// of Datadog, so it counts only where Drydock is.
func (r Rewriter) drydock(s scope, v variable) (setting, bool) {
	rest, ok := cutFold(v.name, "DD_")
	if !ok ||
		imageOf(s.image) != "drydock" &&
			!s.has("DD_WATCHER_", "DD_REGISTRY_", "DD_TRIGGER_", "DD_ACTION_", "DD_NOTIFICATION_") {
		return setting{}, false
	}
	if set, ok := drydockRule(s, v, rest); ok {
		return set, true
	}
	for _, section := range []string{"ACTION_", "NOTIFICATION_"} {
		if component, found := strings.CutPrefix(rest, section); found {
			rest = "TRIGGER_" + component
		}
	}
	path, problem := config.Variable("WUD_"+rest, v.value, r.WatcherTypes, r.Schema)
	switch {
	case strings.HasPrefix(rest, "SECURITY_VERIFY_"):
		return none("signatures of images are not verified"), true
	case strings.HasPrefix(rest, "SECURITY_"):
		const scanner = "what scans images is set with scan.command (DOGWATCH_SCAN_COMMAND), and has to be where " +
			"Dogwatch runs"
		return none(scanner), true
	case rest == "AUTH_ANONYMOUS_CONFIRM":
		return none("without a login the API is open, and needs no confirmation"), true
	case strings.HasPrefix(rest, "TRIGGER_") && strings.HasSuffix(path, ".auto"):
		return drydockAuto(path, v.value), true
	case path == "" && problem != nil && rest != "STORE_FILE":
		return none(problem.Message), true
	case path == "":
		return none("there is nothing of the kind"), true
	}
	return to(path, v.value), true
}

// drydockRule reads the rules of a watcher, which are settings for all watchers here.
func drydockRule(s scope, v variable, rest string) (setting, bool) {
	const all = "counts for all watchers; policies and the option policy of a watcher tell them apart"
	const mode, days = "_MATURITY_MODE", "_MATURITY_MIN_AGE_DAYS"
	if !strings.HasPrefix(rest, "WATCHER_") {
		return setting{}, false
	}
	switch {
	case strings.HasSuffix(rest, mode):
		_, given := s.get("DD_" + strings.TrimSuffix(rest, mode) + days)
		t, _ := label.Translate("dd.updatePolicy.maturityMode", v.value)
		switch {
		case t.Name == "" && !v.open:
			return none(t.Note), true
		case t.Value == "0" || given:
			return none("a version must be as old as policy.minage says, if it is set"), true
		}
		return but("policy.minage", t.Value, all), true
	case strings.HasSuffix(rest, days):
		if value, given := s.get("DD_" + strings.TrimSuffix(rest, days) + mode); given &&
			!strings.EqualFold(strings.TrimSpace(value), "mature") {
			return none("counts only where the mode is mature"), true
		}
		t, _ := label.Translate("dd.updatePolicy.maturityMinAgeDays", v.value)
		if t.Name == "" && !v.open {
			return none(t.Note), true
		}
		return but("policy.minage", t.Value, all), true
	case strings.HasSuffix(rest, "_MAINTENANCE_WINDOW"):
		return but("policy.window", v.value,
			"updates are offered in it, and checks go on; it opens for an hour at each of its times; "+all), true
	case strings.HasSuffix(rest, "_MAINTENANCE_WINDOW_TZ"):
		return to("policy.zone", v.value), true
	}
	return setting{}, false
}

// drydockAuto: besides true and false it knows all, oninclude, onauto and none.
func drydockAuto(path, value string) setting {
	switch strings.ToLower(value) {
	case "all":
		return to(path, "true")
	case "none":
		return to(path, "false")
	case "oninclude":
		return to(strings.TrimSuffix(path, "auto")+"includebydefault", "false")
	case "onauto":
		return none("no label makes a trigger run by itself; its option auto does")
	}
	return to(path, value)
}
