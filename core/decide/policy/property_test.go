package policy

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/sdk"
)

// random is a situation at random, within some days around noon.
func random(r *rand.Rand) (u Update, rules Rules, f Facts, choices []choice.Choice) {
	days := func() float64 { return float64(r.IntN(160)-80) / 4 }
	u.Subject = "local/web"
	all := []candidate.Candidate{
		version("9.0.1", sdk.DiffMajor, days()), version("9.0.0", sdk.DiffMajor, days()),
		version("8.3.0", sdk.DiffMinor, days()),
		version("8.2.1", sdk.DiffMinor, days()), version("8.1.5", sdk.DiffPatch, days()), rebuild("sha256:b", days(), days()),
	}
	for _, c := range all {
		if r.IntN(3) > 0 {
			u.Candidates = append(u.Candidates, c)
		}
	}
	rules.Mode = set([]Mode{Notify, Approve, Auto}[r.IntN(3)], "policy.update")
	if r.IntN(2) == 0 {
		rules.Major = set([]Mode{Notify, Approve, Auto}[r.IntN(3)], "policy.major")
		rules.Preset = []*preset.Preset{nil, {Name: "db", Line: 1}, {Name: "db", Line: 2}}[r.IntN(3)]
	}
	rules.Threshold = set([]string{"", "all", "minor", "patch", "major-only", "digest"}[r.IntN(6)], "policy.threshold")
	rules.MinAge = set(time.Duration(r.IntN(3)*5)*day, "policy.minage")
	if r.IntN(3) == 0 {
		from := days()
		rules.Window = set[Window](span(from, from+float64(r.IntN(20))/2), "policy.window")
	}
	if r.IntN(3) == 0 {
		from := days()
		rules.Freeze = set[Freeze](span(from, from+float64(r.IntN(20))/2), "policy.freeze")
	}
	if r.IntN(4) == 0 {
		rules.Skip = set[Pattern](contains([]string{"9.", "8.3", "sha256"}[r.IntN(3)]), "policy.skip")
	}
	if r.IntN(2) == 0 {
		rules.Security = set(vulnerability.Severity(r.IntN(6)), "policy.security")
		f.HoldAdded = vulnerability.Severity(r.IntN(6))
		scanned := map[string]vulnerability.Summary{}
		for _, c := range u.Candidates {
			if r.IntN(2) == 0 {
				scanned[c.Tag] = vulnerability.Summary{
					Fixed: vulnerability.Counts{Critical: r.IntN(2), Low: r.IntN(3)}, Added: vulnerability.Counts{High: r.IntN(2)},
				}
			}
		}
		f.Compared = compared(scanned).Compared
	}
	f.MayUpdate = r.IntN(2) == 0
	for range r.IntN(4) {
		c := chose([]choice.Kind{choice.Skip, choice.Snooze, choice.Approved}[r.IntN(3)],
			[]string{"", "9.0.1", "9.0.0", "8.3.0", "8.2.1", "sha256:b"}[r.IntN(6)], float64(r.IntN(100)))
		if c.Kind == choice.Snooze && (c.Update.Kind == "" || r.IntN(2) == 0) {
			c = until(c, days())
		}
		choices = append(choices, c)
	}
	return u, rules, f, choices
}

// soak is how many rounds find what a decision in thousands gets wrong.
const soak = 20_000

var rounds = flag.Int("rounds", soak/5, fmt.Sprint("how many made-up decisions to try; ", soak, " is the soak form"))

// TestDecideIgnoresTheOrderOfChoices, and changes nothing that it is given.
func TestDecideIgnoresTheOrderOfChoices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range *rounds {
		u, rules, f, choices := random(r)
		want := Decide(u, rules, f, choices, noon)
		other := slices.Clone(choices)
		r.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		if got := Decide(u, rules, f, other, noon); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v\n%+v\n%+v", choices, got, want)
		}
	}
}

// TestDecisionChangesOnlyWhenAnnounced: until Next, time alone changes nothing.
func TestDecisionChangesOnlyWhenAnnounced(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	changed := 0
	for range *rounds {
		u, rules, f, choices := random(r)
		before := Decide(u, rules, f, choices, noon)
		end := noon.Add(100 * day)
		if !before.Next.IsZero() {
			if !before.Next.After(noon) {
				t.Fatalf("it is to be decided again at once: %+v", before)
			}
			end = before.Next
			if !reflect.DeepEqual(before, Decide(u, rules, f, choices, end)) {
				changed++
			}
		}
		for _, at := range []time.Time{noon.Add(time.Nanosecond),
			noon.Add(time.Duration(r.Int64N(int64(end.Sub(noon))))), end.Add(-time.Nanosecond)} {
			if after := Decide(u, rules, f, choices, at); !reflect.DeepEqual(after, before) {
				t.Fatalf("%s\n%+v: before\n%+v: at %s\n%+v\n%+v", describe(u, before), before, after, at, rules, choices)
			}
		}
	}
	if changed < *rounds/10 {
		t.Errorf("only %d of %d decisions changed at the time that they announced", changed, *rounds)
	}
}

// TestReasonStaysWithItsCause: what holds a version goes on holding it until the time it
// names, and for ever if it names none, while nothing but the time changes.
func TestReasonStaysWithItsCause(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range *rounds {
		u, rules, f, choices := random(r)
		before := Decide(u, rules, f, choices, noon)
		at := noon.Add(time.Duration(r.Int64N(int64(50 * day))))
		after := Decide(u, rules, f, choices, at)
		if before.State != Held || after.Target != before.Target {
			continue
		}
		for _, reason := range before.Reasons {
			if reason.Code == ReasonWindow && reason.Until.IsZero() || reason.Until.IsZero() || reason.Until.After(at) {
				if !slices.Contains(after.Reasons, reason) {
					t.Fatalf("%s: %+v is gone at %s: %s", describe(u, before), reason, at, describe(u, after))
				}
			}
		}
	}
}

// TestHeldHasReasons, and what is automatic may be carried out.
func TestHeldHasReasons(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	states := map[State]int{}
	for range *rounds {
		u, rules, f, choices := random(r)
		d := Decide(u, rules, f, choices, noon)
		states[d.State]++
		switch {
		case d.State == None && len(u.Candidates) > 0, d.State == None && d.Target >= 0:
			t.Fatalf("nothing is decided about %v", u)
		case d.State == Held && len(d.Reasons) == 0:
			t.Fatalf("held without a reason: %v", u)
		case d.State == Automatic && !f.MayUpdate:
			t.Fatalf("automatic where the watcher may not update: %v", u)
		}
	}
	for _, state := range []State{None, Offered, Held, Automatic} {
		if states[state] < *rounds/2000 {
			t.Errorf("%q came out %d times", state, states[state])
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 10))
	type situation struct {
		u       Update
		rules   Rules
		f       Facts
		choices []choice.Choice
	}
	var all []situation
	for range 1000 {
		var s situation
		s.u, s.rules, s.f, s.choices = random(r)
		all = append(all, s)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range all {
			Decide(s.u, s.rules, s.f, s.choices, noon)
		}
	}
}
