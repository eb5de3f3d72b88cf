package check

import (
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// presetSentences say what is known of an image and what that changes: the versions that are left out, and what a
// major update takes.
func presetSentences(c sdk.Container, s *target) []string {
	var say []string
	if left := s.Answer.Selection; left.Beyond != "" {
		text := fmt.Sprintf("Newer, but left out: %s", left.Beyond)
		if left.LeftOut > 1 {
			text += fmt.Sprintf(" and %d more", left.LeftOut-1)
		}
		say = append(say, text+"; "+left.First+".")
	}
	known := s.Rules.Preset
	if known == nil || c.Result == nil {
		return say
	}
	var major []string
	for _, newer := range newest(c) {
		if s.Rules.IsMajor(&newer) {
			major = append(major, newer.Tag)
		}
	}
	if len(major) > 0 {
		say = append(say, fmt.Sprintf("An update to %s is a major one (%s): %s.", strings.Join(major, " or "),
			known.Source(), strings.TrimSuffix(known.Advice(), ".")))
	}
	return say
}

// newest returns the versions that an update is shown with.
func newest(c sdk.Container) (all []candidate.Candidate) {
	if c.UpdateKind.Kind == sdk.KindDigest {
		return []candidate.Candidate{{Tag: c.Result.Tag, Kind: sdk.KindDigest, Diff: c.UpdateKind.SemverDiff}}
	}
	for _, level := range tally.Levels(&c) {
		if level.Step != sdk.DiffPatch {
			all = append(all, candidate.Candidate{Tag: level.Tag, Kind: sdk.KindTag, Diff: level.Step})
		}
	}
	return all
}
