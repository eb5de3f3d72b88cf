package dispatch

import (
	"slices"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

// offeredTo returns the container with the update of which a trigger is notified, if
// any: the one that is offered or, where that is too large for the trigger's threshold or for the
// labels of the container, the newest version of a smaller step. A held update is for no trigger.
func offeredTo(t Trigger, c sdk.Container) (sdk.Container, bool) {
	if !decided(t, c) {
		return c, false
	}
	if accepts(t, c) {
		return c, true
	}
	for _, level := range otherLevels(c) {
		if accepts(t, level) {
			return level, true
		}
	}
	return c, false
}

// decided reports whether a trigger may run for the update of a container now. One that has
// containers updated waits for the approval of a user where the rules ask for it, and
// leaves alone what is carried out automatically.
func decided(t Trigger, c sdk.Container) bool {
	d := c.Decision
	switch {
	case c.Base != nil && t.Operates: // it is to be built anew
		return false
	case d == nil:
		return true
	case d.State == sdk.StateHeld:
		return false
	case !t.Operates:
		return true
	}
	return d.State == sdk.StateOffered &&
		!slices.ContainsFunc(d.Reasons, func(r sdk.Reason) bool { return r.Code == policy.ReasonApproval })
}

// otherLevels returns a container once for each version of another step than the one that
// is offered, which it then has as its update; the largest step first.
func otherLevels(c sdk.Container) []sdk.Container {
	if c.Result == nil || c.Result.Levels == nil || c.UpdateKind.Kind != sdk.KindTag {
		return nil
	}
	var others []sdk.Container
	for _, level := range []struct {
		diff    string
		release *sdk.Release
	}{{sdk.DiffMajor, c.Result.Levels.Major}, {sdk.DiffMinor, c.Result.Levels.Minor},
		{sdk.DiffPatch, c.Result.Levels.Patch}} {
		r := level.release
		if r == nil || r.Tag == c.Result.Tag {
			continue
		}
		other := c
		other.Result = &sdk.Result{Tag: r.Tag, Created: r.Created, Link: r.Link, Levels: c.Result.Levels}
		other.UpdateKind.RemoteValue, other.UpdateKind.SemverDiff = r.Tag, level.diff
		others = append(others, other)
	}
	return others
}
