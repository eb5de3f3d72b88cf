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
// ignored fields. Absent and empty lists are the same, and times count in the
// milliseconds in which they are stored. Neither state is changed.
func Changed(before, after *sdk.Container, ignore Fields) bool {
	if before == after {
		return false
	}
	if Relabelled(before, after) {
		return true
	}
	skipped := make([]any, 0, 4)
	if ignore&CheckTime != 0 {
		skipped = append(skipped, &before.Check.At)
	}
	if ignore&ReleaseDate != 0 && before.Result != nil {
		skipped = append(skipped, &before.Result.Created)
	}
	if ignore&ImageDetails != 0 {
		skipped = append(skipped, &before.Image.Created, &before.Image.Digest.Repos)
		if before.Base != nil {
			skipped = append(skipped, &before.Base.Created)
		}
	}
	return !same(reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem(), skipped)
}

// same reports whether two values are equal. Times and lists of a that are skipped, by their addresses, are not
// compared, and neither are maps, which Relabelled compares.
func same(a, b reflect.Value, skipped []any) bool {
	switch kind := a.Kind(); {
	case a.Type() == reflect.TypeFor[sdk.Time]():
		one, other := a.Addr().Interface().(*sdk.Time), b.Addr().Interface().(*sdk.Time)
		return slices.Contains(skipped, any(one)) || sdk.TimeOf(one.Time).Equal(sdk.TimeOf(other.Time).Time)
	case kind == reflect.Struct:
		for i := range a.NumField() {
			if !same(a.Field(i), b.Field(i), skipped) {
				return false
			}
		}
		return true
	case kind == reflect.Pointer:
		if a.IsNil() || b.IsNil() || a.Pointer() == b.Pointer() {
			return a.Pointer() == b.Pointer()
		}
		return same(a.Elem(), b.Elem(), skipped)
	case kind == reflect.Slice:
		if slices.Contains(skipped, a.Addr().Interface()) {
			return true
		}
		for i := range min(a.Len(), b.Len()) {
			if !same(a.Index(i), b.Index(i), skipped) {
				return false
			}
		}
		return a.Len() == b.Len()
	case kind == reflect.Map:
		return true
	}
	return a.Equal(b)
}

// Relabelled reports whether two states of a container differ in their labels, or in which
// of them come from the image.
func Relabelled(before, after *sdk.Container) bool {
	return !maps.Equal(before.Labels, after.Labels) || !slices.Equal(before.ImageLabels, after.ImageLabels)
}
