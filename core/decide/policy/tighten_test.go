package policy

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

// stranger is a layer that may only tighten.
func stranger(values map[string]string) Layer {
	return Layer{Values: values, Source: func(name string) string { return "stranger." + name }}
}

func TestTighten(t *testing.T) {
	for _, c := range []struct{ rule, own, other, want, why string }{
		{RuleUpdate, "auto", "notify", "notify", ""},
		{RuleUpdate, "auto", "approve", "approve", ""},
		{RuleUpdate, "auto", "auto", "auto", ""},
		{RuleUpdate, "notify", "notify", "notify", ""},
		{RuleUpdate, "notify", "auto", "notify", "only the operator may replace notify (own.update) by auto"},
		{RuleUpdate, "notify", "approve", "notify", "only the operator"},
		{RuleUpdate, "approve", "auto", "approve", "only the operator"},
		{RuleUpdate, "approve", "notify", "approve", "only the operator"},
		{RuleUpdate, "auto", "never", "auto", "is none of"},
		{RuleThreshold, "all", "patch", "patch", ""},
		{RuleThreshold, "major", "all", "major", ""},
		{RuleThreshold, "minor", "patch", "patch", ""},
		{RuleThreshold, "minor", "minor-only", "minor-only", ""},
		{RuleThreshold, "all", "digest", "digest", ""},
		{RuleThreshold, "minor", "all", "minor", "only the operator"},
		{RuleThreshold, "patch", "minor", "patch", "only the operator"},
		{RuleThreshold, "major-only", "patch", "major-only", "only the operator"},
		{RuleThreshold, "minor", "digest", "minor", "only the operator"}, // a new image of the same tag may be a major step
		{RuleThreshold, "digest", "minor", "digest", "only the operator"},
		{RuleThreshold, "all", "versions", "versions", ""},
		{RuleThreshold, "versions", "patch-no-digest", "patch-no-digest", ""},
		{RuleThreshold, "versions", "patch", "versions", "only the operator"},
		{RuleThreshold, "digest", "versions", "digest", "only the operator"},
		{RuleMinAge, "7d", "30d", "30d", ""},
		{RuleMinAge, "7d", "1w", "7d", ""},
		{RuleMinAge, "7d", "0", "7d", "only the operator may replace 7d (own.minage) by 0s"},
		{RuleMinAge, "7d", "soon", "7d", "is not an age"},
		{RuleMinAge, "7d", "99999w", "7d", "more than ten years"},
		{RuleMajor, "", "notify", "", "only the operator may say this"},
		{RuleSkip, "", "1", "", "only the operator may say this"},
		{RuleWindow, "", "always", "", "only the operator may say this"},
		{RuleFreeze, "", "12-20..01-05", "", "only the operator may say this"},
		{RuleSecurity, "", "low", "", "only the operator may say this"},
		{RuleZone, "", "Asia/Tokyo", "", "only the operator may say this"},
	} {
		var resolver Resolver
		own := resolver.Resolve(Layer{Values: map[string]string{c.rule: c.own},
			Source: func(name string) string { return "own." + name }})
		got := own.Tighten(stranger(map[string]string{c.rule: c.other}))
		value, source := map[string]string{
			RuleUpdate: string(got.Mode.Value), RuleThreshold: got.Threshold.Value, RuleMinAge: FormatAge(got.MinAge.Value),
		}[c.rule], map[string]string{RuleUpdate: got.Mode.Source, RuleThreshold: got.Threshold.Source,
			RuleMinAge: got.MinAge.Source}[c.rule]
		if value != c.want {
			t.Errorf("%s: %s and %s are %s, want %s", c.rule, c.own, c.other, value, c.want)
		}
		if changed := c.want != "" && c.want != c.own; changed != (source == "stranger."+c.rule) {
			t.Errorf("%s: %s and %s come from %s", c.rule, c.own, c.other, source)
		}
		switch {
		case c.why == "" && len(got.Ignored) > 0,
			c.why != "" && (len(got.Ignored) != 1 || !strings.HasPrefix(got.Ignored[0].Text,
				"stranger."+c.rule+": ignored: ") || !strings.Contains(got.Ignored[0].Text, c.why)):
			t.Errorf("%s: %s and %s: %v", c.rule, c.own, c.other, got.Ignored)
		}
		if len(own.Ignored) > 0 || len(got.Problems) > 0 {
			t.Errorf("%s: %v, %v", c.rule, own.Ignored, got.Problems)
		}
	}
}

// freedom orders what a decision lets happen: nothing, notifications, triggers that act,
// and the update itself.
func freedom(d Decision) int {
	waits := slices.ContainsFunc(d.Reasons, func(r Reason) bool { return r.Code == ReasonApproval })
	switch {
	case d.State == Automatic:
		return 3
	case d.State == Offered && !waits:
		return 2
	case d.State == Offered:
		return 1
	}
	return 0
}

// TestTightenedRulesAllowNoMore: whatever a layer asks for, no version is offered or carried
// out that the rules without it would hold, and none without the approval that they want.
func TestTightenedRulesAllowNoMore(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	tightened, lessFree := 0, 0
	for range *rounds {
		u, rules, f, choices := random(r)
		values := map[string]string{
			RuleUpdate: pick("", "notify", "approve", "auto", "x"), RuleThreshold: pick("", "all", "minor", "patch",
				"major-only", "minor-only", "digest"),
			RuleMinAge: pick("", "0", "1d", "7d", "30d", "soon"), RuleSkip: pick("", "9"), RuleWindow: pick("",
				"always"), RuleSecurity: pick("", "low", "none"),
		}
		tight := rules.Tighten(stranger(values))
		if tight.Mode != rules.Mode || tight.Threshold != rules.Threshold || tight.MinAge != rules.MinAge {
			tightened++
		}
		with := Decide(u, tight, f, choices, noon)
		if with.Target < 0 {
			continue
		}
		// By itself, since without the newest, which is held now, the next one is the newest.
		alone := Update{Subject: u.Subject, Candidates: u.Candidates[with.Target : with.Target+1]}
		if aloneWith, without := Decide(alone, tight, f, choices, noon), Decide(alone, rules, f, choices,
			noon); freedom(aloneWith) > freedom(without) {
			t.Fatalf("%v on %+v:\n%s\n%s", values, rules, describe(alone, aloneWith), describe(alone, without))
		}
		if without := Decide(u, rules, f, choices, noon); freedom(with) < freedom(without) {
			lessFree++
		} else if freedom(with) > freedom(without) && with.Target == without.Target {
			t.Fatalf("%v on %+v:\n%s\n%s", values, rules, describe(u, with), describe(u, without))
		}
	}
	if tightened < *rounds/4 || lessFree < *rounds/50 {
		t.Errorf("of %d only %d were tightened, and %d less free", *rounds, tightened, lessFree)
	}
}

func TestWithinIsAnOrder(t *testing.T) {
	all := Thresholds()
	for _, a := range all {
		if !within(a, "all") || !within(a, a) {
			t.Errorf("%s is within all and itself", a)
		}
		for _, b := range all {
			for _, kind := range []string{sdk.KindTag, sdk.KindDigest} {
				if within(a, b) && Passes(a, kind, sdk.DiffMajor) && !Passes(b, kind, sdk.DiffMajor) {
					t.Errorf("%s is not within %s", a, b)
				}
			}
		}
	}
}
