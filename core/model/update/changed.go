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
	is := *c
	is.Labels, is.ImageLabels, is.Image.Digest.Repos = nil, nil, nil
	is.Image.Created, is.Check.At, is.Check.PostponedUntil = cut(is.Image.Created), cut(is.Check.At),
		cut(is.Check.PostponedUntil)
	is.Result, is.UpdateKind.Result = normalisedResult(is.Result), normalisedResult(is.UpdateKind.Result)
	is.SnoozedUntil, is.CoolingDownUntil, is.Decision = cut(is.SnoozedUntil), cut(is.CoolingDownUntil),
		normalisedDecision(is.Decision)
	if c.Base != nil {
		base := *c.Base
		base.Created = cut(base.Created)
		is.Base = &base
	}
	is.Skipped = slices.Clone(is.Skipped)
	for i := range is.Skipped {
		is.Skipped[i].Created = cut(is.Skipped[i].Created)
	}
	if ignore&CheckTime != 0 {
		is.Check.At = sdk.Time{}
	}
	if ignore&ImageDetails != 0 {
		is.Image.Created = sdk.Time{}
		if is.Base != nil {
			is.Base.Created = sdk.Time{}
		}
	}
	return is
}

func normalisedResult(r *sdk.Result) *sdk.Result {
	if r == nil {
		return nil
	}
	is := *r
	is.Created = cut(is.Created)
	if l := r.Levels; l != nil {
		is.Levels = &sdk.Levels{
			Patch: normalisedRelease(l.Patch), Minor: normalisedRelease(l.Minor), Major: normalisedRelease(l.Major),
		}
	}
	return &is
}

func normalisedRelease(r *sdk.Release) *sdk.Release {
	if r == nil {
		return nil
	}
	is := *r
	is.Created, is.FirstSeen = cut(is.Created), cut(is.FirstSeen)
	return &is
}

func normalisedDecision(d *sdk.Decision) *sdk.Decision {
	if d == nil {
		return nil
	}
	is := *d
	is.Until, is.OfferedAt, is.Reasons = cut(is.Until), cut(is.OfferedAt), slices.Clone(is.Reasons)
	for i := range is.Reasons {
		is.Reasons[i].Until = cut(is.Reasons[i].Until)
	}
	return &is
}

func cut(t sdk.Time) sdk.Time { return sdk.TimeOf(t.Time) }
