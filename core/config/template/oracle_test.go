package template

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestMain pins the zone that the oracle was recorded in.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// readJSON reads a file of testdata into v.
func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// variables returns the variables that the oracle was recorded with, in their order.
func variables(t testing.TB) map[string]any {
	t.Helper()
	var raw map[string]json.RawMessage
	readJSON(t, "variables.json", &raw)
	vars := map[string]any{}
	for name, value := range raw {
		converted, err := Value(value)
		if err != nil {
			t.Fatal(err)
		}
		vars[name] = converted
	}
	return vars
}

func render(src string, vars map[string]any) (string, error) {
	tmpl, err := Parse(src)
	if err != nil {
		return "", err
	}
	return tmpl.Render(vars)
}

// TestRenderMatchesJavaScript compares with what node made of the same templates: see testdata/oracle.mjs.
func TestRenderMatchesJavaScript(t *testing.T) {
	var oracle struct {
		Cases []struct{ Template, Want, Throws string }
	}
	readJSON(t, "oracle.json", &oracle)
	vars := variables(t)
	for _, c := range oracle.Cases {
		got, err := render(c.Template, vars)
		want, known := differences[c.Template]
		switch {
		case known && want.refused && err == nil:
			t.Errorf("%s\n got  %q\n want a refusal: %s", c.Template, got, want.why)
		case known && !want.refused && (err != nil || got != want.text):
			t.Errorf("%s\n got  %q, %v\n want %q: %s", c.Template, got, err, want.text, want.why)
		case known:
		case c.Throws != "" && err == nil:
			t.Errorf("%s\n got  %q\n node throws %s", c.Template, got, c.Throws)
		case c.Throws == "" && (err != nil || got != c.Want):
			t.Errorf("%s\n got  %q, %v\n node %q", c.Template, got, err, c.Want)
		}
	}
}

// differences are the places where we depart from JavaScript on purpose.
var differences = map[string]struct {
	text    string
	refused bool
	why     string
}{
	"${name.toUpperCase}": {refused: true, why: "a forgotten () is a mistake"},
	"${container.image.name.split('/').pop}": {
		text: "undefined", why: "pop is not supported, so it is no property either",
	},
	"${(x => x)}":        {refused: true, why: "nobody wants the source of a function in a message"},
	"${[1, , 2].length}": {refused: true, why: "holes in arrays are typing errors"},
	"${012}":             {refused: true, why: "octal numbers are typing errors"},
	"${1_0}":             {refused: true, why: "left out"},
	"${/(?i)a/}":         {text: "/(?i)a/", why: "inline flags come with the engine"},
}
