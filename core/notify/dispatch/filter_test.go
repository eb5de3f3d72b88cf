package dispatch

import (
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

// steps are the updates that the columns of the tables stand for.
var steps = []sdk.UpdateKind{
	{Kind: "tag", SemverDiff: "major"}, {Kind: "tag", SemverDiff: "minor"}, {Kind: "tag", SemverDiff: "patch"},
	{Kind: "tag", SemverDiff: "prerelease"}, {Kind: "tag", SemverDiff: "unknown"}, {Kind: "digest"}, {Kind: "unknown"},
}

// marks writes which steps pass, as the reference does.
func marks(pass func(sdk.UpdateKind) bool, steps ...sdk.UpdateKind) (text string) {
	for _, u := range steps {
		if pass(u) {
			text += "✔"
		} else {
			text += "✘"
		}
	}
	return text
}

// TestAcceptsThresholds is the observed table: they measure steps between versions, and let everything else pass.
func TestAcceptsThresholds(t *testing.T) {
	for threshold, want := range map[string]string{
		"all": "✔✔✔✔✔✔✔", "major": "✔✔✔✔✔✔✔", "minor": "✘✔✔✔✔✔✔", "patch": "✘✘✔✔✔✔✔",
		"major-only": "✔✘✘✘✔✔✔", "minor-only": "✘✔✘✘✔✔✔", "": "✔✔✔✔✔✔✔",
		"versions": "✔✔✔✔✔✘✔", "digest": "✘✘✘✘✘✔✘", "major-no-digest": "✔✔✔✔✔✘✔", "minor-no-digest": "✘✔✔✔✔✘✔",
		"patch-no-digest": "✘✘✔✔✔✘✔", "major-only-no-digest": "✔✘✘✘✔✘✔", "minor-only-no-digest": "✘✔✘✘✔✘✔",
	} {
		trigger := Trigger{ID: "smtp.main", Threshold: threshold, IncludeByDefault: true}
		got := marks(func(u sdk.UpdateKind) bool { return accepts(trigger, sdk.Container{UpdateKind: u}) }, steps...)
		if got != want {
			t.Errorf("%q: %s, want %s", threshold, got, want)
		}
	}
}

// TestAcceptsRebuilds: a trigger that does not run for the rebuilds of a container has every version all the same, as
// far as its threshold goes, and a new image of the same tag that is known to be another version.
func TestAcceptsRebuilds(t *testing.T) {
	steps := append(steps, sdk.UpdateKind{Kind: "digest", SemverDiff: "minor"})
	for threshold, want := range map[string]string{
		"all": "✔✔✔✔✔✘✔✔", "minor": "✘✔✔✔✔✘✔✔",
		"patch-no-digest": "✘✘✔✔✔✘✔✘", "digest": "✘✘✘✘✘✘✘✔",
	} {
		trigger := Trigger{ID: "smtp.main", Threshold: threshold, IncludeByDefault: true,
			OnDigest: func(c sdk.Container) bool { return c.Name != "quiet" }}
		accepted := func(name string) string {
			return marks(func(u sdk.UpdateKind) bool {
				return accepts(trigger, sdk.Container{Name: name, UpdateKind: u, TriggerInclude: "smtp.main"})
			}, steps...)
		}
		if got := accepted("quiet"); got != want {
			t.Errorf("%q: %s, want %s", threshold, got, want)
		}
		without := trigger
		without.OnDigest = nil
		want := marks(func(u sdk.UpdateKind) bool { return accepts(without, sdk.Container{UpdateKind: u}) }, steps...)
		if got := accepted("web"); got != want {
			t.Errorf("%q of another container: %s, want %s", threshold, got, want)
		}
	}
}

// TestAcceptsIncludeExcludeLabels are the observed combinations of the two labels; columns major, minor, patch, digest.
func TestAcceptsIncludeExcludeLabels(t *testing.T) {
	for _, c := range []struct {
		include, exclude string
		byDefault        bool
		want             string
	}{
		{"", "", true, "✔✔✔✔"},
		{"", "", false, "✘✘✘✘"},
		{"smtp.main", "", false, "✔✔✔✔"},
		{"other.one", "", true, "✘✘✘✘"},
		{"smtp.main:minor", "", true, "✘✔✔✔"},
		{"smtp.main:major-only", "", true, "✔✘✘✔"},
		{"smtp.main:minor-only", "", true, "✘✔✘✔"},
		{"smtp.main:patch", "", true, "✘✘✔✔"},
		{"other.one, smtp.main : patch ,x.y", "", true, "✘✘✔✔"},
		{"smtp.main:patch,smtp.main:all", "", true, "✘✘✔✔"}, // the first wins
		{"", "smtp.main", true, "✘✘✘✘"},
		{"", "smtp.main:minor", true, "✔✘✘✘"},
		{"", "other.one", true, "✔✔✔✔"},
		{"smtp.main", "smtp.main", true, "✘✘✘✘"},
		{"smtp.main", "smtp.main:patch", true, "✔✔✘✘"},
		{"smtp.main:minor", "smtp.main:patch", true, "✘✔✘✘"},
		{"", "smtp.main", false, "✘✘✘✘"},
	} {
		tr := Trigger{ID: "smtp.main", Threshold: "all", IncludeByDefault: c.byDefault}
		got := marks(func(u sdk.UpdateKind) bool {
			return accepts(tr, sdk.Container{UpdateKind: u, TriggerInclude: c.include, TriggerExclude: c.exclude})
		}, steps[0], steps[1], steps[2], steps[5])
		if got != c.want {
			t.Errorf("include %q exclude %q default %t: %s, want %s", c.include, c.exclude, c.byDefault, got, c.want)
		}
	}
	// The trigger's own threshold applies besides.
	tr := Trigger{ID: "smtp.main", Threshold: "patch", IncludeByDefault: true}
	got := marks(func(u sdk.UpdateKind) bool {
		return accepts(tr, sdk.Container{UpdateKind: u, TriggerInclude: "smtp.main:minor"})
	}, steps...)
	if got != "✘✘✔✔✔✔✔" {
		t.Errorf("both thresholds: %s", got)
	}
}

// TestFindLabelSyntax is the observed reading of single items.
func TestFindLabelSyntax(t *testing.T) {
	for _, c := range []struct {
		label, threshold string
		listed           bool
	}{
		{"smtp.gmail", "all", true},
		{"smtp.gmail:minor", "minor", true},
		{"smtp.gmail : minor", "minor", true},
		{"smtp.gmail\t:\tminor", "minor", true},
		{"smtp.gmail:MINOR", "all", true},
		{"smtp.gmail:foo", "all", true},
		{"smtp.gmail:minor:x", "all", true},
		{"smtp.gmail:", "all", true},
		{"SMTP.Gmail:patch", "patch", true},
		{" smtp.gmail", "", false}, // never matches
		{"smtp.gmail ", "", false},
		{"smtp.gmail:minor ", "all", true},
		{"a.b , smtp.gmail:major , c.d", "major", true},
		{"a.b, smtp.gmail", "all", true},
		{"smtp.gmail,c.d ", "all", true},
		{"smtp.gmail2", "", false},
		{"smtp", "", false},
		{"gmail", "", false},
		{",,", "", false},
		{"", "", false},
	} {
		threshold, listed := find(c.label, "smtp.gmail")
		if threshold != c.threshold || listed != c.listed {
			t.Errorf("%q: %q %t, want %q %t", c.label, threshold, listed, c.threshold, c.listed)
		}
	}
}

// TestAssociatedAgreesWithAccepts: what the listing shows can run for some update, and nothing else can.
func TestAssociatedAgreesWithAccepts(t *testing.T) {
	labels := []string{"", "smtp.main", "smtp.main:minor", "SMTP.Main:patch", " smtp.main", "x.y",
		"smtp.main:major-only", "x.y,smtp.main"}
	for _, include := range labels {
		for _, exclude := range labels {
			for _, byDefault := range []bool{true, false} {
				c := sdk.Container{TriggerInclude: include, TriggerExclude: exclude}
				threshold, listed := Associated("smtp.main", byDefault, c)
				can := false
				for _, u := range steps {
					c.UpdateKind = u
					can = can || accepts(Trigger{ID: "smtp.main", IncludeByDefault: byDefault}, c)
				}
				if can && !listed {
					t.Errorf("include %q exclude %q default %t: runs but is not listed", include, exclude, byDefault)
				}
				if _, out := find(exclude, "smtp.main"); listed && !can && !out {
					t.Errorf("include %q exclude %q default %t: listed but never runs", include, exclude, byDefault)
				}
				if want, _ := find(include, "smtp.main"); threshold != want {
					t.Errorf("include %q: threshold %q, want %q", include, threshold, want)
				}
			}
		}
	}
	if _, listed := Associated("smtp.main", true, sdk.Container{TriggerExclude: "smtp.main"}); listed {
		t.Error("an excluded trigger is listed")
	}
}

func FuzzFind(f *testing.F) {
	f.Add("smtp.main:minor, docker.local", "smtp.main")
	f.Add(" , : ,:::", "")
	f.Fuzz(func(t *testing.T, label, id string) {
		threshold, listed := find(label, id)
		if (threshold != "") != listed {
			t.Fatalf("%q %t", threshold, listed)
		}
	})
}
