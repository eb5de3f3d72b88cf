package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

const providers = "../../docs/providers"

// TestPagesAreCurrent: docs/providers has what the schemas say and nothing else.
func TestPagesAreCurrent(t *testing.T) {
	pages, err := config.Pages(allTypes())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, p := range pages {
		want[p.Name] = p.Text
	}
	err = filepath.WalkDir(providers, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(providers, path)
		text, err := os.ReadFile(path)
		switch expected, known := want[filepath.ToSlash(name)]; {
		case !known:
			t.Errorf("docs/providers/%s is of no type: remove it", name)
		case expected != string(text):
			t.Errorf("docs/providers/%s is not current: run go generate ./cmd/dogwatch", name)
		}
		delete(want, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range want {
		t.Errorf("docs/providers/%s is missing: run go generate ./cmd/dogwatch", name)
	}
}

// TestPageExamples: the examples of all pages are accepted by the plugins, in
// each spelling.
func TestPageExamples(t *testing.T) {
	file := map[string]any{}
	native, wud := map[string]string{}, map[string]string{}
	examples := regexp.MustCompile("(?s)```(yaml|ini)\n(.*?)```")
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(
		"current-context: a\ncontexts: [{name: a, context: {cluster: a}}]\nclusters: [{name: a, cluster: {server: 'https://10.0.0.1:6443'}}]\n",
	), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, typ := range allTypes() {
		text, err := (&global{}).typePage(t.Context(), string(typ.Kind)+"."+typ.Name)
		if err != nil {
			t.Fatal(err)
		}
		text = strings.ReplaceAll(text, "/config/kubeconfig", kubeconfig)
		if typ.Kind == kind.Watcher { // no two of which may have the same name
			text = strings.NewReplacer("    main:\n", "    "+typ.Name+":\n", "_MAIN_", "_"+strings.ToUpper(typ.Name)+"_").Replace(text)
		}
		for _, m := range examples.FindAllStringSubmatch(text, -1) {
			if m[1] == "yaml" {
				one := map[string]any{}
				if err := yaml.Unmarshal([]byte(m[2]), &one); err != nil {
					t.Errorf("%s: %v", typ.Name, err)
				}
				merge(file, one)
				continue
			}
			for line := range strings.Lines(m[2]) {
				name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
				if strings.HasPrefix(name, "WUD_") {
					wud[name] = value
				} else {
					native[name] = value
				}
			}
		}
	}
	text, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "dogwatch.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	theirs := 0
	for _, typ := range allTypes() {
		if known(t, typ) != nil {
			theirs++
		}
	}
	for how, test := range map[string]struct {
		out  string
		want int
	}{
		"YAML":                          {validate(t, nil, "--config", path), len(allTypes())},
		"variables":                     {validate(t, native), len(allTypes())},
		"variables of What's Up Docker": {validate(t, wud), theirs},
	} {
		if !strings.HasPrefix(test.out, "no problems") ||
			!strings.Contains(test.out, fmt.Sprintf(": %s configured", phrase.Count(test.want, "component").String())) {
			t.Errorf("%s: want %d components:\n%s", how, test.want, test.out)
		}
	}
}

// merge adds the keys of from, level by level.
func merge(into, from map[string]any) {
	for key, v := range from {
		sub, nested := v.(map[string]any)
		have, both := into[key].(map[string]any)
		if nested && both {
			merge(have, sub)
		} else {
			into[key] = v
		}
	}
}

// known returns what the list of What's Up Docker's types says of a type.
func known(t *testing.T, typ kind.Type) []string {
	t.Helper()
	text, err := os.ReadFile("../../core/config/wud.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); fields[0] == string(typ.Kind)+"."+typ.Name {
			return fields[1:]
		}
	}
	return nil
}

// TestTypesAndOptionsOfWUDExist: every type and option of What's Up Docker exists, but for
// the types that act.
func TestTypesAndOptionsOfWUDExist(t *testing.T) {
	text, err := os.ReadFile("../../core/config/wud.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		k, name, _ := strings.Cut(fields[0], ".")
		schema, has := schemaOf(kind.Kind(k), name)
		if !has {
			t.Errorf("there is no %s", fields[0])
			continue
		}
		for _, o := range fields[1:] {
			if _, has := schema.Find(o); !has {
				t.Errorf("%s has no option %s", fields[0], o)
			}
		}
	}
}

// TestReadmeLeadsToTypes: the README links to the list of all types, which links to the page of each.
func TestReadmeLeadsToTypes(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(providers, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "(docs/providers/README.md)") {
		t.Error("README.md does not link to docs/providers/README.md")
	}
	pages, err := config.Pages(allTypes())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if p.Name != "README.md" && !strings.Contains(string(list), "("+p.Name+")") {
			t.Errorf("docs/providers/README.md does not link to %s", p.Name)
		}
	}
}
