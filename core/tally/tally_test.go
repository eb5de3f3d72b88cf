package tally

import (
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestCounts(t *testing.T) {
	container := func(state string, problem bool, kind, diff string) *sdk.Container {
		c := &sdk.Container{Check: sdk.CheckState{State: state}, UpdateAvailable: kind != "", UpdateKind: sdk.UpdateKind{Kind: kind, SemverDiff: diff}}
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
		want Counts
	}{
		{"up to date", container(sdk.CheckOK, false, "", ""), Counts{All: 1, Current: 1}},
		{"never checked", container(sdk.CheckNever, false, "", ""), Counts{All: 1, Unchecked: 1}},
		{"nothing compared", container(sdk.CheckUnknown, false, "", ""), Counts{All: 1, Unknown: 1}},
		{"nothing compared, with a wrong label", container(sdk.CheckUnknown, true, "", ""), Counts{All: 1, Failed: 1}},
		{"without a state", container("", false, "", ""), Counts{All: 1, Unchecked: 1}},
		{"failed", container(sdk.CheckFailed, true, "", ""), Counts{All: 1, Failed: 1}},
		{"failed, without saying why", container(sdk.CheckFailed, false, "", ""), Counts{All: 1, Failed: 1}},
		{"failed, with the update of before", container(sdk.CheckFailed, true, sdk.KindTag, sdk.DiffMajor), Counts{All: 1, Failed: 1, Updates: 1, Major: 1, Offered: 1}},
		{"wrong label", container(sdk.CheckOK, true, "", ""), Counts{All: 1, Failed: 1}},
		{"wrong label, with an update", container(sdk.CheckOK, true, sdk.KindTag, sdk.DiffMinor), Counts{All: 1, Failed: 1, Updates: 1, Minor: 1, Offered: 1}},
		{"wrong label, never checked", container(sdk.CheckNever, true, "", ""), Counts{All: 1, Failed: 1}},
		{"postponed", waiting, Counts{All: 1, Current: 1, Postponed: 1}},
		{"failed, and postponed since", again, Counts{All: 1, Postponed: 1}},
		{"postponed, with a wrong label", wrong, Counts{All: 1, Failed: 1, Postponed: 1}},
		{"patch", container(sdk.CheckOK, false, sdk.KindTag, sdk.DiffPatch), Counts{All: 1, Updates: 1, Patch: 1, Offered: 1}},
		{"prerelease", container(sdk.CheckOK, false, sdk.KindTag, sdk.DiffPrerelease), Counts{All: 1, Updates: 1, Prerelease: 1, Offered: 1}},
		{"rebuilt, of unknown versions", container(sdk.CheckOK, false, sdk.KindDigest, ""), Counts{All: 1, Updates: 1, Digest: 1, Offered: 1}},
		{"rebuilt, by a step", container(sdk.CheckOK, false, sdk.KindDigest, sdk.DiffMajor), Counts{All: 1, Updates: 1, Major: 1, Offered: 1}},
		{"offered", decided(sdk.StateOffered), Counts{All: 1, Updates: 1, Patch: 1, Offered: 1}},
		{"held", decided(sdk.StateHeld), Counts{All: 1, Updates: 1, Patch: 1, Held: 1}},
		{"automatic", decided(sdk.StateAutomatic), Counts{All: 1, Updates: 1, Patch: 1, Automatic: 1}},
		{"to approve", waits, Counts{All: 1, Updates: 1, Patch: 1, Offered: 1, Approval: 1}},
		{"no distance", container(sdk.CheckOK, false, sdk.KindTag, sdk.DiffUnknown), Counts{All: 1, Updates: 1, Others: 1, Offered: 1}},
	} {
		var got Counts
		if got.Add(c.of); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestOthers(t *testing.T) {
	release := func(tag string) *sdk.Release { return &sdk.Release{Tag: tag} }
	for about, c := range map[string]struct {
		levels *sdk.Levels
		want   string
	}{
		"no levels":          {nil, ""},
		"only the update":    {&sdk.Levels{Minor: release("8.2.1")}, ""},
		"a major beside it":  {&sdk.Levels{Minor: release("8.2.1"), Major: release("9.0")}, ", or 9.0"},
		"all three":          {&sdk.Levels{Patch: release("8.1.9"), Minor: release("8.2.1"), Major: release("9.0")}, ", or 8.1.9, or 9.0"},
		"the same tag twice": {&sdk.Levels{Patch: release("8.1.9"), Minor: release("8.1.9")}, ", or 8.1.9"},
	} {
		container := sdk.Container{UpdateAvailable: true, Result: &sdk.Result{Tag: "8.2.1", Levels: c.levels}}
		if got := Also(&container); got != c.want {
			t.Errorf("%s: %q, want %q", about, got, c.want)
		}
		container.UpdateAvailable = false
		if got := Also(&container); got != "" {
			t.Errorf("%s, without update: %q", about, got)
		}
	}
}
