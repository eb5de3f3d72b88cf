package decision

import (
	"cmp"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// judge decides about the update of a container and writes that into it, but for its links. before is the container as
// it was: an update that was offered stays so since then. It returns what was found, with the time at which the update
// was offered first, and whether it was offered before, perhaps until it gave way to another one that was not snoozed
// or skipped.
func (d *Decisions) judge(
	before, c *sdk.Container, found policy.Found, now time.Time,
) (offered policy.Found, offeredBefore bool) {
	rules := d.Rules(*c)
	made := d.Decide(c, rules, found, now)
	*c = Detached(*c)
	c.IsSnoozed, c.SnoozedUntil, c.IsCoolingDown, c.CoolingDownUntil, c.Delay = false, sdk.Time{}, false, sdk.Time{}, ""
	if c.Decision = nil; made.Target < 0 {
		return found, false
	}
	offer(c, found.Candidates[made.Target], found.From)
	c.Result.Levels = levels(found.Candidates)
	decided := sdk.Decision{State: string(made.State), Until: sdk.TimeOf(made.Next)}
	for _, r := range made.Reasons {
		decided.Reasons = append(decided.Reasons, sdk.Reason{
			Code: r.Code, Text: r.Text, Source: r.Source, Until: sdk.TimeOf(r.Until),
		})
		switch {
		case r.Code == policy.ReasonSnoozed && made.State == policy.Held:
			c.IsSnoozed, c.SnoozedUntil = true, sdk.TimeOf(r.Until)
		case r.Code == policy.ReasonMinAge && made.State == policy.Held:
			c.IsCoolingDown, c.CoolingDownUntil = true, sdk.TimeOf(r.Until)
		}
	}
	if age := rules.MinAge.Value; age > 0 {
		c.Delay = policy.FormatAge(age)
	}
	c.Decision = &decided
	if earlier := found.Candidates[made.Target].OfferedAt; !earlier.IsZero() {
		decided.OfferedAt = sdk.TimeOf(earlier)
		return found, true
	}
	if decided.OfferedAt = offeredAt(before, c, now); !decided.OfferedAt.IsZero() {
		found, _ = found.Offer(made.Target, decided.OfferedAt.Time)
	}
	return found, false
}

// offeredAt returns when the update of a container was offered first, zero if it never
// was. Before there were decisions every update was offered at once.
func offeredAt(before, after *sdk.Container, now time.Time) sdk.Time {
	if update.Equal(before, after) {
		switch was := before.Decision; {
		case was == nil:
			return sdk.TimeOf(cmp.Or(before.Check.At.Time, now))
		case !was.OfferedAt.IsZero():
			return was.OfferedAt
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
func offer(c *sdk.Container, of policy.Candidate, from string) {
	c.UpdateAvailable = true
	img := c.Watched()
	result := sdk.Result{Tag: of.Tag, Digest: of.Digest, Version: of.Version, Created: sdk.TimeOf(of.Created)}
	if was := c.Result; was != nil && was.Tag == of.Tag && was.Digest == of.Digest && !was.Created.IsZero() {
		result.Created = was.Created // of the digest itself, not of the first since the one that runs
	}
	c.Result = &result
	if of.Kind == sdk.KindDigest {
		img.Digest.Value = from
		c.UpdateKind = sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: from, RemoteValue: of.Digest, SemverDiff: of.Diff}
		return
	}
	c.UpdateKind = sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: img.Tag.Value, RemoteValue: of.Tag,
		SemverDiff: of.Diff}
}

// levels returns the newest candidate of each step; nil when there is none.
func levels(candidates []policy.Candidate) *sdk.Levels {
	var l sdk.Levels
	any := false
	for _, c := range candidates {
		var at **sdk.Release
		switch c.Diff {
		case sdk.DiffMajor:
			at = &l.Major
		case sdk.DiffMinor:
			at = &l.Minor
		case sdk.DiffPatch, sdk.DiffPrerelease:
			at = &l.Patch
		}
		if c.Kind == sdk.KindTag && at != nil && *at == nil {
			*at = &sdk.Release{Tag: c.Tag, Created: sdk.TimeOf(c.Created), FirstSeen: sdk.TimeOf(c.FirstSeen)}
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

// newLevels returns the steps whose newest version is another one than before. Before
// there were decisions it was not known.
func newLevels(before, after *sdk.Container) []string {
	if !after.UpdateAvailable || after.Result == nil || after.Result.Levels == nil ||
		before.Decision == nil && before.UpdateAvailable {
		return nil
	}
	var was sdk.Levels
	if before.Result != nil && before.Result.Levels != nil {
		was = *before.Result.Levels
	}
	newest := after.Result.Levels
	var steps []string
	for _, l := range []struct {
		step        string
		was, newest *sdk.Release
	}{
		{sdk.DiffMajor, was.Major, newest.Major}, {sdk.DiffMinor, was.Minor, newest.Minor},
		{sdk.DiffPatch, was.Patch, newest.Patch},
	} {
		if l.newest != nil && (l.was == nil || l.was.Tag != l.newest.Tag) {
			steps = append(steps, l.step)
		}
	}
	return steps
}
