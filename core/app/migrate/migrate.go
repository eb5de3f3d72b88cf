// Package migrate rewrites what was written for other tools into what
// Dogwatch calls the same thing: the variables of What's Up Docker (WUD_),
// Drydock (DD_), Watchtower (WATCHTOWER_) and Diun (DIUN_), and the labels of
// all of them, in env files, compose files and the configuration file of Diun.
//
// It changes names, and values where a name alone would not mean the same, and
// leaves every other byte of a file as it is. Whatever has no equivalent stays
// where it is and is reported.
package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/internal/yamltext"
)

// maxSize bounds the files that are read.
const maxSize = 4 << 20

// The errors of File. They are wrapped with what is the matter.
var (
	// ErrUnknown means that a file is of no kind that can be rewritten.
	ErrUnknown = errors.New("it is neither an env file, a compose file nor the configuration of Diun")
	// ErrUnsafe means that a rewritten file would differ by more than was meant.
	ErrUnsafe = errors.New("it cannot be rewritten safely; rewrite it by hand")
)

// Rewriter rewrites files and environments.
type Rewriter struct {
	// WatcherTypes are the known types of watchers.
	WatcherTypes []string
	// Schema knows the options of components.
	Schema config.SchemaOf
	// Keep are names of variables, in upper case, that stay as they are since
	// something else reads them: see References.
	Keep map[string]bool
}

// Result is what became of a file.
type Result struct {
	// Name is the file that Text is for: the one that was read, except for the
	// configuration of Diun, which becomes a new one.
	Name string
	// Text is what the file should hold.
	Text []byte
	// New means that no such file was read.
	New bool
	// Findings tell what became of each name, in the order of the file.
	Findings []Finding
}

// Finding is what became of one name of a file.
type Finding struct {
	// Line counts from 1; 0 means the file or the environment as a whole.
	Line int
	// Name is what was found, To what it became; "" when it was left as it is.
	Name, To string
	// Note says why it was left, or what is different now; "" when nothing is.
	Note string
	// Aside is set for what is about the file and not about a variable or a label.
	Aside bool
}

func (f Finding) String() string {
	var b strings.Builder
	if f.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", f.Line)
	}
	b.WriteString(f.Name)
	if f.To != "" {
		b.WriteString(" -> " + f.To)
	}
	if f.Note != "" {
		b.WriteString(": " + f.Note)
	}
	return b.String()
}

// Count tells how many names were rewritten, how many of these mean something
// else now, and how many were left.
func (r Result) Count() (rewritten, different, left int) {
	for _, f := range r.Findings {
		switch {
		case f.Aside:
		case f.To == "":
			left++
		case f.Note != "":
			different++
			rewritten++
		default:
			rewritten++
		}
	}
	return rewritten, different, left
}

// File rewrites the content of a file, whose kind it finds out. The error wraps
// ErrUnknown or ErrUnsafe.
func (r Rewriter) File(name string, data []byte) (Result, error) {
	switch {
	case len(data) > maxSize:
		return Result{}, fmt.Errorf("%w: it is larger than %d MiB", ErrUnknown, maxSize>>20)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return Result{}, fmt.Errorf("%w: it is no text in UTF-8", ErrUnknown)
	}
	if looksLikeEnv(name, data) {
		return r.envFile(name, data), nil
	}
	root, err := parseYAML(data)
	if err != nil {
		return Result{}, err
	}
	switch {
	case lookup(root, "services") != nil:
		return r.compose(name, data, root)
	case lookup(root, "providers") != nil || lookup(root, "notif") != nil || lookup(root, "regopts") != nil:
		return r.diunFile(name, root)
	}
	return Result{}, fmt.Errorf("%w: it has none of the sections services, providers, notif and regopts", ErrUnknown)
}

// parseYAML returns the mapping that a file holds.
func parseYAML(data []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	if err := d.Decode(&document); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrUnknown, strings.ReplaceAll(err.Error(), "\n", " "))
	}
	if d.Decode(&second) == nil {
		return nil, fmt.Errorf("%w: it holds several documents", ErrUnknown)
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, ErrUnknown
	}
	return document.Content[0], nil
}

// looksLikeEnv reports whether a file is one of NAME=value lines.
func looksLikeEnv(name string, data []byte) bool {
	if extension := filepath.Ext(name); extension == ".yaml" || extension == ".yml" {
		return false
	}
	found := false
	for _, l := range envLines(data) {
		if l.name == "" && !l.ignored {
			return false
		}
		found = found || l.name != ""
	}
	return found
}

// lookup returns the value of a key of a mapping; nil when there is none.
func lookup(mapping *yaml.Node, key string) *yaml.Node {
	mapping = yamltext.Resolve(mapping)
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// References returns the names, in upper case, of the variables that a compose
// file takes from its surroundings as ${NAME}. An env file beside it must keep them.
func References(data []byte) []string {
	var names []string
	for rest := string(data); ; {
		_, after, found := strings.Cut(rest, "$")
		if !found {
			break
		}
		rest = after
		if strings.HasPrefix(rest, "$") {
			rest = rest[1:]
			continue
		}
		name := strings.TrimPrefix(rest, "{")
		end := strings.IndexFunc(name, func(c rune) bool {
			return c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
		})
		if end >= 0 {
			name = name[:end]
		}
		if name != "" {
			names = append(names, strings.ToUpper(name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
