package policy

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// The thresholds that no step between versions is in.
const (
	thresholdAll = "all"
	// thresholdVersions lets every version through and no rebuild.
	thresholdVersions = "versions"
	thresholdDigest   = "digest"
)

// noRebuilds behind a threshold keeps rebuilds back, as Drydock writes it: "minor-no-digest".
const noRebuilds = "-no-digest"

// Thresholds returns the words that are thresholds, in the order in which they are explained.
func Thresholds() []string {
	steps := []string{"major", "minor", "patch", "major-only", "minor-only"}
	all := slices.Concat([]string{thresholdAll, thresholdVersions}, steps, []string{thresholdDigest})
	for _, step := range steps {
		all = append(all, step+noRebuilds)
	}
	return all
}

// WithoutRebuilds returns the threshold that lets through what another does, but for rebuilds.
func WithoutRebuilds(threshold string) string {
	switch {
	case threshold == "" || threshold == thresholdAll:
		return thresholdVersions
	case threshold == thresholdVersions || threshold == thresholdDigest || strings.HasSuffix(threshold, noRebuilds):
		return threshold
	}
	return threshold + noRebuilds
}

// IsRebuild reports whether an update of a kind (sdk.KindTag, …) and a step (sdk.DiffMajor, …) is a rebuild: a new
// image of the same tag whose version is not known to be another.
func IsRebuild(kind, diff string) bool {
	return kind == sdk.KindDigest && (diff == "" || diff == sdk.DiffUnknown)
}

// Passes reports whether a threshold lets an update of a kind (sdk.KindTag, …) and a step
// (sdk.DiffMajor, …) through. Only steps between versions are measured. Of the thresholds without
// -no-digest all but "versions" let rebuilds through, and "digest" nothing but new images of the same tag.
func Passes(threshold, kind, diff string) bool {
	if threshold == thresholdDigest {
		return kind == sdk.KindDigest
	}
	steps, versionsOnly := strings.CutSuffix(threshold, noRebuilds)
	if kind != sdk.KindTag && kind != sdk.KindDigest || diff == "" || diff == sdk.DiffUnknown {
		return !IsRebuild(kind, diff) || !versionsOnly && threshold != thresholdVersions
	}
	switch steps {
	case "minor":
		return diff != sdk.DiffMajor
	case "patch":
		return diff != sdk.DiffMajor && diff != sdk.DiffMinor
	case "major-only":
		return diff == sdk.DiffMajor
	case "minor-only":
		return diff == sdk.DiffMinor
	}
	return true
}

// Measures reports whether a threshold depends on the step between two versions.
func Measures(threshold string) bool {
	steps := []string{sdk.DiffMajor, sdk.DiffMinor, sdk.DiffPatch, sdk.DiffUnknown}
	return slices.ContainsFunc(steps, func(diff string) bool {
		return Passes(threshold, sdk.KindDigest, diff) != Passes(threshold, sdk.KindDigest, "")
	})
}
