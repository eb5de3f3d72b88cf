package decision

import (
	"cmp"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// judge decides about the update of a container and writes that into it, but for its links. before is the container as
// it was: an update that was offered stays so since then. It returns what was found, with the time at which the update
// was offered first, and whether it was offered before, perhaps until it gave way to another one that was not snoozed
// or skipped.
func (d *Decisions) judge(
	before, c *sdk.Container, found candidate.Found, now time.Time,
) (offered candidate.Found, offeredBefore bool) {
	rules := d.Rules(*c)
	outcome := d.Decide(c, rules, found, now)
	*c = Detached(*c)
	c.IsSnoozed, c.SnoozedUntil, c.IsCoolingDown, c.CoolingDownUntil, c.Delay = false, sdk.Time{}, false, sdk.Time{}, ""
	if c.Decision = nil; outcome.Target < 0 {
		return found, false
	}
	offer(c, found.Candidates[outcome.Target], found.From)
	c.Result.Levels = levels(found.Candidates)
	decision := sdk.Decision{State: string(outcome.State), Until: sdk.TimeOf(outcome.Next)}
	for _, r := range outcome.Reasons {
		decision.Reasons = append(decision.Reasons, sdk.Reason{
			Code: r.Code, Text: r.Text, Source: r.Source, Until: sdk.TimeOf(r.Until),
		})
		switch {
		case r.Code == policy.ReasonSnoozed && outcome.State == policy.Held:
			c.IsSnoozed, c.SnoozedUntil = true, sdk.TimeOf(r.Until)
		case r.Code == policy.ReasonMinAge && outcome.State == policy.Held:
			c.IsCoolingDown, c.CoolingDownUntil = true, sdk.TimeOf(r.Until)
		}
	}
	if age := rules.MinAge.Value; age > 0 {
		c.Delay = policy.FormatAge(age)
	}
	c.Decision = &decision
	if earlier := found.Candidates[outcome.Target].OfferedAt; !earlier.IsZero() {
		decision.OfferedAt = sdk.TimeOf(earlier)
		return found, true
	}
	if decision.OfferedAt = offeredAt(before, c, now); !decision.OfferedAt.IsZero() {
		found, _ = found.Offer(outcome.Target, decision.OfferedAt.Time)
	}
	return found, false
}

// offeredAt returns when the update of a container was offered first, zero if it never
// was. Before there were decisions every update was offered at once.
func offeredAt(before, after *sdk.Container, now time.Time) sdk.Time {
	if update.Equal(before, after) {
		switch earlier := before.Decision; {
		case earlier == nil:
			return sdk.TimeOf(cmp.Or(before.Check.At.Time, now))
		case !earlier.OfferedAt.IsZero():
			return earlier.OfferedAt
		}
	}
	if !Offered(after) {
		return sdk.Time{}
	}
	return sdk.TimeOf(now)
}

// Offered reports whether triggers are notified of the update of a container.
func Offered(c *sdk.Container) bool {
	return c.UpdateAvailable && (c.Decision == nil || c.Decision.State != sdk.StateHeld)
}

// offer makes a candidate the update of a container. from is the digest with which a
// digest was compared.
func offer(c *sdk.Container, target candidate.Candidate, from string) {
	img := c.Watched()
	result := sdk.Result{
		Tag: target.Tag, Digest: target.Digest, Version: target.Version, Created: sdk.TimeOf(target.Created),
	}
	if old := c.Result; old != nil && old.Tag == target.Tag && old.Digest == target.Digest && !old.Created.IsZero() {
		result.Created = old.Created // of the digest itself, not of the first since the one that runs
	}
	c.UpdateAvailable, c.Result = true, &result
	c.UpdateKind = sdk.UpdateKind{
		Kind: target.Kind, LocalValue: img.Tag.Value, RemoteValue: target.Tag, SemverDiff: target.Diff,
	}
	if target.Kind == sdk.KindDigest {
		img.Digest.Value = from
		c.UpdateKind.LocalValue, c.UpdateKind.RemoteValue = from, target.Digest
	}
}

// levels returns the newest candidate of each step; nil when there is none.
func levels(candidates []candidate.Candidate) *sdk.Levels {
	var l sdk.Levels
	any := false
	for _, c := range candidates {
		var level **sdk.Release
		switch c.Diff {
		case sdk.DiffMajor:
			level = &l.Major
		case sdk.DiffMinor:
			level = &l.Minor
		case sdk.DiffPatch, sdk.DiffPrerelease:
			level = &l.Patch
		}
		if c.Kind == sdk.KindTag && level != nil && *level == nil {
			*level = &sdk.Release{Tag: c.Tag, Created: sdk.TimeOf(c.Created), FirstSeen: sdk.TimeOf(c.FirstSeen)}
			any = true
		}
	}
	if !any {
		return nil
	}
	return &l
}

// sameDecision reports whether two states of a container have the same decision about the
// same update. One from before there were decisions is as one that needed no reason.
func sameDecision(before, after *sdk.Container) bool {
	a, b := before.Decision, after.Decision
	switch {
	case a == nil && b == nil:
		return true
	case a == nil:
		return update.Equal(before, after) && b.State == sdk.StateOffered && len(b.Reasons) == 0
	case b == nil:
		return false
	}
	return a.State == b.State && a.Until.Equal(b.Until.Time) && a.OfferedAt.Equal(b.OfferedAt.Time) &&
		slices.EqualFunc(a.Reasons, b.Reasons, func(x, y sdk.Reason) bool {
			return x.Code == y.Code && x.Text == y.Text && x.Source == y.Source && x.Until.Equal(y.Until.Time)
		})
}

// newLevels returns the steps whose newest version is another one than before, the largest first. Before
// there were decisions it was not known.
func newLevels(before, after *sdk.Container) (steps []string) {
	if !after.UpdateAvailable || before.Decision == nil && before.UpdateAvailable {
		return nil
	}
	known := tally.Levels(before)
	for _, level := range slices.Backward(tally.Levels(after)) {
		isKnown := func(earlier tally.Level) bool { return earlier.Step == level.Step && earlier.Tag == level.Tag }
		if !slices.ContainsFunc(known, isKnown) {
			steps = append(steps, level.Step)
		}
	}
	return steps
}
