package update

import (
	"maps"
	"reflect"
	"slices"

	"github.com/dogwatch/dogwatch/sdk"
)

// Fields are parts of a container that a comparison leaves out.
type Fields uint

const (
	// CheckTime is when the last check ended: Check.At.
	CheckTime Fields = 1 << iota
	// ReleaseDate is when the image of the result was made, which becomes known
	// later than the result: Result.Created, if both states have a result.
	ReleaseDate
	// ImageDetails is what else the engine says of the running image: when it was
	// built, and under which digests it knows it. Image.ID tells whether it is another one.
	ImageDetails
)

// Changed reports whether two states of a container differ in anything but the
// ignored fields. Absent and empty labels are the same, and times count in the
// milliseconds in which they are stored. Neither state is changed.
func Changed(before, after *sdk.Container, ignore Fields) bool {
	if before == after {
		return false
	}
	if Relabelled(before, after) {
		return true
	}
	if ignore&ImageDetails == 0 && !slices.Equal(before.Image.Digest.Repos, after.Image.Digest.Repos) {
		return true
	}
	a, b := normalised(before, ignore), normalised(after, ignore)
	if ignore&ReleaseDate != 0 && a.Result != nil && b.Result != nil {
		a.Result.Created, b.Result.Created = sdk.Time{}, sdk.Time{}
	}
	return !reflect.DeepEqual(&a, &b)
}

// Relabelled reports whether two states of a container differ in their labels, or in which
// of them come from the image.
func Relabelled(before, after *sdk.Container) bool {
	return !maps.Equal(before.Labels, after.Labels) || !slices.Equal(before.ImageLabels, after.ImageLabels)
}

// normalised returns a copy in which equal states are deeply equal, without what
// Changed compares by itself.
func normalised(c *sdk.Container, ignore Fields) sdk.Container {
	copied := *c
	copied.Labels, copied.ImageLabels, copied.Image.Digest.Repos = nil, nil, nil
	copied.Image.Created, copied.Check.At, copied.Check.PostponedUntil = cut(copied.Image.Created), cut(copied.Check.At),
		cut(copied.Check.PostponedUntil)
	copied.Result, copied.UpdateKind.Result = normalisedResult(copied.Result), normalisedResult(copied.UpdateKind.Result)
	copied.SnoozedUntil, copied.CoolingDownUntil, copied.Decision = cut(copied.SnoozedUntil), cut(copied.CoolingDownUntil),
		normalisedDecision(copied.Decision)
	if c.Base != nil {
		base := *c.Base
		base.Created = cut(base.Created)
		copied.Base = &base
	}
	copied.Skipped = slices.Clone(copied.Skipped)
	for i := range copied.Skipped {
		copied.Skipped[i].Created = cut(copied.Skipped[i].Created)
	}
	if ignore&CheckTime != 0 {
		copied.Check.At = sdk.Time{}
	}
	if ignore&ImageDetails != 0 {
		copied.Image.Created = sdk.Time{}
		if copied.Base != nil {
			copied.Base.Created = sdk.Time{}
		}
	}
	return copied
}

func normalisedResult(r *sdk.Result) *sdk.Result {
	if r == nil {
		return nil
	}
	copied := *r
	copied.Created = cut(copied.Created)
	if l := r.Levels; l != nil {
		copied.Levels = &sdk.Levels{
			Patch: normalisedRelease(l.Patch), Minor: normalisedRelease(l.Minor), Major: normalisedRelease(l.Major),
		}
	}
	return &copied
}

func normalisedRelease(r *sdk.Release) *sdk.Release {
	if r == nil {
		return nil
	}
	copied := *r
	copied.Created, copied.FirstSeen = cut(copied.Created), cut(copied.FirstSeen)
	return &copied
}

func normalisedDecision(d *sdk.Decision) *sdk.Decision {
	if d == nil {
		return nil
	}
	copied := *d
	copied.Until, copied.OfferedAt, copied.Reasons = cut(copied.Until), cut(copied.OfferedAt), slices.Clone(copied.Reasons)
	for i := range copied.Reasons {
		copied.Reasons[i].Until = cut(copied.Reasons[i].Until)
	}
	return &copied
}

func cut(t sdk.Time) sdk.Time { return sdk.TimeOf(t.Time) }
