package scaffold_test

import (
	"os"
	"path/filepath"
	"regexp"
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
		"triger": `did you mean "trigger"?`, "registries": `did you mean "registry"?`,
		"engine": "kinds: watcher, registry, trigger",
	} {
		k, err := scaffold.ParseKind(word)
		if want == "" && (err != nil || string(k) != strings.ToLower(word)) {
			t.Errorf("%s: got %q, %v", word, k, err)
		} else if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %s", word, err, want)
		}
	}
}

func TestParseLanguage(t *testing.T) {
	for word, want := range map[string]string{
		"go": "go", "golang": "go", "node": "node", "javascript": "node", "JS": "node", "py": "python",
		"Python": "python", "cobol": "cobol",
	} {
		if got := scaffold.ParseLanguage(word); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
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
			p := scaffold.Plugin{
				Kind: k, Name: "lamp", Language: "go", Dir: filepath.Join(t.TempDir(), "new", "lamp"), SDK: source,
			}
			names, err := p.Write()
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"README.md", "build.sh", ".gitignore", "dogwatch.yaml", "go.mod", "main.go",
				"main_test.go"} {
				if !slices.Contains(names, want) {
					t.Errorf("%s: no %s among %q", k, want, names)
				}
			}
			for _, name := range names {
				text, err := os.ReadFile(filepath.Join(p.Dir, name))
				if err != nil {
					t.Fatal(err)
				}
				if left := placeholder.FindString(string(text)); left != "" {
					t.Errorf("%s of a %s still has %s", name, k, left)
				}
			}
		}
	}
}

func TestWriteRefusesExistingFolder(t *testing.T) {
	parent := t.TempDir()
	p := scaffold.Plugin{
		Kind: kind.Trigger, Name: "lamp", Language: "go", Dir: filepath.Join(parent, "trigger-lamp"),
		SDK: scaffold.SDK{Version: "v1.2.3"},
	}
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

// TestFindSDKWithoutFolder: a program that was built here without -trimpath, as by go run, has its checkout.
func TestFindSDKWithoutFolder(t *testing.T) {
	checkout, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if sdk, err := scaffold.FindSDK(""); err != nil || sdk.Dir != checkout {
		t.Errorf("%+v, %v; want %s", sdk, err, checkout)
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
		p := scaffold.Plugin{
			Kind: kind.Trigger, Name: "lamp", Language: "go", Dir: filepath.Join(t.TempDir(), "lamp"), SDK: source,
		}
		if _, err := p.Write(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(p.Dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := write(scaffold.SDK{Version: "v1.2.3"}); !strings.Contains(got,
		"require github.com/dogwatch/dogwatch v1.2.3\n") || strings.Contains(got, "replace") {
		t.Errorf("published: got\n%s", got)
	}
	sdk, err := scaffold.FindSDK(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	got := write(sdk)
	if !strings.HasPrefix(got, "module trigger-lamp\n") || strings.Count(got, "\nreplace ") != 1 ||
		!strings.Contains(got, "\nreplace github.com/dogwatch/dogwatch => "+sdk.Dir) {
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

// TestOtherLanguagesNeedNoCheckout: what they need of the SDK is in this program.
func TestOtherLanguagesNeedNoCheckout(t *testing.T) {
	for language, want := range map[string][]string{
		"node": {"sdk/node/index.js", "sdk/node/README.md", "sdk/proto/v1/plugin.proto", "package.json", "main.js",
			"KIND.js", "KIND.test.js", "conformance.test.js"},
		"python": {"sdk/python/dogwatch_plugin/protocol.binpb", "sdk/python/README.md", "main.py", "KIND.py",
			"test_KIND.py", "test_conformance.py"},
	} {
		for _, k := range kind.Kinds() {
			p := scaffold.Plugin{Kind: k, Name: "bulb", Language: language, Dir: filepath.Join(t.TempDir(), "bulb")}
			names, err := p.Write()
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range append(want, "README.md", "build.sh", ".gitignore", "dogwatch.yaml") {
				if !slices.Contains(names, strings.ReplaceAll(name, "KIND", string(k))) {
					t.Errorf("%s in %s: no %s among %q", k, language, name, names)
				}
			}
			for _, name := range names {
				text, err := os.ReadFile(filepath.Join(p.Dir, name))
				if err != nil {
					t.Fatal(err)
				}
				if left := placeholder.FindString(string(text)); left != "" {
					t.Errorf("%s of %s in %s has %s", name, k, language, left)
				}
				if lines := strings.Count(string(text), "\n"); strings.HasPrefix(name, string(k)+".") && lines > 120 {
					t.Errorf("%s in %s has %d lines, more than 120", name, language, lines)
				}
			}
		}
	}
}

// placeholder is one of a template.
var placeholder = regexp.MustCompile(`@[a-zA-Z]+@`)
