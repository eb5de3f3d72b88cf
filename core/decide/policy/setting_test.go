package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
)

func TestRulesSet(t *testing.T) {
	var r policy.Rules
	for name, text := range map[string]string{
		policy.RuleUpdate: " Auto ", policy.RuleThreshold: "minor", policy.RuleMinAge: "1w2d",
		policy.RuleWindow: "Sat 02:00-05:00", policy.RuleFreeze: "12-20..01-05 UTC", policy.RuleSkip: "^8[.]|rc",
	} {
		if err := r.Set(name, text, "policy."+name, time.UTC); err != nil {
			t.Fatal(err)
		}
	}
	if r.Mode != (policy.Setting[policy.Mode]{Value: policy.Auto, Source: "policy.update"}) ||
		r.Threshold.Value != "minor" || r.MinAge.Value != 9*24*time.Hour {
		t.Errorf("got %+v", r)
	}
	if got := r.Window.Value.String(); got != "Sat 02:00-05:00 UTC" {
		t.Errorf("window: got %q", got)
	}
	if got := r.Freeze.Value.String(); got != "12-20..01-05 UTC" {
		t.Errorf("freeze: got %q", got)
	}
	if skip := r.Skip.Value; !skip.Match("8.1") || !skip.Match("9.0-rc1") || skip.Match("9.0") {
		t.Errorf("skip: got %q", skip)
	}
}

func TestRulesSetSaysWhatIsWrong(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"minags", "7d", "did you mean minage?"},
		{"colour", "red", "rules are update, major, threshold"},
		{"update", "atuo", "did you mean auto?"},
		{"update", "", "is none of notify, approve, auto"},
		{"threshold", "minors", "did you mean minor?"},
		{"minage", "7", "write 7d for days or 7h for hours"},
		{"minage", "", "is not an age: write it like 7d"},
		{"minage", "-7d", "is not an age"},
		{"minage", "7 d", "is not an age"},
		{"minage", "99999w99999w", "more than ten years"},
		{"window", "Sat", "does not say from when until when"},
		{"freeze", "Christmas", "is not a date"},
		{"skip", "", "the pattern is empty"},
		{"skip", "(", "is not a regular expression"},
		{"skip", "(?:abcdefghij){900}", "too large"},
	} {
		var r policy.Rules
		err := r.Set(test.name, test.text, "label", time.UTC)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: got %v, want %q", test.name, test.text, err, test.want)
		}
		if r.Window.Value != nil || r.Freeze.Value != nil || r.Skip.Value != nil || r.Mode.Source != "" {
			t.Errorf("%s=%s: sets %+v", test.name, test.text, r)
		}
	}
}

func TestRulesNeverOpens(t *testing.T) {
	now := time.Date(2026, time.November, 23, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct{ window, freeze, want string }{
		{"", "", ""},
		{"Sat 02:00-05:00", "", ""},
		{"", "12-20..01-05", ""},
		{"Sat 02:00-05:00", "12-20..01-05", ""},
		{"", "01-01..12-31", "the freeze 01-01..12-31 UTC never ends"},
		{"0 2 24 12 *", "12-20..01-05", "is within the freeze 12-20..01-05 UTC for ever"},
	} {
		var r policy.Rules
		for name, text := range map[string]string{policy.RuleWindow: test.window, policy.RuleFreeze: test.freeze} {
			if text == "" {
				continue
			}
			if err := r.Set(name, text, "policy."+name, time.UTC); err != nil {
				t.Fatal(err)
			}
		}
		if p, never := r.NeverOpens(now); never != (test.want != "") || !strings.Contains(p.Text, test.want) {
			t.Errorf("%q in %q: got %q, want %q", test.window, test.freeze, p.Text, test.want)
		}
	}
}
