package policy

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

func layer(name string, values map[string]string) Layer {
	return Layer{Values: values, Source: func(rule string) string { return name + "." + rule }}
}

func TestResolveTakesTheFirstLayer(t *testing.T) {
	var r Resolver
	for range 2 { // read, and remembered
		rules := r.Resolve(
			layer("label", map[string]string{RuleUpdate: "Auto", RuleMinAge: " "}),
			layer("policies.careful", map[string]string{
				RuleUpdate: "approve", RuleMinAge: "7d", RuleWindow: "Sat 02:00-05:00", RuleZone: "Europe/Paris", RuleSkip: "-rc",
			}),
			layer("policy", map[string]string{RuleMinAge: "3d", RuleThreshold: "minor", RuleFreeze: "2026-12-20..2027-01-05"}),
		)
		if len(rules.Problems) > 0 {
			t.Fatalf("problems %v", rules.Problems)
		}
		if rules.Mode != set(Auto, "label.update") || rules.Threshold != set("minor", "policy.threshold") ||
			rules.MinAge != set(7*day, "policies.careful.minage") {
			t.Errorf("rules %+v", rules)
		}
		paris, _ := time.LoadLocation("Europe/Paris")
		open, until := rules.Window.Value.At(time.Date(2026, 11, 21, 2, 30, 0, 0, paris)) // a Saturday
		if !open || !until.Equal(time.Date(2026, 11, 21, 5, 0, 0, 0, paris)) ||
			rules.Window.Source != "policies.careful.window" {
			t.Errorf("the window is open %v until %s, from %s", open, until, rules.Window.Source)
		}
		if frozen, _ := rules.Freeze.Value.At(time.Date(2026, 12, 24, 12, 0, 0, 0, paris)); !frozen {
			t.Error("the freeze is not in force")
		}
		if !rules.Skip.Value.Match("1.0-rc1") || rules.Skip.Value.Match("1.0") {
			t.Error("the pattern does not match")
		}
	}
}

func TestResolveWithoutRules(t *testing.T) {
	rules := new(Resolver).Resolve()
	if rules.Mode != set(Notify, DefaultSource) || rules.Threshold != set("all", DefaultSource) ||
		rules.MinAge.Value != 0 || rules.Window.Value != nil || rules.Freeze.Value != nil || rules.Skip.Value != nil ||
		len(rules.Problems) > 0 {
		t.Errorf("rules %+v", rules)
	}
}

// TestResolveNamesWhatCannotBeRead, with the place and, where one is near, a suggestion.
func TestResolveNamesWhatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		rule string
		text string
		want string
	}{
		{RuleUpdate, "aprove", "did you mean approve?"},
		{RuleMinAge, "soon", "7d"},
		{RuleWindow, "Caturday", "windows are written like"},
		{RuleFreeze, "Christmas", "freezes are written like"},
		{RuleSkip, "(", "regular expression"},
		{RuleZone, "Europe/Pariss", "time zone"},
	} {
		rules := new(Resolver).Resolve(layer("label dogwatch", map[string]string{c.rule: c.text}))
		if len(rules.Problems) != 1 {
			t.Errorf("%s=%.40s: problems %v", c.rule, c.text, rules.Problems)
			continue
		}
		p := rules.Problems[0]
		if p.Source != "label dogwatch."+c.rule || !strings.HasPrefix(p.Text, p.Source+": ") ||
			!strings.Contains(p.Text, c.want) {
			t.Errorf("%s=%.40s: %s: %s", c.rule, c.text, p.Source, p.Text)
		}
	}
}
