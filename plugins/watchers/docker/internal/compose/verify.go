package compose

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// exclusive refuses a variable that feeds more than one place.
func (e *editor) exclusive(variable string, values []value) error {
	s := e.variables.values[variable]
	path := e.variables.paths[s.file]
	shared := func(format string, args ...any) error {
		return refuse(VariableShared, path, s.line,
			"the variable "+variable+" "+format+": give the image of "+e.project.Service+" a variable of its own", args...)
	}
	if e.files.includes() {
		return refuse(IncludeUnsupported, e.project.Files[0], 0,
			"the files that are included may use the variable %s too: write the image out", variable)
	}
	count := 0
	for _, v := range values {
		if v.variable == variable {
			count++
		}
	}
	if count > 1 {
		return shared("stands twice in the image")
	}
	for _, name := range e.files.services() {
		e.files.imageText(name) // which opens the files that are extended
	}
	for _, d := range e.files.all() {
		for _, root := range d.roots {
			if n := e.otherUse(d, root, variable, path); n != nil {
				return shared("is used in %s, line %d, too", d.path, n.Line)
			}
		}
	}
	for i, data := range e.variables.data {
		if uses(string(data), variable) {
			return shared("is used in %s too", e.variables.paths[i])
		}
	}
	return nil
}

// otherUse returns a node below n, other than the image, that takes the variable, or
// the env file as a whole.
func (e *editor) otherUse(d *document, n *yaml.Node, variable, envFile string) *yaml.Node {
	if n == e.place.node || n.Kind == yaml.AliasNode {
		return nil
	}
	if n.Kind == yaml.ScalarNode && (uses(n.Value, variable) || e.names(d, n.Value, envFile)) {
		return n
	}
	for i, child := range n.Content {
		passed := n.Kind == yaml.SequenceNode ||
			n.Kind == yaml.MappingNode && i%2 == 0 && n.Content[i+1].ShortTag() == "!!null"
		if passed && child.Kind == yaml.ScalarNode && child.Value == variable { // environment: [NAME]
			return child
		}
		if found := e.otherUse(d, child, variable, envFile); found != nil {
			return found
		}
	}
	return nil
}

// names reports whether a text is the path of a file, alone or as the source of a mount.
func (e *editor) names(d *document, text, file string) bool {
	source, _, _ := strings.Cut(text, ":")
	if filepath.Base(source) != filepath.Base(file) {
		return false
	}
	return slices.Contains([]string{
		filepath.Clean(source), filepath.Join(e.project.WorkingDir, source), filepath.Join(filepath.Dir(d.path), source),
	}, filepath.Clean(file)) || strings.Contains(source, "$")
}

// verify reads the project as it is after a change: the image of the service is
// another one, and nothing else is.
func (e *editor) verify(c Change, read Reader) error {
	changed := func(path string) ([]byte, error) {
		data, err := read(path)
		if err != nil || path != c.File {
			return data, err
		}
		if sum(data) != c.BeforeSum {
			return nil, refuse(FileChanged, path, 0, "the file was changed meanwhile: try again")
		}
		return c.after(data), nil
	}
	after, err := load(e.project, changed)
	if err != nil {
		return e.unsupported(c)
	}
	if c.Variable != "" {
		return e.verifyVariable(c, changed)
	}
	var others []string
	for _, name := range e.files.services() {
		if name != e.project.Service && e.files.imageText(name) != after.imageText(name) {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		return refuse(ImageShared, c.File, c.Line, "the image of %s is that of %s too: give it one of its own",
			e.project.Service, strings.Join(others, ", "))
	}
	image := after.imageText(e.project.Service) // which opens the file that is extended
	doc := after.byPath(c.File)
	if doc == nil || len(doc.roots) != len(e.place.doc.roots) || image == e.place.node.Value {
		return e.unsupported(c)
	}
	for i, root := range e.place.doc.roots {
		for _, path := range differences(decoded(root), decoded(doc.roots[i]), "") {
			if parts := strings.Split(path, "\x00"); len(parts) != 4 || parts[1] != "services" || parts[3] != "image" {
				return refuse(ImageShared, c.File, c.Line, "the image of %s is used as %s too: give it one of its own",
					e.project.Service, strings.Join(parts[1:], "."))
			}
		}
	}
	return nil
}

func (e *editor) unsupported(c Change) error {
	return refuse(LayoutUnsupported, c.File, c.Line, "the file would not mean the same with %s: change it by hand", c.New)
}

// verifyVariable compares the variables.
func (e *editor) verifyVariable(c Change, read Reader) error {
	after, err := loadVariables(e.project, read)
	if err != nil {
		return err
	}
	for name, v := range e.variables.values {
		want := v.value
		if name == c.Variable {
			want = c.New
		}
		if got := after.values[name]; got.value != want || got.simple != v.simple {
			return e.unsupported(c)
		}
	}
	if len(after.values) != len(e.variables.values) {
		return e.unsupported(c)
	}
	return nil
}

// imageText is the image of a service as it is written; "" where it cannot be found.
func (f *files) imageText(service string) string {
	def, err := f.service(service)
	if err != nil || def.image.node == nil {
		return ""
	}
	return def.image.node.Value
}

func (f *files) byPath(path string) *document {
	for _, d := range f.all() {
		if d.path == path {
			return d
		}
	}
	return nil
}

func decoded(n *yaml.Node) any {
	var v any
	if n.Decode(&v) != nil { // parse decoded it before
		return nil
	}
	return v
}

// differences returns the paths at which two documents differ. Extension fields are
// templates: they count where they are used.
func differences(a, b any, path string) []string {
	before, isMap := a.(map[string]any)
	after, isMap2 := b.(map[string]any)
	if !isMap || !isMap2 {
		if reflect.DeepEqual(a, b) {
			return nil
		}
		return []string{path}
	}
	var all []string
	for key, v := range before {
		if w, found := after[key]; found && !strings.HasPrefix(key, "x-") {
			all = append(all, differences(v, w, path+"\x00"+key)...)
		} else if !found {
			all = append(all, path+"\x00"+key)
		}
	}
	if len(after) != len(before) {
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}
