package tag

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// The reference's table of transforms; the results that differ are marked.
func TestTransform(t *testing.T) {
	for _, c := range []struct{ formula, tag, want string }{
		{`^(\d+\.\d+\.\d+-\d+)-.*$ => $1`, "1.0.0-99-7b", "1.0.0-99"},
		{`^v(.*)$=>$1`, "v1.2", "1.2"},
		{`^v(.*)$  =>   $1.0`, "v1.2", "1.2.0"},
		{`^(\d+)_(\d+)$ => $1.$2.0`, "3_14", "3.14.0"},
		{`^(\d+)_(\d+)$ => $2.$1`, "3_14", "14.3"},
		{`^(.*)-.*$ => $1$1`, "1-2", "11"},
		{`^(a)?(.*)$ => $1-$2`, "bc", "-bc"}, // WUD: "undefined-bc"
		{`^(.*)$ => $2`, "1.2", ""},          // WUD: "undefined"
		{`^(.*)$ => $0`, "1.2", "1.2"},
		{`^(.)(.)(.)(.)(.)(.)(.)(.)(.)(.) => $10-$1`, "abcdefghij", "j-a"},
		{`^(.)(.)(.)(.)(.)(.)(.)(.)(.)(.) => $1-$10`, "abcdefghij", "a-j"}, // WUD: "a-a0"
		{`^(.*)$ => $1 => $1`, "1.2", "1.2"},
		{`^x(.*) => $1`, "1.2", "1.2"},
		{`^(.*)$ => fixed`, "1.2", "1.2"},
		{`nope`, "1.2", "1.2"},
		{``, "1.2", "1.2"},

		{`(\d+) => $1`, "v12-34", "12"}, // unanchored, first match
		{`^(.*)$ => $$1$`, "1", "$1$"},
		{`^(.*)$ => $1 `, "1", "1 "},
		{`^(.*)$ => $99999999999999999999`, "1", ""},
		{`^(?<v>.)(.)$ => $1$2`, "ab", "ab"},
		{`^(?=1)(?<v>.)(.)(x)?$ => $1-$2-$3-$4`, "12", "1-2--"},
	} {
		if got := mustCompile(t, Rules{Transform: c.formula}).Transform(c.tag); got != c.want {
			t.Errorf("%q: %q becomes %q, want %q", c.formula, c.tag, got, c.want)
		}
	}
	// WUD ignores a formula with a bad expression; here it is an error.
	if _, err := Compile(Rules{Transform: `( => $1`}); err == nil {
		t.Error("a bad expression compiles")
	}
}

// One slash is a character like any other, though no tag has it; two are a slip.
func TestFilterHintsAtSlashesAroundPattern(t *testing.T) {
	for pattern, want := range map[string]string{"/^1/": "without slashes", "/": "", "/1": "", "1/": ""} {
		f, err := compileFilter("include", pattern)
		if err != nil {
			t.Fatal(err)
		}
		if hint := phrase.English(f.hint()); (want == "") != (hint == "") || !strings.Contains(hint, want) {
			t.Errorf("%q: %q, want %q", pattern, hint, want)
		}
	}
}

func TestSelectWarnings(t *testing.T) {
	for _, c := range []struct {
		rules   Rules
		current string
		tags    []string
		want    string // part of the only warning; "" for none
	}{
		{Rules{}, "1.0", []string{"1.0", "1.1"}, ""},
		{Rules{}, "latest", nil, ""},
		{Rules{}, "1.0", nil, "no tag is left"},
		{Rules{Include: "^nomatch$"}, "1.0", []string{"1.0", "1.1"}, "no tag is left"},
		{Rules{}, "v1.0", []string{"1.0", "1.1"}, `no tag begins with "v"`},
		{Rules{Transform: "nope"}, "1.0", []string{"1.0"}, "is ignored"},
		{Rules{Transform: "^v(.*)$ => $1"}, "1.0", []string{"1.0"}, "does not match the current tag"},
		{Rules{Include: `^15\.\d+$`}, "15.15-alpine", []string{"15.16"}, "tags of other families are offered"},
		{Rules{Include: `\\d`}, "latest", []string{"1.0"}, "backslash"},
	} {
		sel, err := mustCompile(t, c.rules).Select(t.Context(), c.current, c.tags)
		if err != nil {
			t.Fatal(err)
		}
		text := phrase.English(phrase.Join("; ", sel.Warnings...))
		if (c.want == "") != (text == "") || !strings.Contains(text, c.want) {
			t.Errorf("%+v on %q: warnings %q, want %q", c.rules, c.current, text, c.want)
		}
	}
}
