package policy

import (
	"fmt"

	"github.com/dogwatch/dogwatch/sdk"
)

// exclusion sums up why a candidate is not offered, whatever the others are.
type exclusion struct {
	any       bool
	endless   bool // it does not end by itself
	threshold bool
}

// excluded sums up what excludes returns, without the sentences: most are never read.
func (c *circumstances) excluded(i int) (e exclusion) {
	for _, r := range c.excludes(i, c.scratch[:0], false) {
		e.any, e.endless, e.threshold = true, e.endless || r.Until.IsZero(), e.threshold || r.Code == ReasonThreshold
	}
	return e
}

// excludes appends why a candidate is not offered, with sentences if they are to be read.
func (c *circumstances) excludes(i int, reasons []Reason, sentences bool) []Reason {
	candidate := &c.update.Candidates[i]
	if skip := c.rules.Skip; skip.Value != nil &&
		(skip.Value.Match(candidate.Tag) || candidate.Digest != "" && skip.Value.Match(candidate.Digest)) {
		reason := Reason{Code: ReasonSkipRule, Source: skip.Source}
		if sentences {
			reason.Text = fmt.Sprintf("%s matches %s, which is skipped", candidate.name(), skip.Value)
		}
		reasons = append(reasons, reason)
	}
	if limit := c.rules.Threshold; !Passes(limit.Value, candidate.Kind, candidate.Diff) {
		reason := Reason{Code: ReasonThreshold, Source: limit.Source}
		if sentences {
			reason.Text = fmt.Sprintf("%s is a %s update, and the threshold is %s", candidate.Tag, step(*candidate), limit.Value)
		}
		reasons = append(reasons, reason)
	}
	for n, choice := range c.choices {
		switch {
		case choice.Kind == Skip && c.covers(n, i):
			reasons = append(reasons, reasonOfChoice(ReasonSkipped, "skipped", choice, c.now, sentences))
		case choice.Kind == Snooze && c.covers(n, i) && c.inForce(choice):
			c.changes(choice.Until.Time)
			reasons = append(reasons, reasonOfChoice(ReasonSnoozed, "snoozed", choice, c.now, sentences))
		}
	}
	if reason, young := c.tooYoung(candidate, sentences); young {
		reasons = append(reasons, reason)
	}
	return reasons
}

// name is how users know a candidate.
func (c Candidate) name() string {
	if c.Kind == sdk.KindDigest {
		return "the new image of " + c.Tag
	}
	return c.Tag
}

func step(c Candidate) string {
	if c.Diff == "" {
		return "version"
	}
	return c.Diff
}
