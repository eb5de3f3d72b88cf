package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

const day = 24 * time.Hour

// noon is the time of the situations.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// version returns a candidate whose image is days old and was found at once.
func version(tag, diff string, days float64) candidate.Candidate {
	at := noon.Add(-time.Duration(days * float64(day)))
	return candidate.Candidate{Tag: tag, Kind: sdk.KindTag, Diff: diff, Created: at, FirstSeen: at}
}

// rebuild returns a new image of the same tag.
func rebuild(digest string, made, seen float64) candidate.Candidate {
	return candidate.Candidate{
		Tag: "latest", Digest: digest, Kind: sdk.KindDigest,
		Created: noon.Add(-time.Duration(made * float64(day))), FirstSeen: noon.Add(-time.Duration(seen * float64(day))),
	}
}

func set[T any](v T, source string) Setting[T] { return Setting[T]{Value: v, Source: source} }

// chose returns one of ana's, made a number of hours before noon.
func chose(kind choice.Kind, version string, hours float64) choice.Choice {
	c := choice.Choice{
		Subject: "local/web", Kind: kind, Actor: "ana", At: sdk.TimeOf(noon.Add(-time.Duration(hours * float64(time.Hour)))),
	}
	switch {
	case strings.HasPrefix(version, "sha256:"):
		c.Update = update.Key{
			Subject: "local/web", Kind: sdk.KindDigest, FromTag: "latest", ToTag: "latest", ToDigest: version,
		}
	case version != "":
		c.Update = update.Key{Subject: "local/web", Kind: sdk.KindTag, FromTag: "8.1.0", ToTag: version}
	}
	return c
}

func until(c choice.Choice, days float64) choice.Choice {
	c.Until = sdk.TimeOf(noon.Add(time.Duration(days * float64(day))))
	return c
}

// times is open, or frozen, from one time until another.
type times struct{ from, to time.Time }

func (s times) At(now time.Time) (in bool, until time.Time) {
	switch {
	case now.Before(s.from):
		return false, s.from
	case now.Before(s.to):
		return true, s.to
	}
	return false, time.Time{}
}

func (s times) String() string { return s.from.Format("01-02") + ".." + s.to.Format("01-02") }

func span(from, to float64) times {
	return times{noon.Add(time.Duration(from * float64(day))), noon.Add(time.Duration(to * float64(day)))}
}

type contains string

func (p contains) Match(text string) bool { return strings.Contains(text, string(p)) }
func (p contains) String() string         { return string(p) }

// String is how the tests write a decision: state, target, codes, days until it changes.
func describe(u Update, d Decision) string {
	if d.Target < 0 {
		return "nothing"
	}
	target := u.Candidates[d.Target]
	text := string(d.State) + " " + target.Tag
	if target.Kind == sdk.KindDigest {
		text = string(d.State) + " " + target.Digest
	}
	for _, r := range d.Reasons {
		text += " " + r.Code
		if !r.Until.IsZero() {
			text += fmt.Sprintf("(%g)", r.Until.Sub(noon).Hours()/24)
		}
	}
	if !d.Next.IsZero() {
		text += fmt.Sprintf(" next %g", d.Next.Sub(noon).Hours()/24)
	}
	return text
}

// decided is what becomes of candidates, as describe says it.
type decided struct {
	about      string
	candidates []candidate.Candidate
	rules      Rules
	facts      Facts
	choices    []choice.Choice
	want       string
}

func decide(t *testing.T, all []decided) {
	t.Helper()
	for _, c := range all {
		u := Update{Subject: "local/web", Candidates: c.candidates}
		got := Decide(u, c.rules, c.facts, c.choices, noon)
		if text := describe(u, got); text != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.about, text, c.want)
		}
		for _, r := range got.Reasons {
			if r.Text == "" || strings.HasSuffix(r.Text, ".") {
				t.Errorf("%s: %s has the sentence %q", c.about, r.Code, r.Text)
			}
		}
		if got.State == Held && len(got.Reasons) == 0 {
			t.Errorf("%s: it is held without a reason", c.about)
		}
	}
}

var (
	major = version("9.0.0", sdk.DiffMajor, 30)
	minor = version("8.2.1", sdk.DiffMinor, 10)
	older = version("8.2.0", sdk.DiffMinor, 20)
	patch = version("8.1.4", sdk.DiffPatch, 5)
	all   = []candidate.Candidate{major, minor, older, patch}
)

// compared returns facts about versions that were scanned: what each fixes and adds, as "8.2.3".
func compared(of map[string]vulnerability.Summary) Facts {
	return Facts{MayUpdate: true, Compared: func(c candidate.Candidate) (vulnerability.Summary, bool) {
		s, known := of[c.Tag]
		return s, known
	}}
}

func TestDecideAboutVulnerabilities(t *testing.T) {
	security := func(r Rules, s vulnerability.Severity) Rules {
		r.MinAge, r.Security = set(7*day, "policy.minage"), set(s, "policy.security")
		return r
	}
	auto, approve := Rules{Mode: set(Auto, "policy.update")}, Rules{Mode: set(Approve, "policy.update")}
	closed := security(auto, vulnerability.High)
	closed.Window = set[Window](span(2, 3), "policy.window")
	threshold := security(Rules{}, vulnerability.Low)
	threshold.Threshold = set("patch", "policy.threshold")
	var (
		young = []candidate.Candidate{version("8.2.3", sdk.DiffMinor, 1), version("8.2.2", sdk.DiffMinor, 6), older}
		alone = young[:1]
		fixes = compared(map[string]vulnerability.Summary{
			"8.2.3": {Fixed: vulnerability.Counts{Critical: 1, High: 2, Low: 9}},
		})
		worse = compared(map[string]vulnerability.Summary{
			"8.2.3": {Fixed: vulnerability.Counts{High: 1}, Added: vulnerability.Counts{High: 1}},
		})
		second = compared(map[string]vulnerability.Summary{"8.2.3": {}, "8.2.2": {Fixed: vulnerability.Counts{High: 1}}})
		adds   = compared(map[string]vulnerability.Summary{
			"8.2.3": {Fixed: vulnerability.Counts{Critical: 3}, Added: vulnerability.Counts{Critical: 2, High: 1}},
		})
	)
	holding := func(f Facts, s vulnerability.Severity) Facts {
		f.HoldAdded, f.HoldSource = s, "scan.hold"
		return f
	}
	decide(t, []decided{
		{"not scanned", alone, security(Rules{}, vulnerability.High), Facts{MayUpdate: true}, nil,
			"held 8.2.3 age.min(6) next 6"},
		{"another one was scanned", alone, security(Rules{}, vulnerability.High), compared(nil), nil,
			"held 8.2.3 age.min(6) next 6"},
		{"no rule", alone, security(Rules{}, vulnerability.Unknown), fixes, nil, "held 8.2.3 age.min(6) next 6"},
		{"it fixes what matters", alone, security(Rules{}, vulnerability.High), fixes, nil, "offered 8.2.3 security next 6"},
		{"it fixes a worse one", alone, security(Rules{}, vulnerability.Medium), fixes, nil, "offered 8.2.3 security next 6"},
		{"it adds as many", alone, security(Rules{}, vulnerability.High), worse, nil, "held 8.2.3 age.min(6) next 6"},
		{"the newer one fixes nothing", young, security(Rules{}, vulnerability.High), second, nil,
			"offered 8.2.2 security next 1"},
		{"old enough anyway", []candidate.Candidate{minor}, security(Rules{}, vulnerability.High),
			compared(map[string]vulnerability.Summary{"8.2.1": {Fixed: vulnerability.Counts{High: 1}}}), nil, "offered 8.2.1"},
		{"carried out", alone, security(auto, vulnerability.Critical), fixes, nil, "automatic 8.2.3 auto security next 6"},
		{"to be approved", alone, security(approve, vulnerability.Critical), fixes, nil,
			"offered 8.2.3 approval security next 6"},
		{"the window is closed", alone, closed, fixes, nil, "held 8.2.3 window.closed(2) next 2"},
		{"too large a step", alone, threshold, fixes, nil, "held 8.2.3 threshold next 6"},
		{"snoozed", alone, security(Rules{}, vulnerability.High), fixes, []choice.Choice{chose(choice.Snooze, "8.2.3", 1)},
			"held 8.2.3 choice.snooze next 6"},
		{"approved", alone, security(auto, vulnerability.High), fixes, []choice.Choice{chose(choice.Approved, "8.2.3", 1)},
			"automatic 8.2.3 choice.approve next 6"},

		{"it adds some", alone, auto, holding(adds, vulnerability.Critical), nil, "offered 8.2.3 approval"},
		{"it adds some that do not matter", alone, auto, holding(worse, vulnerability.Critical), nil, "automatic 8.2.3 auto"},
		{"nothing is held", alone, auto, adds, nil, "automatic 8.2.3 auto"},
		{"it adds some, where nothing is automatic", alone, Rules{}, holding(adds, vulnerability.Critical), nil,
			"offered 8.2.3"},
		{"it adds some, and a user approved it", alone, auto, holding(adds, vulnerability.Critical),
			[]choice.Choice{chose(choice.Approved, "8.2.3", 1)}, "automatic 8.2.3 choice.approve"},
		{"holding, not scanned", alone, auto, holding(compared(nil), vulnerability.Critical), nil, "automatic 8.2.3 auto"},
	})
	d := Decide(Update{Subject: "local/web", Candidates: alone}, auto, holding(adds, vulnerability.High), nil, noon)
	var texts []string
	for _, r := range d.Reasons {
		texts = append(texts, r.Text+" ("+r.Source+")")
	}
	if got, want := strings.Join(texts, "; "),
		"it waits for your approval, since the new image adds 2 critical and 1 high vulnerabilities (scan.hold)"; got != want {
		t.Errorf("%s", got)
	}
	d = Decide(Update{Subject: "local/web", Candidates: alone}, security(auto, vulnerability.High), fixes, nil, noon)
	if got, want := d.Reasons[1].Text,
		"it fixes 1 critical and 2 high vulnerabilities, so it need not be 7 days old"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDecide(t *testing.T) {
	auto := Rules{Mode: set(Auto, "label dogwatch.update")}
	approve := Rules{Mode: set(Approve, "policy.update")}
	threshold := func(text string) Rules { return Rules{Threshold: set(text, "policy.threshold")} }
	minAge := func(days float64) Rules {
		return Rules{MinAge: set(time.Duration(days*float64(day)), "policy.minage")}
	}
	window := func(r Rules, from, to float64) Rules {
		r.Window = set[Window](span(from, to), "policy.window")
		return r
	}
	freeze := func(r Rules, from, to float64) Rules {
		r.Freeze = set[Freeze](span(from, to), "policy.freeze")
		return r
	}
	skip := func(text string) Rules { return Rules{Skip: set[Pattern](contains(text), "policy.skip")} }
	both := minAge(7)
	both.Threshold = set("minor", "policy.threshold")
	may, mayNot := Facts{MayUpdate: true}, Facts{Remedy: "set watcher.docker.local.update to true"}
	back := Facts{MayUpdate: true, CameBack: func(c candidate.Candidate) (time.Time, bool) {
		return noon.Add(-time.Hour), c.Tag == "9.0.0"
	}}
	undone := Facts{MayUpdate: true, RolledBack: func(c candidate.Candidate) (Rollback, bool) {
		return Rollback{By: "ana", At: noon.Add(-time.Hour)}, c.Tag == "9.0.0"
	}}
	stopped := Facts{MayUpdate: true, Stopped: func() Stop { return Stop{Name: "auth", At: noon.Add(-time.Hour)} }}
	before, since := minor, minor
	before.OfferedAt, since.OfferedAt = noon.Add(-2*time.Hour), noon.Add(-time.Minute)
	byDigest, aged := Facts{MayUpdate: true, AgesByDigest: true}, version("8.2.0", sdk.DiffMinor, 9)
	aged.AgedDigest = "sha256:a"
	skipped := []candidate.Candidate{rebuild("sha256:b", 1, 1), rebuild("sha256:a", 2, 2)}
	skipped[0].Diff, skipped[1].Diff = sdk.DiffMinor, sdk.DiffPatch
	young := []candidate.Candidate{version("8.2.3", sdk.DiffMinor, 1), version("8.2.2", sdk.DiffMinor, 6), older}
	unknownAge := []candidate.Candidate{{Tag: "8.2.3", Kind: sdk.KindTag, Diff: sdk.DiffMinor, FirstSeen: noon.Add(-2 * day)}}
	decide(t, []decided{
		{"no update", nil, Rules{}, may, nil, "nothing"},
		{"no rules", all, Rules{}, may, nil, "offered 9.0.0"},
		{"a digest, no rules", []candidate.Candidate{rebuild("sha256:b", 1, 1)}, Rules{}, may, nil, "offered sha256:b"},

		{"notify", all, Rules{Mode: set(Notify, "x")}, may, nil, "offered 9.0.0"},
		{"approve", all, approve, may, nil, "offered 9.0.0 approval"},
		{"auto", all, auto, may, nil, "automatic 9.0.0 auto"},
		{"auto where the watcher may not", all, auto, mayNot, nil, "offered 9.0.0 update.forbidden"},
		{"auto of a base image", all, auto, Facts{MayUpdate: true, Rebuild: true}, nil, "offered 9.0.0 rebuild"},
		{"approve of a base image", all, approve, Facts{MayUpdate: true, Rebuild: true}, nil, "offered 9.0.0 rebuild"},
		{"threshold of a base image", all, threshold("minor"), Facts{Rebuild: true}, nil, "offered 8.2.1 rebuild"},
		{"auto of a digest", []candidate.Candidate{rebuild("sha256:b", 1, 1)}, auto, may, nil, "automatic sha256:b auto"},
		{"auto, was rolled back", all, auto, back, nil, "offered 9.0.0 rolledback"},
		{"notify, was rolled back", all, Rules{}, back, nil, "offered 9.0.0 rolledback"},
		{"auto, a user rolled it back", all, auto, undone, nil, "held 9.0.0 choice.rollback"},
		{"notify, a user rolled it back", all, Rules{}, undone, nil, "held 9.0.0 choice.rollback"},
		{"auto, a user rolled another back", []candidate.Candidate{minor}, auto, undone, nil, "automatic 8.2.1 auto"},
		{"auto, did not work, outside the window", all, window(auto, 2, 3), back, nil,
			"held 9.0.0 rolledback window.closed(2) next 2"},
		{"approved before it did not work", all, auto, back, []choice.Choice{chose(choice.Approved, "9.0.0", 1.5)},
			"offered 9.0.0 rolledback"},
		{"auto, its stack is stopped", []candidate.Candidate{before}, auto, stopped, nil, "held 8.2.1 stack.stopped"},
		{"auto, offered since its stack is stopped", []candidate.Candidate{since}, auto, stopped, nil, "automatic 8.2.1 auto"},
		{"auto, new while its stack is stopped", []candidate.Candidate{minor}, auto, stopped, nil, "automatic 8.2.1 auto"},
		{"notify, its stack is stopped", []candidate.Candidate{before}, Rules{}, stopped, nil, "offered 8.2.1"},
		{"approved before its stack was stopped", []candidate.Candidate{before}, approve, stopped,
			[]choice.Choice{chose(choice.Approved, "8.2.1", 1.5)}, "held 8.2.1 choice.approve stack.stopped"},
		{"approved since its stack was stopped", []candidate.Candidate{before}, approve, stopped,
			[]choice.Choice{chose(choice.Approved, "8.2.1", 0.5)}, "automatic 8.2.1 choice.approve"},
		{"auto, another version was rolled back", []candidate.Candidate{minor}, auto, back, nil, "automatic 8.2.1 auto"},

		{"threshold all", all, threshold("all"), may, nil, "offered 9.0.0"},
		{"threshold major", all, threshold("major"), may, nil, "offered 9.0.0"},
		{"threshold minor", all, threshold("minor"), may, nil, "offered 8.2.1"},
		{"threshold patch", all, threshold("patch"), may, nil, "offered 8.1.4"},
		{"threshold major-only, only minors", []candidate.Candidate{minor}, threshold("major-only"), may, nil, "held 8.2.1 threshold"},
		{"threshold minor-only", all, threshold("minor-only"), may, nil, "offered 8.2.1"},
		{"threshold patch, only a major one", []candidate.Candidate{major}, threshold("patch"), may, nil, "held 9.0.0 threshold"},
		{"threshold patch, of a digest", []candidate.Candidate{rebuild("sha256:b", 1, 1)}, threshold("patch"), may, nil,
			"offered sha256:b"},
		{"threshold digest", []candidate.Candidate{minor, rebuild("sha256:b", 1, 1)}, threshold("digest"), may, nil,
			"offered sha256:b"},
		{"threshold digest, only versions", all, threshold("digest"), may, nil, "held 9.0.0 threshold"},
		{"threshold of a step that is not known", []candidate.Candidate{version("x", sdk.DiffUnknown, 1)}, threshold("patch"),
			may, nil, "offered x"},

		{"age: old enough", []candidate.Candidate{older}, minAge(7), may, nil, "offered 8.2.0"},
		{"age: the newest that is old enough", young, minAge(7), may, nil, "offered 8.2.0 next 1"},
		{"age: none is old enough", young[:2], minAge(7), may, nil, "held 8.2.3 age.min(6) next 1"},
		{"age: the exact time", []candidate.Candidate{version("8.2.3", sdk.DiffMinor, 7)}, minAge(7), may, nil, "offered 8.2.3"},
		{"age: counted from the first sight", unknownAge, minAge(7), may, nil, "held 8.2.3 age.min(5) next 5"},
		{"age: not known at all", []candidate.Candidate{{Tag: "1", Kind: sdk.KindTag}}, minAge(7), may, nil,
			"held 1 age.min(7) next 7"},
		{"age: made in the future", []candidate.Candidate{version("8.2.3", sdk.DiffMinor, -3)}, minAge(7), may, nil,
			"held 8.2.3 age.min(10) next 10"},
		{"age: rebuilt daily, an earlier one old enough",
			[]candidate.Candidate{rebuild("sha256:b", 0.5, 0.5), rebuild("sha256:a", 8, 8)}, minAge(7), may, nil,
			"offered sha256:a next 6.5"},
		{"age: rebuilt daily, all of late", []candidate.Candidate{rebuild("sha256:b", 0.5, 0.5), rebuild("sha256:a", 3, 3)},
			minAge(7), may, nil, "held sha256:a age.min(4) next 4"},
		{"age: rebuilt long ago, found now", []candidate.Candidate{rebuild("sha256:b", 30, 0)}, minAge(7), may, nil,
			"offered sha256:b"},
		{"age: of an image that no check looked at", []candidate.Candidate{older}, minAge(7), byDigest, nil, "held 8.2.0 age.min"},
		{"age: of one that is", []candidate.Candidate{aged}, minAge(7), byDigest, nil, "offered 8.2.0"},
		{"no age of an image that no check looked at", []candidate.Candidate{older}, Rules{}, byDigest, nil, "offered 8.2.0"},
		{"age and threshold", []candidate.Candidate{major, version("8.2.3", sdk.DiffMinor, 1), patch}, both, may, nil,
			"held 8.2.3 age.min(6) next 2"},

		{"skip: an image behind a tag, and what it replaced", skipped, Rules{}, may,
			[]choice.Choice{chose(choice.Skip, "sha256:b", 1)}, "held sha256:b choice.skip"},
		{"skip: a pattern", all, skip("9."), may, nil, "offered 8.2.1"},
		{"skip: a pattern for all", []candidate.Candidate{minor, older}, skip("8."), may, nil, "held 8.2.1 skip.rule"},
		{"skip: a pattern for a digest", []candidate.Candidate{rebuild("sha256:bad", 1, 1)}, skip("sha256:bad"), may, nil,
			"held sha256:bad skip.rule"},

		{"window open", all, window(Rules{}, -1, 1), may, nil, "offered 9.0.0 next 1"},
		{"window closed", all, window(Rules{}, 2, 3), may, nil, "held 9.0.0 window.closed(2) next 2"},
		{"window over for ever", all, window(Rules{}, -3, -2), may, nil, "held 9.0.0 window.closed"},
		{"auto in a window", all, window(auto, -1, 1), may, nil, "automatic 9.0.0 auto next 1"},
		{"auto before a window", all, window(auto, 2, 3), may, nil, "held 9.0.0 window.closed(2) next 2"},
		{"freeze", all, freeze(Rules{}, -1, 4), may, nil, "held 9.0.0 freeze(4) next 4"},
		{"before a freeze", all, freeze(Rules{}, 1, 4), may, nil, "offered 9.0.0 next 1"},
		{"freeze and window", all, freeze(window(Rules{}, 2, 3), -1, 4), may, nil,
			"held 9.0.0 freeze(4) window.closed(2) next 2"},
		{"window closed and too young", young[:1], window(minAge(7), 2, 3), may, nil,
			"held 8.2.3 age.min(6) window.closed(2) next 2"},

		{"skipped: the other steps stay", all, Rules{}, may, []choice.Choice{chose(choice.Skip, "9.0.0", 1)}, "offered 8.2.1"},
		{"skipped: older ones of the step, too", []candidate.Candidate{minor, older}, Rules{}, may,
			[]choice.Choice{chose(choice.Skip, "8.2.1", 1)}, "held 8.2.1 choice.skip"},
		{"skipped: the next version comes", []candidate.Candidate{version("8.2.2", sdk.DiffMinor, 0), minor, older}, Rules{}, may,
			[]choice.Choice{chose(choice.Skip, "8.2.1", 1)}, "offered 8.2.2"},
		{"skipped: a digest", []candidate.Candidate{rebuild("sha256:b", 1, 1)}, Rules{}, may,
			[]choice.Choice{chose(choice.Skip, "sha256:b", 1)}, "held sha256:b choice.skip"},
		{"skipped: the next digest", []candidate.Candidate{rebuild("sha256:c", 1, 1)}, Rules{}, may,
			[]choice.Choice{chose(choice.Skip, "sha256:b", 1)}, "offered sha256:c"},
		{"skipped for another container", all, Rules{}, may,
			[]choice.Choice{{Subject: "local/db", Kind: choice.Skip, Update: chose(choice.Skip, "9.0.0", 1).Update}}, "offered 9.0.0"},
		{"skipped: auto does not take it", []candidate.Candidate{minor}, auto, may, []choice.Choice{chose(choice.Skip, "8.2.1", 1)},
			"held 8.2.1 choice.skip"},

		{"snoozed until a date", all, Rules{}, may, []choice.Choice{until(chose(choice.Snooze, "", 1), 3)},
			"held 9.0.0 choice.snooze(3) next 3"},
		{"snoozed until a date that is past", all, Rules{}, may, []choice.Choice{until(chose(choice.Snooze, "", 99), -1)}, "offered 9.0.0"},
		{"snoozed until the next version", []candidate.Candidate{minor}, Rules{}, may, []choice.Choice{chose(choice.Snooze, "8.2.1", 1)},
			"held 8.2.1 choice.snooze"},
		{"snoozed, and the next version came", []candidate.Candidate{version("8.2.2", sdk.DiffMinor, 0), minor}, Rules{}, may,
			[]choice.Choice{chose(choice.Snooze, "8.2.1", 1)}, "offered 8.2.2"},
		{"one version snoozed until a date", []candidate.Candidate{minor}, Rules{}, may,
			[]choice.Choice{until(chose(choice.Snooze, "8.2.1", 1), 3)}, "held 8.2.1 choice.snooze(3) next 3"},
		{"a digest snoozed until a date", []candidate.Candidate{rebuild("sha256:b", 1, 1)}, Rules{}, may,
			[]choice.Choice{until(chose(choice.Snooze, "sha256:b", 1), 3)}, "held sha256:b choice.snooze(3) next 3"},

		{"approved", all, approve, may, []choice.Choice{chose(choice.Approved, "9.0.0", 1)}, "automatic 9.0.0 choice.approve"},
		{"approved in mode notify", all, Rules{}, may, []choice.Choice{chose(choice.Approved, "9.0.0", 1)},
			"automatic 9.0.0 choice.approve"},
		{"approved: a smaller step", all, Rules{}, may, []choice.Choice{chose(choice.Approved, "8.2.1", 1)},
			"automatic 8.2.1 choice.approve"},
		{"approved though too young", young, minAge(7), may, []choice.Choice{chose(choice.Approved, "8.2.3", 1)},
			"automatic 8.2.3 choice.approve next 1"},
		{"approved beyond the threshold", all, threshold("patch"), may, []choice.Choice{chose(choice.Approved, "9.0.0", 1)},
			"automatic 9.0.0 choice.approve"},
		{"approved where the watcher may not", all, approve, mayNot, []choice.Choice{chose(choice.Approved, "9.0.0", 1)},
			"offered 9.0.0 choice.approve update.forbidden"},
		{"approved, outside the window", all, window(approve, 2, 3), may, []choice.Choice{chose(choice.Approved, "9.0.0", 1)},
			"held 9.0.0 choice.approve window.closed(2) next 2"},
		{"approved after a user rolled it back", all, auto, undone, []choice.Choice{chose(choice.Approved, "9.0.0", 0.5)},
			"automatic 9.0.0 choice.approve"},
		{"approved before a user rolled it back", all, auto, undone, []choice.Choice{chose(choice.Approved, "9.0.0", 2)},
			"held 9.0.0 choice.rollback"},
		{"approved after it was rolled back", all, auto, back, []choice.Choice{chose(choice.Approved, "9.0.0", 0.5)},
			"automatic 9.0.0 choice.approve"},
		{"approved a version that is gone", []candidate.Candidate{minor}, approve, may, []choice.Choice{chose(choice.Approved, "8.2.0", 1)},
			"offered 8.2.1 approval"},
		{"approved, then snoozed", all, approve, may,
			[]choice.Choice{chose(choice.Approved, "9.0.0", 2), until(chose(choice.Snooze, "", 1), 3)}, "held 9.0.0 choice.snooze(3) next 3"},
		{"snoozed, then approved", all, approve, may,
			[]choice.Choice{chose(choice.Approved, "9.0.0", 1), until(chose(choice.Snooze, "", 2), 3)}, "automatic 9.0.0 choice.approve"},

		{"a rule that cannot be read", all, Rules{Problems: []Problem{{"label dogwatch.update.window", "bad"}}}, may,
			nil, "held 9.0.0 rule.invalid"},
		{"the same, approved", all, Rules{Problems: []Problem{{"label dogwatch.update.window", "bad"}}}, may,
			[]choice.Choice{chose(choice.Approved, "9.0.0", 1)}, "held 9.0.0 choice.approve rule.invalid"},
	})
}

func TestMeasures(t *testing.T) {
	for threshold, want := range map[string]bool{
		"": false, "all": false, "major": false, "digest": false, "minor": true, "patch": true, "major-only": true,
		"minor-only": true,
	} {
		if got := Measures(threshold); got != want {
			t.Errorf("%q measures steps: %t", threshold, got)
		}
	}
}

// TestStopSaysWhoAndWhen: by the clock of the user.
func TestStopSaysWhoAndWhen(t *testing.T) {
	tokyo := time.FixedZone("JST", 9*60*60)
	c := version("8.2.1", sdk.DiffMinor, 1)
	c.OfferedAt = noon.Add(-2 * time.Hour)
	for cancelled, want := range map[bool]string{false: "stack stopped by auth (failed 20:02)",
		true: "stack stopped by auth (cancelled 20:02)"} {
		at := time.Date(noon.Year(), noon.Month(), noon.Day(), 11, 2, 0, 0, time.UTC)
		facts := Facts{MayUpdate: true, Stopped: func() Stop {
			return Stop{Name: "auth", Cancelled: cancelled, At: at}
		}}
		d := Decide(Update{Subject: "local/web", Candidates: []candidate.Candidate{c}}, Rules{Mode: set(Auto, "x")}, facts, nil,
			noon.In(tokyo))
		if len(d.Reasons) != 1 || d.Reasons[0].Text != want {
			t.Errorf("%+v, want %q", d.Reasons, want)
		}
	}
}
