package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/core/config"
)

// TestConfigurationReferenceIsCurrent: docs/configuration.md is what the schemas say.
func TestConfigurationReferenceIsCurrent(t *testing.T) {
	want, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	if configurationPage() != string(want) {
		t.Error("docs/configuration.md is not current: run go generate ./cmd/dogwatch")
	}
}

// validate runs config validate in a place and an environment without any other configuration.
func validate(t *testing.T, environ map[string]string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), filepath.Join(binaries, "dogwatch"),
		append([]string{"config", "validate"}, args...)...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir}
	for name, value := range environ {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, _ := cmd.CombinedOutput() // what is wrong is in the output
	return string(out)
}

// TestExampleConfiguration: every option of the annotated file exists and is accepted by its plugin.
func TestExampleConfiguration(t *testing.T) {
	file, err := filepath.Abs("../../examples/config/dogwatch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if out := validate(t, nil, "--config", file); !strings.HasPrefix(out, "no problems") {
		t.Error(out)
	}
}

// TestSampleConfiguration: the file that config docs prints is one, and changes nothing.
func TestSampleConfiguration(t *testing.T) {
	text, err := config.Sample(allTypes(), hostOptions())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dogwatch.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := validate(t, nil, "--config", file); !strings.Contains(out, "no components configured") {
		t.Error(out)
	}
}

// TestComposeExamples: what the compose files set means something, and the proxies allow
// what the watcher asks of an engine and nothing else.
func TestComposeExamples(t *testing.T) {
	t.Run("reads", func(t *testing.T) { testComposeExample(t, "compose.yaml", "CONTAINERS", "EVENTS", "IMAGES", "PING") })
	t.Run("updates", func(t *testing.T) {
		testComposeExample(t, "update.yaml", "CONTAINERS", "EVENTS", "IMAGES", "NETWORKS", "PING", "POST")
	})
}

func testComposeExample(t *testing.T, name string, allows ...string) {
	t.Helper()
	text, err := os.ReadFile("../../examples/compose/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct {
			Environment map[string]string
			Healthcheck struct{ Test []string }
		}
	}
	if err := yaml.Unmarshal(text, &compose); err != nil {
		t.Fatal(err)
	}
	environ := compose.Services["dogwatch"].Environment
	// The lines that are commented out must be right, too.
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("$2a$10$1skjScRGJ/sYKX66I41OL.MPFKbgrAnmFfgEgW6FrRXhfTJoSP8nK"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^ *# (DOGWATCH_\w+): (.+)$`).FindAllStringSubmatch(string(text), -1) {
		value, _, _ := strings.Cut(m[2], " #")
		environ[m[1]] = value
	}
	for name := range environ {
		if strings.HasSuffix(name, "__FILE") {
			environ[name] = secret
		}
	}
	if out := validate(t, environ); !strings.HasPrefix(out, "no problems") ||
		!strings.Contains(out, "2 components configured") {
		t.Error(out)
	}
	if got := compose.Services["dogwatch"].Healthcheck.Test; !slices.Equal(got,
		[]string{"CMD", "dogwatch", "healthcheck"}) {
		t.Error(got)
	}
	var allowed []string
	for name, value := range compose.Services["engine"].Environment {
		if value == "1" {
			allowed = append(allowed, name)
		}
	}
	slices.Sort(allowed)
	if !slices.Equal(allowed, allows) {
		t.Errorf("the proxy allows %v, the watcher asks for %v", allowed, allows)
	}
}

// TestDocumentLinks: what the documents link to in this repository exists, headings
// included. Those in docs link to what is beside docs by its address, since who has only
// downloaded them does not have the rest. Pages about migration name tests, for developers.
func TestDocumentLinks(t *testing.T) {
	documents := []string{"../../README.md"}
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("../../docs", pattern))
		if err != nil || len(found) == 0 {
			t.Fatal("no documents: ", err)
		}
		documents = append(documents, found...)
	}
	root, docs := filepath.Join("..", ".."), filepath.Join("..", "..", "docs")
	link := regexp.MustCompile(`\]\((?:https://github\.com/dogwatch/dogwatch/(tree|blob)/main/)?([^)#:]+)(#[^)]*)?\)`)
	for _, document := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target := filepath.Join(filepath.Dir(document), m[2])
			if m[1] != "" {
				target = filepath.Join(root, m[2])
			} else if strings.HasPrefix(document, docs) && !strings.HasPrefix(target, docs) &&
				filepath.Base(filepath.Dir(document)) != "migrate" {
				t.Errorf("%s links to %s, which is not in docs: give its address on GitHub", document, m[2])
			}
			info, err := os.Stat(target)
			switch {
			case err != nil:
				t.Errorf("%s links to %s, which does not exist", document, m[2])
			case m[1] != "" && info.IsDir() != (m[1] == "tree"):
				t.Errorf("%s links to %s as %s: a folder is tree, and a file blob", document, m[2], m[1])
			case m[3] != "" && !slices.Contains(headings(t, target), m[3]):
				t.Errorf("%s links to %s%s, which is no heading there", document, m[2], m[3])
			}
		}
	}
}

// headings returns the links to the headings of a Markdown file.
func headings(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var links []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		words := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		links = append(links, "#"+strings.ReplaceAll(words, " ", "-"))
	}
	return links
}
