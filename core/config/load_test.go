package config

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite golden files")

// memory opens the files of a map; absolute names are below its root.
func memory(files map[string]string) func(string) (fs.File, error) {
	m := fstest.MapFS{}
	for name, content := range files {
		m[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return func(name string) (fs.File, error) { return m.Open(strings.TrimPrefix(name, "/")) }
}

// TestLoadCases loads the files and variables of each archive and compares all
// that is understood and reported.
func TestLoadCases(t *testing.T) {
	archives, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no cases", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
			}
			c, err := Load(Input{
				Environ:      append(strings.Split(strings.TrimSpace(files["env"]), "\n"), "HOME=/home/ana"),
				WatcherTypes: []string{"docker", "podman"},
				Open:         memory(files),
			})
			got := dump(c, err)
			want := files["want"]
			if *update {
				archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
				archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func dump(c *Config, err error) string {
	var b strings.Builder
	if err != nil {
		b.WriteString("refused\n\n")
	}
	for _, p := range c.Problems {
		fmt.Fprintf(&b, "%s: %s\n", p.Level, p)
	}
	b.WriteString("\n")
	for _, o := range settingsSchema() {
		if source, set := c.sources[o.Name]; set || o.Name == "store.path" || o.Name == "plugins.dir" {
			fmt.Fprintf(&b, "%s = %v (%s)\n", o.Name, c.values[o.Name], source)
		}
	}
	for _, component := range slices.Concat(c.Components, c.Auth) {
		fmt.Fprintf(&b, "\n%s\n", component.Key())
		for _, name := range slices.Sorted(maps.Keys(component.Options)) {
			v := component.Options[name]
			fmt.Fprintf(&b, "  %s = %q (%s)\n", name, v.V, v.Source)
		}
		for _, p := range component.Problems {
			fmt.Fprintf(&b, "  %s: %s\n", p.Level, p)
		}
	}
	return b.String()
}
