package gallery

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Registry is where the release pushes the plugins that are folders of this repository.
const Registry = "ghcr.io/dogwatch"

// maxPlugins bounds an index: what is more is none.
const maxPlugins = 1000

// Index is the plugins that users can choose from, as programs read them.
type Index struct {
	// Version is the release whose plugins of this repository are meant; "" for the newest of each.
	Version string   `json:"version,omitempty"`
	Plugins []Plugin `json:"plugins"`
}

//go:embed index.json
var builtIn []byte

// BuiltIn returns the index of this program, which has a version: that of a release, or another one.
func BuiltIn(version string) (Index, error) {
	x, err := Parse(builtIn)
	if tagForm().MatchString(version) && !strings.Contains(version, "snapshot") {
		x.Version = version
	}
	return x, err
}

// NewIndex returns the index of what Read has read.
func NewIndex(version string, plugins []Plugin) Index {
	x := Index{Version: version, Plugins: slices.Clone(plugins)}
	for i := range x.Plugins {
		x.Plugins[i].Source = x.Plugins[i].address()
	}
	return x
}

// Text returns the index as Parse reads it.
func (x Index) Text() ([]byte, error) {
	text, err := json.MarshalIndent(x, "", "  ")
	return append(text, '\n'), err
}

// Parse reads an index, whoever wrote it. References that are not as they should be, as of a kind that a later version
// has, are left out.
func Parse(text []byte) (Index, error) {
	var x Index
	if err := json.Unmarshal(text, &x); err != nil {
		return Index{}, errors.New("it is no index of plugins")
	}
	if len(x.Plugins) > maxPlugins {
		return Index{}, fmt.Errorf("it has %d plugins, more than %d", len(x.Plugins), maxPlugins)
	}
	if x.Version != "" && !tagForm().MatchString(x.Version) {
		return Index{}, fmt.Errorf("its version is %q, which is none", x.Version)
	}
	x.Plugins = slices.DeleteFunc(x.Plugins, func(p Plugin) bool { return p.ours() || p.check("") != nil })
	return x, nil
}

// Find returns the plugin of a name.
func (x Index) Find(name string) (Plugin, bool) {
	i := slices.IndexFunc(x.Plugins, func(p Plugin) bool { return p.Name == name })
	if i < 0 {
		return Plugin{}, false
	}
	return x.Plugins[i], true
}

// Search returns the plugins that have all words in name, type or what they do, whatever the letter case.
func (x Index) Search(words ...string) []Plugin {
	var found []Plugin
	for _, p := range x.Plugins {
		text := strings.ToLower(strings.Join([]string{p.Name, string(p.Kind) + "." + p.Type, p.Does}, "\n"))
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, strings.ToLower(word)) }) {
			found = append(found, p)
		}
	}
	return found
}

// Reference is what dogwatch plugin install takes for a plugin of the index; "" for one that is built from its source.
func (x Index) Reference(p Plugin) string {
	if x.Version == "" || !Released(p.Install) || Repository(p.Install) != p.Install {
		return p.Install
	}
	return p.Install + ":" + x.Version
}

// Released reports whether a reference is of what releases of Dogwatch push, and sign with their key.
func Released(reference string) bool { return strings.HasPrefix(reference, Registry+"/") }

// Repository returns a reference without its tag and digest.
func Repository(reference string) string {
	reference, _, _ = strings.Cut(reference, "@")
	name := strings.LastIndexByte(reference, '/') + 1
	name += len(strings.SplitN(reference[name:], ":", 2)[0])
	return reference[:name]
}

// Over returns an index that somebody else wrote as far as it may take the place of this one: with the same
// repository for each name that is in both. The error says which names it uses for something else.
func (x Index) Over(own Index) (Index, error) {
	var wrong []string
	x.Plugins = slices.DeleteFunc(slices.Clone(x.Plugins), func(p Plugin) bool {
		known, ok := own.Find(p.Name)
		other := ok && Repository(known.Install) != Repository(p.Install)
		if other {
			wrong = append(wrong, p.Name)
		}
		return other
	})
	if len(wrong) > 0 {
		return x, fmt.Errorf("it has other repositories for %s, which are left out", strings.Join(wrong, ", "))
	}
	return x, nil
}
