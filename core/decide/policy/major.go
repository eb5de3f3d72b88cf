package policy

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/sdk"
)

// strictness orders modes, from the one that lets most happen by itself: triggers act on what is offered, but not on
// what waits for approval.
var strictness = [...]Mode{Auto, Notify, Approve}

// IsMajor reports whether a candidate is of another major version than what runs. Of an image of a preset that is
// another release line of its vendor, and a step that is not known counts, unless the tag itself names its line.
func (r *Rules) IsMajor(c *candidate.Candidate) bool {
	line := 1
	if r.Preset != nil {
		line = r.Preset.Line
	}
	switch c.Diff {
	case sdk.DiffMajor:
		return true
	case sdk.DiffMinor:
		return line > 1
	case "", sdk.DiffUnknown:
		return r.Preset != nil && (c.Kind == sdk.KindTag || numbers(c.Tag) < line)
	}
	return false
}

// IsMajorUpdate reports whether the update of a container is a major one; see IsMajor.
func (r *Rules) IsMajorUpdate(c *sdk.Container) bool {
	if !c.UpdateAvailable || c.Result == nil {
		return false
	}
	return r.IsMajor(&candidate.Candidate{Tag: c.Result.Tag, Kind: c.UpdateKind.Kind, Diff: c.UpdateKind.SemverDiff})
}

// numbers returns how many numbers a tag begins with: 2 for 16.4-alpine, 0 for latest.
func numbers(tag string) int {
	n := 0
	for part := range strings.SplitSeq(strings.TrimPrefix(tag, "v"), ".") {
		rest := strings.TrimLeft(part, "0123456789")
		if rest == part {
			break
		}
		if n++; rest != "" {
			break
		}
	}
	return n
}

// mode returns the mode of a candidate, with the source of the rule that decides it.
func (c *circumstances) mode(newer *candidate.Candidate) Setting[Mode] {
	major := c.rules.Major
	isStricter := slices.Index(strictness[:], major.Value) > slices.Index(strictness[:], c.rules.Mode.Value)
	if isStricter && c.rules.IsMajor(newer) {
		return major
	}
	return c.rules.Mode
}

// isSplit reports whether some updates are carried out and major ones are not.
func (c *circumstances) isSplit() bool {
	return c.facts.MayUpdate && c.rules.Mode.Value == Auto && c.rules.Major.Value != "" && c.rules.Major.Value != Auto
}
