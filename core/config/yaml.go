package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/internal/yamltext"
)

// The limits of a configuration file. Aliases count each time they are used,
// so that a small file cannot grow into an endless one.
const (
	maxFileSize  = 1 << 20
	maxYAMLNodes = 50_000
	maxYAMLDepth = 32
)

// entry is one value as it was written.
type entry struct {
	path   string // dotted, lower case, without "__file"
	value  Value
	isFile bool // the value is the name of the file that holds the value
}

const fileSuffix = "__file"

// newEntry finds out whether key, a path in lower case, is the name of a file.
func newEntry(key string, value any, source string) entry {
	path, isFile := strings.CutSuffix(key, fileSuffix)
	return entry{path: canonical(path), value: Value{V: value, Source: source}, isFile: isFile}
}

// listSettings are written as lists of name=value, and in YAML also as
// mappings, whose keys keep their case that way.
var listSettings = []string{"plugins.checksums", "plugins.grants"}

// readYAML returns the values in data in their order. Scalars keep the text the
// user wrote (01 is not 1), for only a schema can tell what they are. Problems,
// all of them errors, mean that the file is not to be trusted.
func readYAML(file string, data []byte) ([]entry, []Problem) {
	if p := notText(file, data); p != nil {
		return nil, []Problem{*p}
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	switch err := d.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, []Problem{syntaxProblem(file, data, err)}
	}
	w := &yamlWalk{file: file, left: maxYAMLNodes}
	switch err := d.Decode(&second); {
	case err == nil:
		w.fault(&second, "a second document begins here", "keep one, without ---")
	case !errors.Is(err, io.EOF):
		return nil, []Problem{syntaxProblem(file, data, err)}
	}
	root := document.Content[0]
	switch {
	case root.Kind == yaml.MappingNode:
		w.mapping(root, "", 0)
	case !isNull(root):
		w.fault(root, "want sections such as server: or trigger:, got a "+kindName(root), "")
	}
	return w.entries, w.problems
}

type yamlWalk struct {
	file     string
	left     int // nodes that may still be visited
	entries  []entry
	problems []Problem
}

func (w *yamlWalk) source(n *yaml.Node) string { return w.file + ":" + strconv.Itoa(n.Line) }

func (w *yamlWalk) fault(n *yaml.Node, message, remedy string) {
	w.problems = append(w.problems, Problem{Source: w.source(n), Message: message, Remedy: remedy, Level: Error})
}

// enter counts a node and refuses documents that are too deep or, by their aliases, too large.
func (w *yamlWalk) enter(n *yaml.Node, depth int) bool {
	w.left--
	switch {
	case w.left < 0:
		if w.left == -1 {
			w.fault(n, fmt.Sprintf("holds more than %d values", maxYAMLNodes), "use fewer aliases")
		}
		return false
	case depth > maxYAMLDepth:
		w.fault(n, fmt.Sprintf("is nested more than %d levels deep", maxYAMLDepth), "")
		w.left = -1
		return false
	}
	return true
}

func (w *yamlWalk) mapping(n *yaml.Node, prefix string, depth int) {
	for _, p := range w.pairs(n, depth) {
		w.value(p.value, p.key, prefix+p.name, depth+1)
	}
}

// value adds what is at path. The place of a value is that of its key, where a reader looks for it.
func (w *yamlWalk) value(n, key *yaml.Node, path string, depth int) {
	if !w.enter(n, depth) {
		return
	}
	n = yamltext.Resolve(n)
	switch {
	case isNull(n), n.Kind != yaml.ScalarNode && len(n.Content) == 0:
		w.add(path, "", key)
	case n.Kind == yaml.ScalarNode:
		w.add(path, n.Value, key)
	case n.Kind == yaml.SequenceNode && path == installSetting:
		w.addList(path, w.installs(n, depth), true, key)
	case n.Kind == yaml.SequenceNode:
		items, ok := w.list(n, "", depth)
		w.addList(path, items, ok, key)
	case slices.Contains(listSettings, path):
		items, ok := w.namedList(n, depth)
		w.addList(path, items, ok, key)
	default:
		w.mapping(n, path+".", depth)
	}
}

func (w *yamlWalk) add(path string, v any, key *yaml.Node) {
	w.entries = append(w.entries, newEntry(path, v, w.source(key)))
}

func (w *yamlWalk) addList(path string, items []string, ok bool, key *yaml.Node) {
	e := newEntry(path, items, w.source(key))
	if !ok {
		e.value.problem = &Problem{
			Key: e.path, Source: e.value.Source, Message: "a list holds texts and numbers, nothing nested", Level: Error,
		}
	}
	w.entries = append(w.entries, e)
}

// list returns the items of a list, each behind prefix, and whether all are single values.
func (w *yamlWalk) list(n *yaml.Node, prefix string, depth int) (items []string, ok bool) {
	items, ok = []string{}, true
	for _, item := range n.Content {
		if !w.enter(item, depth) {
			return items, ok
		}
		switch item = yamltext.Resolve(item); {
		case item.Kind != yaml.ScalarNode:
			ok = false
		case !isNull(item):
			items = append(items, prefix+item.Value)
		}
	}
	return items, ok
}

// namedList writes a mapping as a list of name=value.
func (w *yamlWalk) namedList(n *yaml.Node, depth int) (items []string, ok bool) {
	ok = true
	for _, p := range w.pairs(n, depth) {
		values := yamltext.Resolve(p.value)
		if values.Kind != yaml.SequenceNode {
			values = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{p.value}}
		}
		some, fine := w.list(values, p.key.Value+"=", depth+1)
		items, ok = append(items, some...), ok && fine
	}
	return items, ok
}

type pair struct {
	name       string // of the key, in lower case
	key, value *yaml.Node
}

// pairs returns the entries of a mapping, those it merges (<<) last, and
// reports keys that occur twice.
func (w *yamlWalk) pairs(n *yaml.Node, depth int) []pair {
	var own, merged []pair
	index := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := yamltext.Resolve(n.Content[i]), n.Content[i+1]
		switch {
		case key.Tag == "!!merge":
			merged = append(merged, w.merged(value, depth)...)
			continue
		case key.Kind != yaml.ScalarNode || isNull(key) || key.Value == "":
			w.fault(key, "a key is a name, not a "+kindName(key), "")
			continue
		}
		name := strings.ToLower(key.Value)
		if line, twice := index[name]; twice {
			w.fault(key, fmt.Sprintf("the key %s is already set at line %d", name, line), "keep one")
			continue
		}
		index[name] = key.Line
		own = append(own, pair{name, key, value})
	}
	for _, p := range merged {
		if _, has := index[p.name]; !has {
			index[p.name] = p.key.Line
			own = append(own, p)
		}
	}
	return own
}

func (w *yamlWalk) merged(n *yaml.Node, depth int) []pair {
	if !w.enter(n, depth+1) {
		return nil
	}
	n = yamltext.Resolve(n)
	switch n.Kind {
	case yaml.MappingNode:
		return w.pairs(n, depth+1)
	case yaml.SequenceNode:
		var all []pair
		for _, item := range n.Content {
			all = append(all, w.merged(item, depth+1)...)
		}
		return all
	}
	w.fault(n, "<< wants a mapping", "")
	return nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "mapping"
	case yaml.SequenceNode:
		return "list"
	}
	return "single value"
}

// notText finds what no YAML parser explains well: binary files, and texts in
// other encodings.
func notText(file string, data []byte) *Problem {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil // UTF-16, which YAML allows
	}
	line := 1
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		switch {
		case c == utf8.RuneError && size == 1, c < ' ' && c != '\t' && c != '\n' && c != '\r':
			return &Problem{Source: file + ":" + strconv.Itoa(line), Message: "is not a text file", Level: Error,
				Remedy: "write YAML in UTF-8"}
		case c == '\n':
			line++
		}
		i += size
	}
	return nil
}

var (
	yamlLine   = lazyregexp.New(`^yaml: (?:line (\d+): )?(.*)$`)
	yamlAnchor = lazyregexp.New(`^unknown anchor '(.*)' referenced$`)
)

// syntaxProblem words an error of the YAML parser. An unquoted password that
// starts with an asterisk is an unknown anchor: its name is not repeated.
func syntaxProblem(file string, data []byte, err error) Problem {
	parts := yamlLine().FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	if parts == nil {
		parts = []string{"", "", err.Error()}
	}
	line, _ := strconv.Atoi(parts[1])
	line = max(line, 1)
	p := Problem{Message: parts[2], Remedy: "check the indentation and the quotation marks around this line", Level: Error}
	if anchor := yamlAnchor().FindStringSubmatch(p.Message); anchor != nil {
		before, _, _ := bytes.Cut(data, []byte("*"+anchor[1]))
		line = 1 + bytes.Count(before, []byte("\n"))
		p.Message = "unknown anchor"
	}
	switch {
	case tabIndents(data, line) > 0:
		line = tabIndents(data, line)
		p.Message, p.Remedy = "a tab indents this line", "indent with spaces"
	case p.Message == "unknown anchor", strings.Contains(p.Message, "expected alphabetic"):
		p.Remedy = "put quotation marks around a text that starts with * or &"
	case strings.Contains(p.Message, "cannot start any token"):
		p.Remedy = "put quotation marks around a text that starts with a special character"
	case strings.Contains(p.Message, "mapping values are not allowed"):
		p.Remedy = "check the indentation, and put quotation marks around a text that holds a colon and a space"
	case strings.Contains(p.Message, "end of stream"):
		p.Remedy = "close the quotation mark or bracket"
	}
	p.Source, p.Message = file+":"+strconv.Itoa(line), "not YAML: "+p.Message
	return p
}

// tabIndents returns which of a line and the next one, which the parser
// sometimes means, is indented with a tab; 0 when neither is.
func tabIndents(data []byte, line int) int {
	lines := strings.Split(string(data), "\n")
	for n := line; n <= min(line+1, len(lines)); n++ {
		text := lines[n-1]
		if strings.Contains(text[:len(text)-len(strings.TrimLeft(text, " \t"))], "\t") {
			return n
		}
	}
	return 0
}
