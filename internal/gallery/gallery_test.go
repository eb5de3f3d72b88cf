package gallery_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/gallery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

const root = "../.."

// TestPageIsCurrent: docs/plugins/gallery.md is what its references say, and they lead somewhere.
func TestPageIsCurrent(t *testing.T) {
	plugins, err := gallery.Read(root+"/docs/plugins/gallery.yaml", root)
	if err != nil {
		t.Fatal(err)
	}
	page := gallery.Page(plugins)
	text, err := os.ReadFile(root + "/docs/plugins/gallery.md")
	if err != nil || string(text) != page {
		t.Errorf("docs/plugins/gallery.md is not current: run go generate ./cmd/dogwatch (%v)", err)
	}
	links := regexp.MustCompile(`\]\(https://github.com/dogwatch/dogwatch/(?:tree|blob)/main/([^)#]*)(#[^)]*)?\)`).FindAllStringSubmatch(page, -1)
	if len(links) != len(plugins) {
		t.Errorf("the page has %d links to %d plugins", len(links), len(plugins))
	}
	for _, link := range links {
		readme, err := os.ReadFile(filepath.Join(root, link[1], "README.md"))
		if err != nil || !strings.Contains(string(readme), "\n## Build and install\n") {
			t.Errorf("%s has no README.md that says how to build it (%v)", link[1], err)
		}
	}
}

// TestExamplesAreListed: each plugin of this repository that is a module is in the gallery, and
// its README has its options.
func TestExamplesAreListed(t *testing.T) {
	plugins, err := gallery.Read(root+"/docs/plugins/gallery.yaml", root)
	if err != nil {
		t.Fatal(err)
	}
	modules, err := filepath.Glob(root + "/examples/*/go.mod")
	if err != nil || len(modules) == 0 {
		t.Fatalf("found %q, %v", modules, err)
	}
	for _, module := range modules {
		dir := filepath.Dir(module)
		source := "examples/" + filepath.Base(dir)
		i := slices.IndexFunc(plugins, func(p gallery.Plugin) bool { return p.Source == source })
		if i < 0 {
			t.Errorf("%s is not in docs/plugins/gallery.yaml", source)
			continue
		}
		p := plugins[i]
		code, err := os.ReadFile(filepath.Join(dir, "main.go"))
		if err != nil || !strings.Contains(string(code), string(p.Kind)+`.Define("`+p.Type+`",`) {
			t.Errorf("%s does not define %s.%s (%v)", source, p.Kind, p.Type, err)
		}
		readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, option := range regexp.MustCompile("`option:\"([a-z0-9.]+)").FindAllStringSubmatch(string(code), -1) {
			if !strings.Contains(string(readme), "`"+option[1]+"`") {
				t.Errorf("README.md of %s lacks the option %s", source, option[1])
			}
		}
	}
}

// requirement is a line of a go.mod, with a module and its version, or of a go.sum, with the hash of these.
var requirement = regexp.MustCompile(`(?m)^(?:\t|require )?([a-z0-9]\S*/\S+(?: v\S+)?) (v\S+|h1:\S+)`)

// TestExampleModulesAreAlike: what several require is of the same version, so that a new one comes to all of them.
func TestExampleModulesAreAlike(t *testing.T) {
	modules, err := filepath.Glob(root + "/examples/*/go.mod")
	if err != nil || len(modules) < 2 {
		t.Fatalf("found %q, %v", modules, err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		first := map[string]string{}
		for _, module := range modules {
			text, err := os.ReadFile(filepath.Join(filepath.Dir(module), name))
			if err != nil {
				t.Fatal(err)
			}
			all := requirement.FindAllStringSubmatch(string(text), -1)
			if len(all) < 10 {
				t.Fatalf("%s of %s requires only %q", name, filepath.Dir(module), all)
			}
			for _, r := range all {
				if first[r[1]] == "" {
					first[r[1]] = r[2]
				}
				if first[r[1]] != r[2] {
					t.Errorf("%s of %s requires %s %s, and another one %s", name, filepath.Dir(module), r[1], r[2], first[r[1]])
				}
			}
		}
	}
}

const lamp = `- name: lamp
  kind: trigger
  type: lamp
  does: lights a lamp
  license: Apache-2.0 OR MIT
  source: https://git.example.org/ana/lamp
  install: ghcr.io/ana/lamp:1
  sdk: 2.0.0
`

const shelf = `- name: watcher-shelf
  kind: watcher
  type: shelf
  does: looks at a shelf
  license: MIT
  source: shelf
`

// read reads references in a repository with the plugin shelf and changes to its files.
func read(t *testing.T, references string, files map[string]string) ([]gallery.Plugin, error) {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{
		"gallery.yaml": references, "shelf/main.go": "package main",
		"shelf/README.md": "watcher:\n  shelf:\n    main:\n\nDOGWATCH_WATCHER_SHELF_MAIN_URL",
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if text == "" {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return gallery.Read(filepath.Join(dir, "gallery.yaml"), dir)
}

func TestPageIsSorted(t *testing.T) {
	plugins, err := read(t, lamp+strings.NewReplacer("lamp", "bell").Replace(lamp)+shelf, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range plugins {
		names = append(names, p.Name)
	}
	if want := []string{"watcher-shelf", "bell", "lamp"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	page := gallery.Page(plugins)
	for _, want := range []string{
		"## Watchers\n", "## Triggers\n",
		"| [watcher-shelf](https://github.com/dogwatch/dogwatch/tree/main/shelf) | `watcher.shelf` | looks at a shelf | `watcher-shelf` | MIT | " + sdk.Version + " |\n",
		"| [lamp](https://git.example.org/ana/lamp) | `trigger.lamp` | lights a lamp | `ghcr.io/ana/lamp:1` | Apache-2.0 OR MIT | 2.0.0 |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "## Registr") {
		t.Error("the page has a heading without plugins")
	}
	registries := gallery.Page([]gallery.Plugin{{Kind: kind.Registry}})
	if !strings.Contains(registries, "## Registries\n") {
		t.Errorf("got %s", registries)
	}
}

// TestBrokenReferencesAreRefused: with the name of the plugin and the key.
func TestBrokenReferencesAreRefused(t *testing.T) {
	with := func(text, old, to string) string { return strings.Replace(text, old, to, 1) }
	for what, c := range map[string]struct {
		references string
		files      map[string]string
		want       string
	}{
		"no name":     {with(lamp, "name: lamp", "name:"), nil, `reference 1, "": name: want`},
		"unknown key": {lamp + "  autor: ana\n", nil, "autor"},
		"unknown kind": {with(lamp, "kind: trigger", "kind: triger"), nil,
			`"lamp": kind: want one of [watcher registry trigger], got "triger"`},
		"no type":              {with(lamp, "type: lamp", "type: Lamp-2"), nil, `"lamp": type: want`},
		"says nothing":         {with(lamp, "does: lights a lamp", "does:"), nil, `"lamp": does: want`},
		"breaks the table":     {with(lamp, "lights a lamp", "lights | lamps"), nil, `"lamp": does: want`},
		"no license":           {with(lamp, "license: Apache-2.0 OR MIT", "license: see README"), nil, `"lamp": license: want`},
		"no SDK":               {with(lamp, "sdk: 2.0.0", "sdk: latest"), nil, `"lamp": sdk: want`},
		"source in clear":      {with(lamp, "https://git", "http://git"), nil, `"lamp": source: want`},
		"user in source":       {with(lamp, "https://git", "https://ana:s3cret@git"), nil, `"lamp": source: want`},
		"install with code":    {with(lamp, "lamp:1", "lamp:1`x"), nil, `"lamp": install: want`},
		"install of a file":    {with(lamp, "ghcr.io/ana/lamp:1", "/etc/lamp"), nil, `"lamp": install: want`},
		"install of a page":    {with(lamp, "ghcr.io", "https://ghcr.io"), nil, `"lamp": install: want`},
		"changes the terminal": {with(lamp, "does: lights a lamp", `does: "\e[2Jlights"`), nil, `"lamp": does: want`},
		"own install":          {shelf + "  install: ghcr.io/ana/shelf:1\n", nil, `"watcher-shelf": sdk and install: leave`},
		"the same type": {lamp + with(lamp, "name: lamp", "name: other"), nil,
			`"other": type: trigger.lamp is that of "lamp"`},
		"own SDK": {shelf + "  sdk: 2.0.0\n", nil, `"watcher-shelf": sdk and install: leave them out`},
		"no folder": {with(shelf, "source: shelf", "source: shelves"), nil,
			`"watcher-shelf": source: there is no program in the folder "shelves"`},
		"no source": {with(shelf, "source: shelf", "source:"), map[string]string{"main.go": "package main"},
			`source: there is no program in the folder ""`},
		"no program": {shelf, map[string]string{"shelf/main.go": ""}, `source: there is no program`},
		"no README":  {shelf, map[string]string{"shelf/README.md": ""}, `source: the folder shelf has no README.md`},
		"no YAML": {shelf, map[string]string{"shelf/README.md": "DOGWATCH_WATCHER_SHELF_MAIN_URL"},
			`README.md of shelf lacks its YAML`},
		"no variables": {shelf, map[string]string{"shelf/README.md": "watcher:\n  shelf:\n"},
			`README.md of shelf lacks its variables ("DOGWATCH_WATCHER_SHELF_")`},
	} {
		if _, err := read(t, c.references, c.files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", what, err, c.want)
		}
	}
}
