package check

import (
	"strings"
	"testing"
)

func TestLint(t *testing.T) {
	for name, c := range map[string]struct {
		label, value string
		foreign      bool
		wrong, odd   string
	}{
		"right":             {"dogwatch.tag.include", `^\d+$`, false, "", ""},
		"a bad pattern":     {"dogwatch.tag.include", `^(`, false, "label dogwatch.tag.include", ""},
		"neither yes or no": {"wud.watch.digest", "perhaps", false, "label wud.watch.digest", ""},
		"misspelt":          {"dogwatch.tag.inclde", "1", false, "", "did you mean dogwatch.tag.include?"},
		"of other tools":    {"diun.regopt", "x", true, "", "label diun.regopt"},
		"ignored":           {"diun.regopt", "x", false, "", ""},
	} {
		wrong, odd := Lint(map[string]string{c.label: c.value}, c.foreign)
		for got, want := range map[string]string{strings.Join(wrong, "\n"): c.wrong, strings.Join(odd, "\n"): c.odd} {
			if (want == "") != (got == "") || !strings.Contains(got, want) {
				t.Errorf("%s: wrong %q, odd %q", name, wrong, odd)
			}
		}
	}
}
