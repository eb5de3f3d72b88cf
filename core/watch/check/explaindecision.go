package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/preview"
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
func otherLevels(c sdk.Container) []string {
	var others []string
	for _, level := range slices.Backward(tally.Levels(&c)) {
		if level.Tag != c.Result.Tag {
			others = append(others, fmt.Sprintf("%s (%s)", level.Tag, level.Step))
		}
	}
	if len(others) == 0 {
		return nil
	}
	return []string{"Newer as well: " + strings.Join(others, ", ") + "."}
}

// skippedSentences says which newer versions are not offered, and what would offer them.
func skippedSentences(c sdk.Container) []string {
	if len(c.Skipped) == 0 {
		return nil
	}
	var skipped []string
	for _, s := range c.Skipped {
		skipped = append(skipped, s.Text)
	}
	return []string{fmt.Sprintf("Skipped: %s. The label %s%s=true offers that all the same.",
		strings.Join(skipped, "; "), label.Prefix, label.TagImplausible)}
}

// decisionSentences says what becomes of an update, where that is not just that it is offered.
func decisionSentences(d *sdk.Decision) []string {
	if d == nil || d.State == sdk.StateOffered && len(d.Reasons) == 0 {
		return nil
	}
	var say []string
	for i, r := range d.Reasons {
		text := r.Text
		if i == 0 {
			text = "The update is " + d.State + ": " + r.Text
		} else {
			text = strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
		}
		if r.Source != "" {
			text += " (" + r.Source + ")"
		}
		if !r.Until.IsZero() {
			text += ", until " + r.Until.UTC().Format("2006-01-02 15:04 UTC")
		}
		say = append(say, text+".")
	}
	return say
}
