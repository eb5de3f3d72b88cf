package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// TestCorpusVariables gives each variable that was found in public deployments
// of What's Up Docker, with each of its values, to the real types, and compares
// what they make of it: a value, or words that say what is wrong.
func TestCorpusVariables(t *testing.T) {
	data, err := os.ReadFile("../../core/config/testdata/corpus/env.json")
	if err != nil {
		t.Fatal(err)
	}
	var corpus struct {
		Variables []struct {
			Name   string
			Values []struct{ Value string }
		}
	}
	if err := json.Unmarshal(data, &corpus); err != nil || len(corpus.Variables) < 150 {
		t.Fatalf("%d variables, %v", len(corpus.Variables), err)
	}
	var got strings.Builder
	for _, v := range corpus.Variables {
		values := []string{sampleValue(v.Name)}
		if len(v.Values) > 0 {
			values = nil
		}
		for _, known := range v.Values {
			if value := strings.ReplaceAll(known.Value, "$$", "$"); !strings.HasPrefix(known.Value, "${") {
				values = append(values, value)
			}
		}
		for _, value := range values {
			outcome := variableOutcome(strings.ReplaceAll(v.Name, "{name}", "MAIN"), value)
			if outcome == "" {
				t.Errorf("%s=%s: no outcome", v.Name, value)
			}
			fmt.Fprintf(&got, "%s=%s\n%s", v.Name, value, outcome)
		}
	}
	compareGolden(t, "testdata/corpus-variables.golden", got.String())
}

// sampleValue is a value of ours for a variable whose values the corpus does not keep.
func sampleValue(name string) string {
	for _, sample := range []struct{ end, value string }{
		{"HASS_DISCOVERY", "true"}, {"MQTT_{name}_DISCOVERY", "true"},
		{"DISCOVERY", "https://sso.example.org/.well-known/openid-configuration"},
		{"MQTT_{name}_URL", "mqtt://broker.example.org"}, {"_URL", "https://example.org"},
		{"_FROM", "dog@example.org"}, {"_FROM_ADDRESS", "dog@example.org"}, {"_TO", "ana@example.org"},
		{"JITTER", "60000"}, {"WATCHATSTART", "true"}, {"REDIRECT", "true"},
		{"PRIORITY", "3"}, {"AUTH", "YW5hOng="}, {"__FILE", "/run/secrets/x"}, {"SIMPLEBODY", "${container.name}"},
	} {
		if strings.HasSuffix(name, sample.end) {
			return sample.value
		}
	}
	return "x"
}

// variableOutcome says what a variable means, one thing a line.
func variableOutcome(name, value string) string {
	open := func(file string) (fs.File, error) {
		return fstest.MapFS{"run/secrets/x": {Data: []byte("secret\n")}}.Open(strings.TrimPrefix(file, "/"))
	}
	cfg, err := config.Load(config.Input{
		Environ: []string{"HOME=/h", name + "=" + value}, WatcherTypes: watcherTypes(), DockerOptions: dockerOptions(),
		Open: open,
	})
	var b strings.Builder
	problems := cfg.Problems
	if err != nil {
		fmt.Fprintln(&b, "\trefused")
	}
	for _, c := range slices.Concat(cfg.Components, cfg.Auth) {
		schema, known := schemaOf(c.Kind, c.Type)
		if !known {
			fmt.Fprintf(&b, "\tunknown type %s.%s\n", c.Kind, c.Type)
			continue
		}
		_, found := c.Resolve(schema)
		problems = append(problems, found...)
	}
	for _, s := range config.List(cfg, schemaOf, false) {
		if strings.Contains(s.Source, name) && !strings.Contains(s.Source, "unknown option") &&
			!strings.Contains(s.Source, "not accepted") {
			fmt.Fprintf(&b, "\t%s = %v\n", s.Path, s.Value)
		}
	}
	for _, p := range problems {
		if strings.Contains(p.Source, name) {
			fmt.Fprintf(&b, "\t%s: %s\n", p.Level, p)
		}
	}
	return b.String()
}

// TestOptionsOfWUDAccepted sets every option of What's Up Docker, in every type, to a
// valid value: each must be an option here, too, and accept it. The keys that
// have a default there must have it here, except where the list says otherwise.
func TestOptionsOfWUDAccepted(t *testing.T) {
	data, err := os.ReadFile("testdata/wud-options.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		seen++
		variable, rest, _ := strings.Cut(line, "=")
		value, fallback, hasDefault := strings.Cut(rest, " # default ")
		for _, name := range []string{"WUD_" + variable, "wud_" + strings.ToLower(variable), "DOGWATCH_" + variable} {
			path, problem := config.Variable(name, value, watcherTypes(), schemaOf)
			if problem != nil || path == "" {
				t.Errorf("%s=%s: %q, %v", name, value, path, problem)
				continue
			}
			if hasDefault {
				checkDefault(t, path, fallback)
			}
		}
	}
	if seen < 150 {
		t.Errorf("only %d options", seen)
	}
}

func checkDefault(t *testing.T, path, want string) {
	t.Helper()
	parts := strings.SplitN(path, ".", 4)
	var got string
	if len(parts) == 4 && slices.Contains(kind.Kinds(), kind.Kind(parts[0])) {
		schema, _ := schemaOf(kind.Kind(parts[0]), parts[1])
		switch o, _ := schema.Find(parts[3]); {
		case o.Default != nil:
			got = *o.Default
		case o.Type == option.Bool:
			got = "false"
		}
	} else {
		cfg, _ := config.Load(config.Input{
			Environ: []string{"HOME=/h"}, Open: func(string) (fs.File, error) { return nil, fs.ErrNotExist },
		})
		for _, s := range config.List(cfg, schemaOf, true) {
			if s.Path == path {
				got = fmt.Sprint(s.Value)
			}
		}
	}
	if got != want {
		t.Errorf("the default of %s is %q, want %q", path, got, want)
	}
}

// compareGolden compares got with a file, or rewrites it with -update.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s", name, got)
	}
}
