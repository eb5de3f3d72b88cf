package check

import (
	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// presetSentences say what is known of an image and what that changes: the versions that are left out, and what a
// major update takes.
func presetSentences(c sdk.Container, s *target) []phrase.Phrase {
	var say []phrase.Phrase
	if left := s.Answer.Selection; left.Beyond != "" {
		beyond := phrase.Verbatim(left.Beyond)
		if left.LeftOut > 1 {
			beyond = phrase.New("%s and %d more", left.Beyond, left.LeftOut-1)
		}
		say = append(say, phrase.New("Newer too, but not offered yet: %s. %s.", beyond, left.First))
	}
	known := s.Rules.Preset
	if known == nil || c.Result == nil {
		return say
	}
	var major []phrase.Phrase
	for _, newer := range newest(c) {
		if s.Rules.IsMajor(&newer) {
			major = append(major, phrase.Verbatim(newer.Tag))
		}
	}
	if len(major) > 0 {
		say = append(say, phrase.New("An update to %s is a major one (%s). %s.", alternatives(major), known.Named(),
			preset.Said(known.Advice())))
	}
	return say
}

// alternatives says one or the other of some.
func alternatives(all []phrase.Phrase) phrase.Phrase {
	said := all[0]
	for _, other := range all[1:] {
		said = phrase.New("%s or %s", said, other)
	}
	return said
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
