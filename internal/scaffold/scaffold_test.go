package scaffold_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/scaffold"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// The folders that Write makes are built, tested and run in cmd/e2e.

func TestParseKind(t *testing.T) {
	for word, want := range map[string]string{
		"trigger": "", "Watcher": "", "REGISTRY": "",
		"triger": `did you mean "trigger"?`, "registries": `did you mean "registry"?`, "engine": "kinds: watcher, registry, trigger",
	} {
		k, err := scaffold.ParseKind(word)
		if want == "" && (err != nil || string(k) != strings.ToLower(word)) {
			t.Errorf("%s: got %q, %v", word, k, err)
		} else if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %s", word, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct{ name, language, want string }{
		{"lamp", "go", ""},
		{"lamp", "node", ""},
		{"lamp", "python", ""},
		{"lamp", "pyhton", `did you mean "python"?`},
		{"lamp2", "go", ""},
		{"", "go", `"" cannot be the name`},
		{"My_Lamp", "go", `did you mean "mylamp"?`},
		{"2lamp", "go", `did you mean "lamp"?`},
		{"../../etc/passwd", "go", `did you mean "etcpasswd"?`},
		{"lämpchen", "go", `did you mean "lmpchen"?`},
		{strings.Repeat("a", 33), "go", `did you mean "` + strings.Repeat("a", 32) + `"?`},
		{"smtp", "go", "trigger type smtp is built in"},
		{"lamp", "goo", `did you mean "go"?`},
		{"lamp", "cobol", `unknown language "cobol"`},
	} {
		p := scaffold.Plugin{Kind: kind.Trigger, Name: c.name, Language: c.language}
		err := p.Check([]string{"smtp"})
		if c.want == "" && err != nil {
			t.Errorf("%q in %q: %v", c.name, c.language, err)
		} else if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q in %q: got %v, want %s", c.name, c.language, err, c.want)
		}
	}
}

func TestWriteLeavesNoPlaceholder(t *testing.T) {
	sdk, err := scaffold.FindSDK(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []scaffold.SDK{sdk, {Version: "v1.2.3"}} {
		for _, k := range kind.Kinds() {
			p := scaffold.Plugin{Kind: k, Name: "lamp", Language: "go", Dir: filepath.Join(t.TempDir(), "new", "lamp"), SDK: source}
			names, err := p.Write()
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"README.md", "build.sh", ".gitignore", "dogwatch.yaml", "go.mod", "main.go", "main_test.go"} {
				if !slices.Contains(names, want) {
					t.Errorf("%s: no %s among %q", k, want, names)
				}
			}
			for _, name := range names {
				text, err := os.ReadFile(filepath.Join(p.Dir, name))
				if err != nil {
					t.Fatal(err)
				}
				for _, word := range []string{"@id@", "@kind@", "@name@", "@NAME@", "@about@", "@yaml@", "@env@", "@options@", "@test@", "@sdk@"} {
					if strings.Contains(string(text), word) {
						t.Errorf("%s of a %s still has %s", name, k, word)
					}
				}
			}
		}
	}
}

func TestWriteRefusesExistingFolder(t *testing.T) {
	parent := t.TempDir()
	p := scaffold.Plugin{Kind: kind.Trigger, Name: "lamp", Language: "go", Dir: filepath.Join(parent, "trigger-lamp"), SDK: scaffold.SDK{Version: "v1.2.3"}}
	if _, err := p.Write(); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(p.Dir, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write(); err == nil || !strings.Contains(err.Error(), "trigger-lamp2") {
		t.Errorf("got %v, want another folder suggested", err)
	}
	after, err := os.Stat(filepath.Join(p.Dir, "main.go"))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the folder was changed (%v)", err)
	}
	p.Dir = parent
	if _, err := p.Write(); err == nil || !strings.Contains(err.Error(), filepath.Join(parent, "trigger-lamp")) {
		t.Errorf("got %v, want a folder inside suggested", err)
	}
	if left, err := filepath.Glob(filepath.Join(parent, ".plugin-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestFindSDKRefusesOtherFolders(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join("..", "..", "examples", "trigger-file"), "/no/such/folder"} {
		if _, err := scaffold.FindSDK(dir); err == nil || !strings.Contains(err.Error(), "is no checkout of Dogwatch") {
			t.Errorf("%s: got %v", dir, err)
		}
	}
}

// TestModuleFile holds both forms of go.mod: with the SDK in a folder, and published.
func TestModuleFile(t *testing.T) {
	write := func(source scaffold.SDK) string {
		p := scaffold.Plugin{Kind: kind.Trigger, Name: "lamp", Language: "go", Dir: filepath.Join(t.TempDir(), "lamp"), SDK: source}
		if _, err := p.Write(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(p.Dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := write(scaffold.SDK{Version: "v1.2.3"}); !strings.Contains(got, "require github.com/dogwatch/dogwatch v1.2.3\n") || strings.Contains(got, "replace") {
		t.Errorf("published: got\n%s", got)
	}
	sdk, err := scaffold.FindSDK(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	got := write(sdk)
	if !strings.HasPrefix(got, "module trigger-lamp\n") || strings.Count(got, "\nreplace ") != 1 || !strings.Contains(got, "\nreplace github.com/dogwatch/dogwatch => "+sdk.Dir) {
		t.Errorf("in a folder: got\n%s", got)
	}
}

// TestModuleWithinTheCheckout: it can be committed, since it says nothing of the machine.
func TestModuleWithinTheCheckout(t *testing.T) {
	checkout := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                       "module github.com/dogwatch/dogwatch\n",
		"examples/trigger-file/go.mod": "module github.com/dogwatch/dogwatch/examples/trigger-file\n\nreplace github.com/dogwatch/dogwatch => ../..\n",
		"examples/trigger-file/go.sum": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(checkout, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(checkout, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sdk, err := scaffold.FindSDK(checkout)
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		filepath.Join(checkout, "examples", "trigger-lamp"): "../..",
		filepath.Join(t.TempDir(), "trigger-lamp"):          checkout,
		checkout + "-other":                                 checkout,
	} {
		p := scaffold.Plugin{Kind: kind.Trigger, Name: "lamp", Language: "go", Dir: dir, SDK: sdk}
		if _, err := p.Write(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil || !strings.HasSuffix(string(text), "\nreplace github.com/dogwatch/dogwatch => "+want+"\n") {
			t.Errorf("%s: want %s, got %v\n%s", dir, want, err, text)
		}
	}
}

func TestCheckRefusesLanguageOfOtherKinds(t *testing.T) {
	p := scaffold.Plugin{Kind: kind.Registry, Name: "feed", Language: "node"}
	if err := p.Check(nil); err == nil || !strings.Contains(err.Error(), "a registry in node is not offered yet (languages of a registry: go)") {
		t.Errorf("got %v", err)
	}
}

// TestWriteCopiesExampleOfLanguage makes a plugin from a checkout with an example and its
// helper: the example gets the names of the plugin, the helper stays as it is.
func TestWriteCopiesExampleOfLanguage(t *testing.T) {
	checkout := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                                        "module github.com/dogwatch/dogwatch\n",
		"examples/trigger-node/main.js":                 "require('../../sdk/node'); lamp: 'trigger-node'",
		"examples/trigger-node/package.json":            `{"name": "trigger-node", "integrity": "lamp"}`,
		"examples/trigger-node/README.md":               "of the example",
		"examples/trigger-node/node_modules/a/index.js": "not ours",
		"sdk/node/index.js":                             "lamp",
		"sdk/proto/v1/plugin.proto":                     "lamp",
		"sdk/proto/v1/plugin.pb.go":                     "package pluginv1",
	} {
		path := filepath.Join(checkout, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sdk, err := scaffold.FindSDK(checkout)
	if err != nil {
		t.Fatal(err)
	}
	p := scaffold.Plugin{Kind: kind.Trigger, Name: "bulb", Language: "node", Dir: filepath.Join(t.TempDir(), "bulb"), SDK: sdk}
	names, err := p.Write()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"README.md", "dogwatch.yaml", "main.js", "package.json", "sdk/node/index.js", "sdk/proto/v1/plugin.proto"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	for name, want := range map[string]string{
		"main.js":           "require('./sdk/node'); bulb: 'trigger-bulb'",
		"package.json":      `{"name": "trigger-bulb", "integrity": "lamp"}`,
		"sdk/node/index.js": "lamp",
	} {
		if got, err := os.ReadFile(filepath.Join(p.Dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, want)
		}
	}
	p.Dir, p.Language = filepath.Join(t.TempDir(), "bulb"), "python"
	if _, err := p.Write(); err == nil || !strings.Contains(err.Error(), "which the checkout in --sdk must have") {
		t.Errorf("of a checkout without the example: got %v", err)
	}
	p.SDK = scaffold.SDK{Version: "v1.2.3"}
	if _, err := p.Write(); err == nil || !strings.Contains(err.Error(), "say where one is with --sdk") {
		t.Errorf("without a checkout: got %v", err)
	}
}
