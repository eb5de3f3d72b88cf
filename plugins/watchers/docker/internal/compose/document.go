package compose

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/yamltext"
	"go.yaml.in/yaml/v3"
)

// document is one compose file. A file of several YAML documents merges them in order.
type document struct {
	path  string
	data  []byte
	roots []*yaml.Node
}

func parse(path string, data []byte) (*document, error) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, refuse(LayoutUnsupported, path, 0, "the file is UTF-16: save it as UTF-8")
	}
	d := &document{path: path, data: data}
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var n yaml.Node
		err := decoder.Decode(&n)
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		if err != nil {
			return nil, refuse(YAMLInvalid, path, 0, "this is not valid YAML: %v", err)
		}
		// As a value it must be valid too: no key twice, no flood of aliases.
		var value any
		if err := n.Decode(&value); err != nil {
			return nil, refuse(YAMLInvalid, path, 0, "this is not valid YAML: %v", err)
		}
		if len(n.Content) == 1 {
			d.roots = append(d.roots, n.Content[0])
		}
	}
}

// place is a node of a file.
type place struct {
	doc  *document
	node *yaml.Node
}

// files are the documents of a project, in the order in which they are merged.
type files struct {
	read   Reader
	merged []*document
	others map[string]*document // those that extends names
	budget int                  // of steps, for documents made to be expensive
}

func load(p Project, read Reader) (*files, error) {
	f := &files{read: read, others: map[string]*document{}, budget: 1 << 20}
	for _, path := range p.Files {
		d, err := f.open(path)
		if err != nil {
			return nil, err
		}
		f.merged = append(f.merged, d)
	}
	return f, nil
}

func (f *files) open(path string) (*document, error) {
	data, err := f.read(path)
	if err != nil {
		return nil, ReadError(path, err)
	}
	return parse(path, data)
}

// all returns every document that was read.
func (f *files) all() []*document {
	docs := slices.Clone(f.merged)
	for _, d := range f.others {
		docs = append(docs, d)
	}
	return docs
}

// maxDepth bounds aliases, merges and extends that lead to one another.
const maxDepth = 32

func (f *files) target(n *yaml.Node) *yaml.Node {
	for range maxDepth {
		f.budget--
		if n == nil || n.Kind != yaml.AliasNode || f.budget < 0 {
			return n
		}
		n = n.Alias
	}
	return nil
}

// get returns the value of a key of a mapping, which may come from a merge key; nil for none.
func (f *files) get(mapping *yaml.Node, key string, depth int) *yaml.Node {
	m := f.target(mapping)
	if m == nil || m.Kind != yaml.MappingNode || depth > maxDepth {
		return nil
	}
	for i := 0; i+1 < len(m.Content) && f.budget > 0; i += 2 {
		f.budget--
		if k := f.target(m.Content[i]); k.Kind == yaml.ScalarNode && k.Value == key && !isMerge(k) {
			return m.Content[i+1]
		}
	}
	for _, base := range f.bases(m) {
		if v := f.get(base, key, depth+1); v != nil {
			return v
		}
	}
	return nil
}

// keys returns the names of a mapping.
func (f *files) keys(mapping *yaml.Node, depth int) []string {
	m := f.target(mapping)
	if m == nil || m.Kind != yaml.MappingNode || depth > maxDepth {
		return nil
	}
	var names []string
	for i := 0; i+1 < len(m.Content) && f.budget > 0; i += 2 {
		f.budget--
		if k := f.target(m.Content[i]); k.Kind == yaml.ScalarNode && !isMerge(k) {
			names = append(names, k.Value)
		}
	}
	for _, base := range f.bases(m) {
		names = append(names, f.keys(base, depth+1)...)
	}
	return names
}

// bases are the mappings that the merge keys of a mapping name, the first counts.
func (f *files) bases(m *yaml.Node) []*yaml.Node {
	var all []*yaml.Node
	for i := 0; i+1 < len(m.Content); i += 2 {
		if !isMerge(m.Content[i]) {
			continue
		}
		if v := f.target(m.Content[i+1]); v != nil && v.Kind == yaml.SequenceNode {
			all = append(all, v.Content...)
		} else if v != nil {
			all = append(all, v)
		}
	}
	return all
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" &&
		(key.Tag == "" || key.Tag == "!" || key.ShortTag() == "!!merge")
}

// definition is what is known of a service after merging.
type definition struct {
	image    place // node is nil for none
	found    bool
	build    bool
	profiles []string // those without which compose does not know the service
}

// service returns what the files, merged, say of a service.
func (f *files) service(name string) (definition, error) {
	var all definition
	for _, d := range f.merged {
		for _, root := range d.roots {
			one, err := f.serviceIn(d, root, name, 0)
			if err != nil {
				return all, err
			}
			all.found = all.found || one.found
			all.build = all.build || one.build
			all.profiles = append(all.profiles, one.profiles...)
			if one.image.node != nil {
				all.image = one.image
			}
		}
	}
	return all, nil
}

// Profiles returns the profiles of the project's service; none where its files cannot be followed.
func (p Project) Profiles(read Reader) []string {
	f, err := load(p, read)
	if err != nil {
		return nil
	}
	def, err := f.service(p.Service)
	if err != nil {
		return nil
	}
	slices.Sort(def.profiles)
	return slices.Compact(def.profiles)
}

func (f *files) serviceIn(d *document, root *yaml.Node, name string, depth int) (definition, error) {
	var def definition
	service := f.get(f.get(root, "services", 0), name, 0)
	if service == nil {
		return def, nil
	}
	def.found = true
	def.build = f.get(service, "build", 0) != nil
	if n := f.target(f.get(service, "profiles", 0)); n != nil && n.Kind == yaml.SequenceNode {
		for _, entry := range n.Content {
			if name := f.target(entry); name != nil && name.Kind == yaml.ScalarNode {
				def.profiles = append(def.profiles, name.Value)
			}
		}
	}
	if n := f.get(service, "image", 0); n != nil {
		def.image = place{d, f.target(n)}
		if t := def.image.node; t == nil || t.Kind != yaml.ScalarNode || t.Tag == "!!null" {
			def.image.node = nil
		} else if t.Tag == "!reset" {
			return def,
				refuse(LayoutUnsupported, d.path, t.Line, "the image of %s is taken away with !reset: remove that line", name)
		}
	}
	extends := f.target(f.get(service, "extends", 0))
	if extends == nil {
		return def, nil
	}
	base, err := f.extended(d, root, extends, name, depth)
	if err != nil {
		return def, err
	}
	def.build = def.build || base.build
	def.profiles = append(def.profiles, base.profiles...)
	if def.image.node == nil {
		def.image = base.image
	}
	return def, nil
}

// extended returns what the service that another one extends says.
func (f *files) extended(d *document, root, extends *yaml.Node, name string, depth int) (definition, error) {
	baseName, file := extends.Value, ""
	if extends.Kind == yaml.MappingNode {
		if n := f.target(f.get(extends, "service", 0)); n != nil {
			baseName = n.Value
		}
		if n := f.target(f.get(extends, "file", 0)); n != nil {
			file = n.Value
		}
	}
	if depth >= maxDepth || baseName == "" || strings.Contains(baseName+file, "$") || strings.Contains(file, "://") {
		return definition{},
			refuse(ExtendsUnsupported, d.path, extends.Line,
				"what %s extends cannot be followed: give the service an image of its own", name)
	}
	roots := []*yaml.Node{root}
	if file != "" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(d.path), file)
		}
		other, err := f.other(file)
		if err != nil {
			return definition{}, err
		}
		d, roots = other, other.roots
	}
	var base definition
	for _, root := range roots {
		one, err := f.serviceIn(d, root, baseName, depth+1)
		if err != nil {
			return base, err
		}
		base.found, base.build = base.found || one.found, base.build || one.build
		base.profiles = append(base.profiles, one.profiles...)
		if one.image.node != nil {
			base.image = one.image
		}
	}
	if !base.found {
		return base,
			refuse(ExtendsUnsupported, d.path, extends.Line, "%s extends the service %s, which is not there", name, baseName)
	}
	return base, nil
}

func (f *files) other(path string) (*document, error) {
	for _, d := range f.merged {
		if d.path == path {
			return d, nil
		}
	}
	if d := f.others[path]; d != nil {
		return d, nil
	}
	d, err := f.open(path)
	if err == nil {
		f.others[path] = d
	}
	return d, err
}

// services returns the names of all services, sorted.
func (f *files) services() []string {
	var names []string
	for _, d := range f.merged {
		for _, root := range d.roots {
			names = append(names, f.keys(f.get(root, "services", 0), 0)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// includes reports whether a file includes others.
func (f *files) includes() bool {
	return slices.ContainsFunc(f.merged, func(d *document) bool {
		return slices.ContainsFunc(d.roots, func(root *yaml.Node) bool { return f.get(root, "include", 0) != nil })
	})
}

// span is the text of a scalar in its file, without quotation marks.
type span struct {
	from, to int
	quote    byte // ' or ", 0 for none
}

// locate returns where the text of a scalar stands; see yamltext.Locate.
func (d *document) locate(n *yaml.Node) (span, bool) {
	from, to, quote, ok := yamltext.Locate(d.data, n)
	return span{from, to, quote}, ok && n.Value != ""
}
