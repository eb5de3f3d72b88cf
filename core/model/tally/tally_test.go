package tally_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/model/tally/tallytest"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestCounts(t *testing.T) {
	container := func(state string, problem bool, kind, diff string) *sdk.Container {
		c := &sdk.Container{
			Check: sdk.CheckState{State: state}, UpdateAvailable: kind != "",
			UpdateKind: sdk.UpdateKind{Kind: kind, SemverDiff: diff},
		}
		if problem {
			c.Error = &sdk.ContainerError{Message: "x"}
		}
		return c
	}
	waiting := container(sdk.CheckOK, false, "", "")
	waiting.Check.PostponedUntil = sdk.TimeOf(time.Now())
	again := container(sdk.CheckFailed, true, "", "")
	again.Check.PostponedUntil = waiting.Check.PostponedUntil
	wrong := container(sdk.CheckOK, true, "", "")
	wrong.Check.PostponedUntil = waiting.Check.PostponedUntil
	decided := func(state string) *sdk.Container {
		c := container(sdk.CheckOK, false, sdk.KindTag, sdk.DiffPatch)
		c.Decision = &sdk.Decision{State: state}
		return c
	}
	waits := decided(sdk.StateOffered)
	waits.Decision.Reasons = []sdk.Reason{{Code: "approval"}}
	for _, c := range []struct {
		name string
		of   *sdk.Container
		want tally.Counts
	}{
		{"up to date", container(sdk.CheckOK, false, "", ""), tally.Counts{All: 1, Current: 1}},
		{"never checked", container(sdk.CheckNever, false, "", ""), tally.Counts{All: 1, Unchecked: 1}},
		{"nothing compared", container(sdk.CheckUnknown, false, "", ""), tally.Counts{All: 1, Unknown: 1}},
		{"nothing compared, with a wrong label", container(sdk.CheckUnknown, true, "", ""),
			tally.Counts{All: 1, Failed: 1}},
		{"without a state", container("", false, "", ""), tally.Counts{All: 1, Unchecked: 1}},
		{"failed", container(sdk.CheckFailed, true, "", ""), tally.Counts{All: 1, Failed: 1}},
		{"failed, without saying why", container(sdk.CheckFailed, false, "", ""), tally.Counts{All: 1, Failed: 1}},
		{"failed, with the update of before", container(sdk.CheckFailed, true, sdk.KindTag, sdk.DiffMajor),
			tally.Counts{All: 1, Stale: 1, Updates: 1, Major: 1, Offered: 1}},
		{"wrong label", container(sdk.CheckOK, true, "", ""), tally.Counts{All: 1, Failed: 1}},
		{"wrong label, with an update", container(sdk.CheckOK, true, sdk.KindTag, sdk.DiffMinor),
			tally.Counts{All: 1, Stale: 1, Updates: 1, Minor: 1, Offered: 1}},
		{"wrong label, never checked", container(sdk.CheckNever, true, "", ""), tally.Counts{All: 1, Failed: 1}},
		{"postponed", waiting, tally.Counts{All: 1, Postponed: 1}},
		{"failed, and postponed since", again, tally.Counts{All: 1, Postponed: 1}},
		{"postponed, with a wrong label", wrong, tally.Counts{All: 1, Failed: 1}},
		{"patch", container(sdk.CheckOK, false, sdk.KindTag, sdk.DiffPatch),
			tally.Counts{All: 1, Updates: 1, Patch: 1, Offered: 1}},
		{"prerelease", container(sdk.CheckOK, false, sdk.KindTag, sdk.DiffPrerelease),
			tally.Counts{All: 1, Updates: 1, Prerelease: 1, Offered: 1}},
		{"rebuilt, of unknown versions", container(sdk.CheckOK, false, sdk.KindDigest, ""),
			tally.Counts{All: 1, Updates: 1, Digest: 1, Offered: 1}},
		{"rebuilt, by a step", container(sdk.CheckOK, false, sdk.KindDigest, sdk.DiffMajor),
			tally.Counts{All: 1, Updates: 1, Major: 1, Offered: 1}},
		{"offered", decided(sdk.StateOffered), tally.Counts{All: 1, Updates: 1, Patch: 1, Offered: 1}},
		{"held", decided(sdk.StateHeld), tally.Counts{All: 1, Updates: 1, Patch: 1, Held: 1}},
		{"automatic", decided(sdk.StateAutomatic), tally.Counts{All: 1, Updates: 1, Patch: 1, Automatic: 1}},
		{"to approve", waits, tally.Counts{All: 1, Updates: 1, Patch: 1, Offered: 1, Approval: 1}},
		{"no distance", container(sdk.CheckOK, false, sdk.KindTag, sdk.DiffUnknown),
			tally.Counts{All: 1, Updates: 1, Others: 1, Offered: 1}},
	} {
		var got tally.Counts
		if got.Add(c.of); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestCountsAddUp: of 1,000 random fleets, the parts are as many as there are containers, and the
// kinds and decisions as many as there are updates.
func TestCountsAddUp(t *testing.T) {
	for seed := range uint64(tallytest.Fleets) {
		var n tally.Counts
		fleet := tallytest.Fleet(seed)
		for i := range fleet {
			n.Add(&fleet[i])
		}
		if parts := n.Updates + n.Failed + n.Postponed + n.Unchecked + n.Unknown + n.Current; parts != len(fleet) ||
			n.All != len(fleet) {
			t.Errorf("fleet %d: %d containers and parts of %d: %+v", seed, len(fleet), parts, n)
		}
		kinds := n.Major + n.Minor + n.Patch + n.Prerelease + n.Digest + n.Others
		if decided := n.Offered + n.Held + n.Automatic; kinds != n.Updates || decided != n.Updates ||
			n.Stale > n.Updates {
			t.Errorf("fleet %d: %d updates, kinds of %d, decisions of %d: %+v", seed, n.Updates, kinds, decided, n)
		}
	}
}

// TestFailuresByCause: what several share is one failure, whatever their errors say.
func TestFailuresByCause(t *testing.T) {
	type failure struct{ name, cause, err string }
	hub, quay := "Docker Hub does not answer", "quay.io refuses access"
	all := []failure{
		{"fine", "", ""}, {"a", hub, "list tags of a: timeout"}, {"secret", quay, "401 of secret"},
		{"b", hub, "list tags of b: timeout"},
		{"label", "", "wrong label"}, {"other", "", "wrong label"}, {"c", hub, "not asked again"},
	}
	var got []string
	for _, f := range tally.Failures(all, func(f failure) (cause, err string) { return f.cause, f.err }) {
		var names []string
		for _, one := range f.Of {
			names = append(names, one.name)
		}
		got = append(got, fmt.Sprintf("%s (%s): %s", f.Text, f.Detail, strings.Join(names, " ")))
	}
	want := []string{hub + " (list tags of a: timeout): a b c", "wrong label (): label other",
		"401 of secret (): secret"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestOthers(t *testing.T) {
	release := func(tag string) *sdk.Release { return &sdk.Release{Tag: tag} }
	for about, c := range map[string]struct {
		levels *sdk.Levels
		want   string
	}{
		"no levels":         {nil, ""},
		"only the update":   {&sdk.Levels{Minor: release("8.2.1")}, ""},
		"a major beside it": {&sdk.Levels{Minor: release("8.2.1"), Major: release("9.0")}, ", or 9.0"},
		"all three": {&sdk.Levels{Patch: release("8.1.9"), Minor: release("8.2.1"), Major: release("9.0")},
			", or 8.1.9, or 9.0"},
		"the same tag twice": {&sdk.Levels{Patch: release("8.1.9"), Minor: release("8.1.9")}, ", or 8.1.9"},
	} {
		container := sdk.Container{UpdateAvailable: true, Result: &sdk.Result{Tag: "8.2.1", Levels: c.levels}}
		if got := tally.Also(&container); got != c.want {
			t.Errorf("%s: %q, want %q", about, got, c.want)
		}
		container.UpdateAvailable = false
		if got := tally.Also(&container); got != "" {
			t.Errorf("%s, without update: %q", about, got)
		}
	}
}
