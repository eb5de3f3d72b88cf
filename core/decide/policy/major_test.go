package policy

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestDecideAboutMajorUpdates: a major update of an image whose rules say so is offered and not carried out by
// itself, and does not keep a smaller one from it.
func TestDecideAboutMajorUpdates(t *testing.T) {
	with := func(mode, major Mode, source string, line int) Rules {
		r := Rules{Mode: set(mode, "policy.update"), Major: set(major, source)}
		if line > 0 {
			r.Preset = &preset.Preset{Name: "postgres", Line: line}
		}
		return r
	}
	postgres := with(Auto, Approve, "preset postgres", 1)
	mariadb := with(Auto, Approve, "preset mariadb", 2)
	user := with(Auto, Notify, "policy.major", 0)
	closed, young := postgres, postgres
	closed.Window = set[Window](span(2, 3), "policy.window")
	young.MinAge = set(7*day, "policy.minage")
	may := Facts{MayUpdate: true}
	back := Facts{MayUpdate: true, CameBack: func(c candidate.Candidate) (time.Time, bool) {
		return time.Time{}, c.Tag == "8.2.1"
	}}
	latest := func(diff string) candidate.Candidate {
		c := rebuild("sha256:b", 1, 1)
		c.Diff = diff
		return c
	}
	tagged := func(tag, diff string) candidate.Candidate {
		c := latest(diff)
		c.Tag = tag
		return c
	}
	few := []candidate.Candidate{major, version("8.2.3", sdk.DiffMinor, 1), patch}
	decide(t, []decided{
		{"both: the smaller one is carried out", all, postgres, may, nil, "automatic 8.2.1 auto major"},
		{"only a major one", []candidate.Candidate{major}, postgres, may, nil, "offered 9.0.0 approval"},
		{"only a major one, by a user's rule", []candidate.Candidate{major}, user, may, nil, "offered 9.0.0 major"},
		{"both, by a user's rule", all, user, may, nil, "automatic 8.2.1 auto major"},
		{"a user's rule is that of all updates", all, with(Auto, Auto, "policy.major", 1), may, nil,
			"automatic 9.0.0 auto"},
		{"nothing is said", all, with(Auto, "", "default", 1), may, nil, "automatic 9.0.0 auto"},
		{"triggers that act wait, too", all, with(Notify, Approve, "preset postgres", 1), may, nil,
			"offered 9.0.0 approval"},
		{"it lets no more happen", all, with(Approve, Notify, "policy.major", 1), may, nil, "offered 9.0.0 approval"},
		{"nor this", all, with(Notify, Auto, "policy.major", 1), may, nil, "offered 9.0.0"},
		{"the watcher may not", all, postgres, Facts{Remedy: "x"}, nil, "offered 9.0.0 approval"},
		{"approved", all, postgres, may, []choice.Choice{chose(choice.Approved, "9.0.0", 1)}, "automatic 9.0.0 choice.approve"},
		{"the smaller one is skipped", []candidate.Candidate{major, minor}, postgres, may, []choice.Choice{chose(choice.Skip, "8.2.1", 1)},
			"offered 9.0.0 approval"},
		{"the major one is skipped", all, postgres, may, []choice.Choice{chose(choice.Skip, "9.0.0", 1)}, "automatic 8.2.1 auto"},
		{"the window is closed", all, closed, may, nil, "held 8.2.1 window.closed(2) next 2"},
		{"a smaller one is too young", few, young, may, nil, "offered 9.0.0 approval next 2"},
		{"the smaller one was tried", all, postgres, back, nil, "offered 8.2.1 rolledback"},

		{"a release line of two numbers", all, mariadb, may, nil, "automatic 8.1.4 auto major"},
		{"only another line", []candidate.Candidate{minor}, mariadb, may, nil, "offered 8.2.1 approval"},
		{"a rebuild into another major version", []candidate.Candidate{latest(sdk.DiffMajor)}, postgres, may, nil,
			"offered sha256:b approval"},
		{"a rebuild within it", []candidate.Candidate{latest(sdk.DiffMinor)}, postgres, may, nil, "automatic sha256:b auto"},
		{"a rebuild of latest to no one knows what", []candidate.Candidate{latest("")}, postgres, may, nil,
			"offered sha256:b approval"},
		{"the same of an image without preset", []candidate.Candidate{latest("")}, user, may, nil, "automatic sha256:b auto"},
		{"the same of a tag that names the line", []candidate.Candidate{tagged("16-alpine", "")}, postgres, may, nil,
			"automatic sha256:b auto"},
		{"the same of a tag that names half of it", []candidate.Candidate{tagged("10", "")}, mariadb, may, nil,
			"offered sha256:b approval"},
		{"the same of a tag that names it", []candidate.Candidate{tagged("v10.11", "")}, mariadb, may, nil,
			"automatic sha256:b auto"},
		{"a tag with a number at its end", []candidate.Candidate{tagged("alpine3.19", "")}, mariadb, may, nil,
			"offered sha256:b approval"},
	})
	beside := Decide(Update{Candidates: all}, postgres, may, nil, noon).Reasons[1]
	if want := (Reason{Code: ReasonMajor, Source: "preset postgres",
		Text: "9.0.0 is a major update, which is not carried out by itself"}); beside != want {
		t.Errorf("%+v, want %+v", beside, want)
	}
	d := Decide(Update{Candidates: []candidate.Candidate{major}}, postgres, may, nil, noon)
	if got, want := d.Reasons[0], (Reason{Code: ReasonApproval, Source: "preset postgres",
		Text: "it waits for your approval, since it is a major update"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestMajorNeverByItself: whatever else is true, what a rule carries out is none that the rule of major updates
// holds back, and without approval no trigger acts on it where that rule says approve.
func TestMajorNeverByItself(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	seen := map[string]int{}
	for range *rounds {
		u, rules, f, choices := random(r)
		d := Decide(u, rules, f, choices, noon)
		if d.Target < 0 || !rules.IsMajor(&u.Candidates[d.Target]) {
			continue
		}
		has := func(code string) bool {
			return slices.ContainsFunc(d.Reasons, func(reason Reason) bool { return reason.Code == code })
		}
		switch {
		case has(ReasonApproved):
		case d.State == Automatic && (rules.Major.Value == Notify || rules.Major.Value == Approve):
			t.Fatalf("%s with %+v", describe(u, d), rules)
		case d.State == Offered && rules.Major.Value == Approve && !has(ReasonApproval) && !has(ReasonCameBack):
			t.Fatalf("%s with %+v", describe(u, d), rules)
		case d.State == Automatic:
			seen["automatic"]++
		case has(ReasonMajor):
			seen["major"]++
		case has(ReasonApproval):
			seen["approval"]++
		}
	}
	for _, what := range []string{"automatic", "major", "approval"} {
		if seen[what] < 20 {
			t.Errorf("%s came out %d times", what, seen[what])
		}
	}
}

// TestMajorHoldsBackNothingElse: with a rule for major updates, what would be carried out without them still is.
func TestMajorHoldsBackNothingElse(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	carried := 0
	for range *rounds {
		u, rules, f, choices := random(r)
		rules.Mode.Value, rules.Major, f.MayUpdate = Auto, set(Approve, "preset db"), true
		small := u
		small.Candidates = slices.DeleteFunc(slices.Clone(u.Candidates), func(c candidate.Candidate) bool {
			return rules.IsMajor(&c)
		})
		if slices.ContainsFunc(choices, func(c choice.Choice) bool { return c.Kind == choice.Approved }) {
			continue
		}
		without := Decide(small, rules, f, choices, noon)
		if without.State != Automatic {
			continue
		}
		carried++
		with := Decide(u, rules, f, choices, noon)
		if with.State != Automatic || u.Candidates[with.Target] != small.Candidates[without.Target] {
			t.Fatalf("%s, and without major updates %s", describe(u, with), describe(small, without))
		}
	}
	if carried < *rounds/50 {
		t.Errorf("only %d were carried out", carried)
	}
}
