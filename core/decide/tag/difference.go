package tag

import "slices"

// isVersion reports whether a version in the suffix is one: not a single number, which counts
// builds or names a line, not the base, no date and no month. Without a name, a packager's
// revision looks like one: the 27.1 of 8.0.35-27.1.
func (v *version) isVersion(c numberRun) bool {
	text := v.rest[c.start:c.end]
	first, _ := digits(text, 0)
	switch {
	case c.to-c.from < 2, isYear(first), monthOf(text) == paddedMonth, c.from < v.base.to && v.base.from < c.to:
		return false
	case c.start <= 1 && len(v.main) > 1:
		return false
	}
	return !slices.ContainsFunc(v.numbers[c.from:c.to], func(n string) bool { return len(n) >= 6 })
}

// suffixDifference returns the index in steps of the largest step of a version in the suffix.
func suffixDifference(a, b *version) int {
	largest := len(steps) - 1
	if !sameFamily(a, b) {
		return largest
	}
	for i := range min(len(a.suffixVersions), len(b.suffixVersions)) {
		x, y := a.suffixVersions[i], b.suffixVersions[i]
		if !a.isVersion(x) || !b.isVersion(y) {
			continue
		}
		for n := range min(x.to-x.from, y.to-y.from) {
			if a.numbers[x.from+n] != b.numbers[y.from+n] {
				largest = min(largest, n, slices.Index(steps[:], "patch"))
				break
			}
		}
	}
	return largest
}

// steps are the kinds of steps, the largest first.
var steps = [...]string{"major", "minor", "patch", "prerelease", "unknown"}

// difference classifies the step between two versions, in either direction: the largest of
// that of the image and those in the suffix. It is "unknown" when the versions are equal.
func difference(a, b *version) string {
	return steps[min(slices.Index(steps[:], ownDifference(a, b)), suffixDifference(a, b))]
}

// ownDifference is difference without the suffix. It classifies as
// node-semver's diff does for the versions it reads alike: leaving a prerelease of a
// x.0.0 is "major".
func ownDifference(a, b *version) string {
	low, high := a, b
	if compareVersions(a, b) > 0 {
		low, high = b, a
	}
	if !low.stage.release() && high.stage.release() {
		if low.part(1) == "" && low.part(2) == "" {
			return "major"
		}
		if compareMain(low, high) == 0 {
			if low.part(1) != "" && low.part(2) == "" {
				return "minor"
			}
			return "patch"
		}
	}
	for i, name := range []string{"major", "minor", "patch"} {
		if low.part(i) != high.part(i) {
			return name
		}
	}
	switch {
	case compareMain(low, high) != 0:
		return "patch" // the fourth number and later ones, which node-semver does not see
	case low.rest == high.rest:
		return "unknown"
	case low.stage.release() && compareCore(low, high) != 0:
		return "patch" // the number of a hotfix
	case min(len(a.main), len(b.main)) < 3 && !sameFamily(a, b):
		return "unknown"
	case low.rest == "" || high.rest == "":
		return "patch"
	}
	return "prerelease"
}
