package core_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxFolders is how many folders a reader takes in at a glance.
const maxFolders = 10

// folder is a folder of the core as its doc.go describes it.
type folder struct {
	name string
	// importers are the folders that may import it.
	importers []string
	// layers are its packages, by their path in it; that in the folder itself has its name. A package imports
	// only those of later layers.
	layers [][]string
}

// folders returns the folders of the core from top to bottom, as core/doc.go has them.
func folders(t *testing.T) []folder {
	t.Helper()
	var all []folder
	for _, line := range listAfter(t, "core/doc.go", "folders_test.go asserts both:") {
		f := folder{name: strings.Fields(line)[0]}
		doc := "core/" + f.name + "/doc.go"
		_, importers, found := strings.Cut(readSource(t, doc), "\n// May be imported by: ")
		if !found {
			t.Fatalf("%s does not say who may import it", doc)
		}
		importers, _, _ = strings.Cut(importers, ".\n")
		if !strings.HasPrefix(importers, "nothing ") {
			f.importers = strings.Split(importers, ", ")
		}
		for _, list := range listAfter(t, doc, "each of which imports only those of later places:") {
			for layer := range strings.SplitSeq(list, ">") {
				f.layers = append(f.layers, strings.Fields(layer))
			}
		}
		if f.layers == nil {
			f.layers = [][]string{{f.name}} // it has no folders in it
		}
		all = append(all, f)
	}
	return all
}

// listAfter returns the lines of the list in a comment that follows a heading.
func listAfter(t *testing.T, file, heading string) []string {
	t.Helper()
	_, list, found := strings.Cut(readSource(t, file), heading+"\n//\n")
	if !found {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(list, "\n") {
		entry, is := strings.CutPrefix(line, "//\t")
		if !is {
			break
		}
		lines = append(lines, entry)
	}
	return lines
}

// split returns the folder of a package of the core, and the name that the folder's list has for it.
func split(path string) (name, inside string) {
	name, inside, nested := strings.Cut(strings.TrimPrefix(path, "core/"), "/")
	if !nested {
		inside = name
	}
	return name, inside
}

// layerOf returns -1 for a package that is not in the list of its folder.
func (f folder) layerOf(inside string) int {
	return slices.IndexFunc(f.layers, func(layer []string) bool { return slices.Contains(layer, inside) })
}

func TestFoldersDependDownwards(t *testing.T) {
	all := map[string]folder{}
	for _, f := range folders(t) {
		all[f.name] = f
	}
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.ImportPath, "core/") {
			continue
		}
		name, inside := split(p.ImportPath)
		own := all[name]
		if own.layerOf(inside) < 0 && len(p.Imports) > 0 {
			t.Errorf("%s is not in the list of core/%s/doc.go", p.ImportPath, name)
		}
		for _, full := range p.Imports {
			imported, ours := strings.CutPrefix(full, module+"core/")
			if !ours {
				continue
			}
			other, insideOther := split(imported)
			switch {
			case other != name && !slices.Contains(all[other].importers, name):
				t.Errorf("%s imports core/%s, which core/%s may not: see core/%s/doc.go",
					p.ImportPath, imported, name, other)
			case other == name && own.layerOf(inside) >= own.layerOf(insideOther):
				t.Errorf("%s imports core/%s, which is not later in the list of core/%s/doc.go",
					p.ImportPath, imported, name)
			}
		}
	}
}

// TestFoldersAreFewAndDescribed by what comes in, what goes out, and who may import them: only folders above may.
func TestFoldersAreFewAndDescribed(t *testing.T) {
	all := folders(t)
	if len(all) > maxFolders {
		t.Errorf("core has %d folders, more than %d", len(all), maxFolders)
	}
	var above []string
	for _, f := range all {
		for _, importer := range f.importers {
			if !slices.Contains(above, importer) {
				t.Errorf("core/%s/doc.go lets %s import it, which is not above it in core/doc.go", f.name, importer)
			}
		}
		above = append(above, f.name)
		text := readSource(t, "core/"+f.name+"/doc.go")
		for _, part := range []string{"\n// In: ", "\n// Out: "} {
			if !strings.Contains(text, part) {
				t.Errorf("core/%s/doc.go has no line %q", f.name, strings.TrimSpace(part))
			}
		}
	}
	entries, err := os.ReadDir(filepath.Join(root, "core"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.IsDir() && !slices.Contains(above, entry.Name()) {
			t.Errorf("core/%s is not in the list of core/doc.go", entry.Name())
		}
	}
}

// TestListedPackagesExist holds the lists against the packages that there are.
func TestListedPackagesExist(t *testing.T) {
	for _, f := range folders(t) {
		for _, layer := range f.layers {
			for _, inside := range layer {
				path := filepath.Join(root, "core", f.name, inside)
				if inside == f.name {
					path = filepath.Dir(path)
				}
				if sources, _ := filepath.Glob(filepath.Join(path, "*.go")); len(sources) == 0 {
					t.Errorf("core/%s/doc.go lists %s, which is no package", f.name, inside)
				}
			}
		}
	}
}
