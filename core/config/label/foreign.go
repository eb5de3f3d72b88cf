package label

import (
	"fmt"
	"iter"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/option"
)

// Translation is what a label of another tool means here.
type Translation struct {
	// Name is our label without prefix; "" when none means the same.
	Name  string
	Value string
	// Note says why nothing means the same, or what is different; "" when
	// nothing is to be said.
	Note string
}

// family is another tool and its labels.
type family struct {
	prefix string
	// translate wants the full name of a label of the family.
	translate func(name, value string) Translation
}

// families returns the tools, those whose labels win first.
func families() []family {
	return []family{
		{diunPrefix, translateDiun},
		{drydockPrefix, translateDrydock},
		{watchtowerPrefix, translateWatchtower},
		{keelPrefix, translateKeel},
	}
}

// labelsIn returns the names of the labels that belong to the family.
func (f family) labelsIn(labels map[string]string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range labels {
			if f.owns(name) && !yield(name) {
				return
			}
		}
	}
}

// owns reports whether a label belongs to the family; the name of the tool
// alone is one, too.
func (f family) owns(name string) bool {
	if !strings.HasPrefix(name, strings.TrimSuffix(f.prefix, ".")) {
		return false
	}
	rest, ours := strings.CutPrefix(name+".", f.prefix)
	return ours && (rest == "" && f.prefix == watchtowerPrefix || rest != "" && !strings.HasPrefix(rest, "."))
}

// Translate says what a label of another tool means here. It is false for
// labels of no such tool; wud.* and dogwatch.* are none, and in table.go.
func Translate(name, value string) (Translation, bool) {
	for _, f := range families() {
		if f.owns(name) {
			return f.translate(name, value), true
		}
	}
	return Translation{}, false
}

// Rank orders the tools of labels: of two labels that say the same thing the
// one with the lower rank counts. The rank of a label of no known tool is -1.
func Rank(name string) int {
	for i, prefix := range []string{Prefix, WUDPrefix} {
		if strings.HasPrefix(name, prefix) {
			return i
		}
	}
	for i, f := range families() {
		if f.owns(name) {
			return 2 + i
		}
	}
	return -1
}

// same translates a label that differs in its name only.
func same(name, value string) Translation { return Translation{Name: name, Value: value} }

// none says why nothing means the same.
func none(note string) Translation { return Translation{Note: "has no effect: " + note} }

// misspelt is for labels that the tool itself does not have.
func misspelt(prefix, name string, known ...string) Translation {
	return Translation{Note: "has no effect: it is not known" + suggestion(prefix, name, known)}
}

// flag reads a value that is true or false; ok is false for any other.
func flag(value string) (on, ok bool) {
	v, err := option.Option{Type: option.Bool}.Parse(value)
	on, _ = v.(bool)
	return on, err == nil
}

func notFlag(value string) Translation {
	return none(fmt.Sprintf("want true or false, got %.40q", value))
}

// literal writes a text as a template that yields it.
func literal(text string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "${", `\${`).Replace(text)
}
