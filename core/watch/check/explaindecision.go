package check

import (
	"slices"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/sdk"
)

// rulesOfUpdates returns the rules by which updates are decided, named as their labels are.
func rulesOfUpdates(r policy.Rules) []labels.Rule {
	var all []labels.Rule
	for _, rule := range preview.Rules(r) {
		if rule.Name != policy.RuleUpdate {
			rule.Name = "update." + rule.Name
		}
		all = append(all, labels.Rule(rule))
	}
	return all
}

// otherLevels says which other steps than the one of the update have newer versions.
func otherLevels(c sdk.Container) []phrase.Phrase {
	var others []phrase.Phrase
	for _, level := range slices.Backward(tally.Levels(&c)) {
		if level.Tag != c.Result.Tag {
			others = append(others, phrase.New("%s (%s)", level.Tag, stepOf(level.Step)))
		}
	}
	if len(others) == 0 {
		return nil
	}
	return []phrase.Phrase{phrase.New("Newer as well: %s.", phrase.Join(", ", others...))}
}

// stepOf is how large a step between versions is.
func stepOf(diff string) phrase.Phrase {
	return phrase.Text{Phrase: phrase.Read(diff, "major", "minor", "patch", "prerelease", "unknown")}
}

// skippedSentences says which newer versions are not offered, and what would offer them.
func skippedSentences(c sdk.Container) []phrase.Phrase {
	if len(c.Skipped) == 0 {
		return nil
	}
	var skipped []phrase.Phrase
	for _, s := range c.Skipped {
		skipped = append(skipped, preview.Skipped(s))
	}
	return []phrase.Phrase{phrase.New("Skipped: %s. The label %s%s=true offers that all the same.",
		phrase.Join("; ", skipped...), label.Prefix, label.TagImplausible)}
}

// decisionSentences says what becomes of an update, where that is not just that it is offered.
func decisionSentences(d *sdk.Decision) []phrase.Phrase {
	if d == nil || d.State == sdk.StateOffered && len(d.Reasons) == 0 {
		return nil
	}
	var say []phrase.Phrase
	for i, r := range d.Reasons {
		text := phrase.Capital(preview.Sentence(r))
		if i == 0 {
			text = phrase.New("The update is %s: %s", stateOf(d.State), preview.Sentence(r))
		}
		say = append(say, phrase.Join("", text, phrase.Verbatim(".")))
		if r.Code == policy.ReasonMinAge {
			say = append(say, phrase.New("Each newer version starts the wait again."))
			if !d.Until.IsZero() && d.Until.Before(r.Until.Time) {
				say = append(say, phrase.New("An older one may be offered on %s.", preview.Moment(d.Until.Time)))
			}
		}
	}
	return say
}

// stateOf is the state of a decision.
func stateOf(state string) phrase.Phrase {
	switch state {
	case sdk.StateHeld:
		return phrase.New("held")
	case sdk.StateAutomatic:
		return phrase.New("automatic")
	}
	return phrase.New("offered")
}
