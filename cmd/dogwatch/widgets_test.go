package main

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// blocks returns the blocks of code of a language in a Markdown file.
func blocks(text, language string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// TestWidgetExamples: what docs/widgets.md configures can be read, asks for addresses
// that there are, and reads fields and metrics that there are.
func TestWidgetExamples(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page := read("docs/widgets.md")
	var document struct {
		Paths      map[string]any
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := yaml.Unmarshal([]byte(read("core/serve/api/openapi.yaml")), &document); err != nil {
		t.Fatal(err)
	}
	fields := document.Components.Schemas["Summary"].Properties

	configurations := blocks(page, "yaml")
	if len(configurations) < 7 {
		t.Errorf("only %d configurations were found", len(configurations))
	}
	for _, text := range configurations {
		var any any
		if err := yaml.Unmarshal([]byte(text), &any); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
	var example map[string]any
	if err := json.Unmarshal([]byte(blocks(page, "json")[0]), &example); err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(example)), slices.Sorted(maps.Keys(fields)); !slices.Equal(got, want) {
		t.Errorf("the example has %v, the summary %v", got, want)
	}
	sum := 0.0
	for _, kind := range []string{"major", "minor", "patch", "prerelease", "digest", "other"} {
		sum += example[kind].(float64)
	}
	if example["updates"] != sum {
		t.Errorf("the example has %v updates of %v kinds", example["updates"], sum)
	}
	used := regexp.MustCompile(`field: (\w+)|value_json\.(\w+)|\.JSON\.\w+ "(\w+)"`).FindAllStringSubmatch(page, -1)
	for _, m := range used {
		if name := m[1] + m[2] + m[3]; fields[name] == nil {
			t.Errorf("%s: the summary has no field %q", m[0], name)
		}
	}
	if len(used) < 8 {
		t.Errorf("only %d fields were found", len(used))
	}
	for _, m := range regexp.MustCompile(`http://dogwatch:3000(/[\w./]*)`).FindAllStringSubmatch(page, -1) {
		if document.Paths[m[1]] == nil {
			t.Errorf("%s is no address", m[0])
		}
	}
	exposed := read("core/serve/metrics/testdata/exposition.txt")
	for _, name := range regexp.MustCompile(`dogwatch_(containers|checks|deliveries)\w*`).FindAllString(page, -1) {
		if !strings.Contains(exposed, "# TYPE "+name+" ") {
			t.Errorf("there is no metric %s", name)
		}
	}
}
