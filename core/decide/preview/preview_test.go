package preview_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/sdk"
)

// now is a Monday.
func now() time.Time { return time.Date(2026, time.November, 23, 12, 0, 0, 0, time.UTC) }

// subject is a container with an update of an age and its rules.
func subject(t *testing.T, name string, age time.Duration, rules ...string) preview.Subject {
	t.Helper()
	s := preview.Subject{Running: "1.0", Update: policy.Update{Subject: name}, Facts: policy.Facts{MayUpdate: true}}
	if age > 0 {
		s.Update.Candidates = []candidate.Candidate{{
			Tag: "1.1", Kind: sdk.KindTag, Diff: sdk.DiffMinor, Created: now().Add(-age),
		}}
	}
	for _, rule := range rules {
		rule, value, _ := strings.Cut(rule, "=")
		if err := s.Rules.Set(rule, value, "policy."+rule, time.UTC); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func fleet(t *testing.T) []preview.Subject {
	const day = 24 * time.Hour
	return []preview.Subject{
		subject(t, "local/held", 10*day, "window=Sat 02:00-05:00"),
		subject(t, "local/young", 2*day),
		subject(t, "local/old", 30*day, "minage=7d"),
		subject(t, "local/auto", 30*day, "update=auto"),
		subject(t, "local/current", 0, "minage=7d"),
	}
}

func TestOf(t *testing.T) {
	p := preview.Of(fleet(t), now())
	if got, want := p.String(), "2 offered, 1 held, 1 automatic, 1 without an update"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var order []string
	for _, c := range p.Containers {
		order = append(order, c.Name+" "+c.State+" "+c.Target)
	}
	want := []string{"local/auto automatic 1.1", "local/old offered 1.1", "local/young offered 1.1",
		"local/held held 1.1", "local/current  "}
	if !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
	held := p.Containers[3]
	if len(held.Windows) != 3 || held.Windows[0].From.Format(time.DateTime) != "2026-11-28 02:00:00" ||
		held.Windows[0].Until.Sub(held.Windows[0].From.Time) != 3*time.Hour {
		t.Errorf("windows: got %v", held.Windows)
	}
	if len(held.Reasons) != 1 || held.Reasons[0].Code != policy.ReasonWindow ||
		!held.Until.Equal(held.Windows[0].From.Time) {
		t.Errorf("got %+v", held)
	}
	if got := fmt.Sprint(held.Rules); got != "[{window Sat 02:00-05:00 UTC policy.window}]" {
		t.Errorf("rules: got %s", got)
	}
	if p.Containers[0].Windows != nil {
		t.Errorf("windows without such a rule: %v", p.Containers[0].Windows)
	}
	if got := preview.Of(nil, now()).String(); got != "no containers" {
		t.Errorf("none: got %q", got)
	}
}

// TestCountsSayWhatTheListSays: what waits for an approval and what failed is counted apart, and a container has the
// name and the versions that lists show.
func TestCountsSayWhatTheListSays(t *testing.T) {
	web, db := subject(t, "local/web", 48*time.Hour, "update=approve"), subject(t, "local/db", 0)
	web.Container = sdk.Container{Name: "web", DisplayName: "Website", Image: sdk.Image{Version: "1.0.4"}}
	web.Running = "edge"
	web.Update.Candidates[0] = candidate.Candidate{
		Tag: "edge", Kind: sdk.KindDigest, Digest: "sha256:027efd38fc76aa", Version: "1.0.5",
	}
	db.Container.Check.State = sdk.CheckFailed
	fine := subject(t, "local/fine", 0)
	fine.Container.Check.State = sdk.CheckOK
	p := preview.Of([]preview.Subject{web, db, fine, subject(t, "local/new", 0)}, now())
	if got, want := p.String(), "1 to approve, 1 failed, 1 up to date, 1 without an update"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if c := p.Containers[0]; c.Shown != "Website" || c.Running != "edge (1.0.4)" || c.Target != "1.0.5" {
		t.Errorf("got %q %q → %q", c.Shown, c.Running, c.Target)
	}
	web.Container.Image.Version = ""
	if c := preview.Of([]preview.Subject{web}, now()).Containers[0]; c.Target != "edge@027efd38fc76" {
		t.Errorf("of versions that are not known: %q", c.Target)
	}
}

func TestWithAnotherRule(t *testing.T) {
	subjects := fleet(t)
	for _, test := range []struct {
		rules []string
		want  string
	}{
		{[]string{"minage=7d"}, "1 offered, 2 held, 1 automatic, 1 without an update"},
		{[]string{"minage=7d", " Window = always"}, "2 offered, 1 held, 1 automatic, 1 without an update"},
		{[]string{"threshold=patch"}, "4 held, 1 without an update"},
	} {
		changed, err := preview.With(subjects, test.rules, time.UTC, now())
		if err != nil {
			t.Fatal(err)
		}
		if got := preview.Of(changed, now()).String(); got != test.want {
			t.Errorf("%q: got %q, want %q", test.rules, got, test.want)
		}
	}
	if got := preview.Of(subjects, now()).String(); got != "2 offered, 1 held, 1 automatic, 1 without an update" {
		t.Errorf("the rules themselves have changed: %s", got)
	}
}

// TestWithSaysThatAnAgeIsNotRead: on the first day no check has read ages, as no rule asked for them; that is
// not said to be new. Where one asked, the day on which it was first seen counts.
func TestWithSaysThatAnAgeIsNotRead(t *testing.T) {
	for _, test := range []struct {
		rules []string
		shown *sdk.Result
		want  string
		until bool
	}{{nil, nil, "1.1 must be 7 days old, and its age is not known until the next check", false},
		{nil, &sdk.Result{Tag: "1.1", Created: sdk.TimeOf(now().Add(-48 * time.Hour))}, "was released on 21 Nov 2026", true},
		{nil, &sdk.Result{Tag: "1.2", Created: sdk.TimeOf(now().Add(-48 * time.Hour))}, "not known until", false},
		{[]string{"minage=2d"}, nil, "was first seen on 23 Nov 2026", true}} {
		of := []preview.Subject{subject(t, "local/web", 0, test.rules...)}
		of[0].Update.Candidates = []candidate.Candidate{{Kind: sdk.KindTag, Tag: "1.1", Diff: sdk.DiffMinor,
			FirstSeen: sdk.TimeOf(now().Add(-time.Hour)).Time}}
		of[0].Container.Result = test.shown
		changed, err := preview.With(of, []string{"minage=7d"}, time.UTC, now())
		if err != nil {
			t.Fatal(err)
		}
		c := preview.Of(changed, now()).Containers[0]
		if len(c.Reasons) != 1 || !strings.Contains(c.Reasons[0].Text, test.want) ||
			c.Reasons[0].Until.IsZero() == test.until {
			t.Errorf("with %q before: %+v, want %q", test.rules, c.Reasons, test.want)
		}
	}
}

func TestWithSaysWhatIsWrong(t *testing.T) {
	for rule, want := range map[string]string{
		"minage":    "write it like minage=7d",
		"minags=7d": "did you mean minage?",
		"minage=7":  "rule minage: \"7\" has no unit",
	} {
		for _, subjects := range [][]preview.Subject{nil, fleet(t)} {
			_, err := preview.With(subjects, []string{rule}, time.UTC, now())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q of %d: got %v, want %q", rule, len(subjects), err, want)
			}
		}
	}
}

func TestUses(t *testing.T) {
	var got []string
	for _, u := range preview.Of(fleet(t), now()).Uses() {
		got = append(got, fmt.Sprintf("%s=%s %v: %s", u.Name, u.Value, u.Containers, u.Counts))
	}
	want := []string{
		"update=auto [local/auto]: 1 automatic",
		"minage=7d [local/current local/old]: 1 offered, 1 without an update",
		"window=Sat 02:00-05:00 UTC [local/held]: 1 held",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestNeverOpens(t *testing.T) {
	s := subject(t, "local/nginx", time.Hour, "window=0 2 24 12 *", "freeze=12-20..01-05")
	c := preview.Of([]preview.Subject{s}, now()).Containers[0]
	if len(c.Windows) > 0 || !strings.Contains(c.NeverOpens, "for ever") {
		t.Errorf("got %+v", c)
	}
}
