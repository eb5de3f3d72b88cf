package policy

import (
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/choice"
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
	newer := &c.update.Candidates[i]
	if skip := c.rules.Skip; skip.Value != nil &&
		(skip.Value.Match(newer.Tag) || newer.Digest != "" && skip.Value.Match(newer.Digest)) {
		reason := Reason{Code: ReasonSkipRule, Source: skip.Source}
		if sentences {
			reason.Text = fmt.Sprintf("%s matches %s, which is skipped", nameOf(newer), skip.Value)
		}
		reasons = append(reasons, reason)
	}
	if limit := c.rules.Threshold; !Passes(limit.Value, newer.Kind, newer.Diff) {
		reason := Reason{Code: ReasonThreshold, Source: limit.Source}
		if sentences {
			reason.Text = fmt.Sprintf("%s is a %s update, and the threshold is %s", newer.Tag, step(*newer), limit.Value)
		}
		reasons = append(reasons, reason)
	}
	for n, chosen := range c.choices {
		switch {
		case chosen.Kind == choice.Skip && c.covers(n, i):
			reasons = append(reasons, reasonOfChoice(ReasonSkipped, "skipped", chosen, c.now, sentences))
		case chosen.Kind == choice.Snooze && c.covers(n, i) && c.inForce(chosen):
			c.changes(chosen.Until.Time)
			reasons = append(reasons, reasonOfChoice(ReasonSnoozed, "snoozed", chosen, c.now, sentences))
		}
	}
	if reason, young := c.tooYoung(newer, sentences); young {
		reasons = append(reasons, reason)
	}
	return reasons
}

// candidateOf returns the candidate that a choice is about; -1 when it is none of them.
func (c *circumstances) candidateOf(chosen choice.Choice) int {
	if chosen.Subject != c.update.Subject {
		return -1
	}
	return slices.IndexFunc(c.update.Candidates, func(newer candidate.Candidate) bool {
		if newer.Kind == sdk.KindDigest {
			return chosen.Update.Kind == newer.Kind && chosen.Update.ToDigest == newer.Digest
		}
		return chosen.Update.Kind == newer.Kind && chosen.Update.ToTag == newer.Tag
	})
}

// covers reports whether a choice against one version counts for a candidate: it is that
// one, or an older one of the same step or behind the same tag.
func (c *circumstances) covers(chosen, i int) bool {
	about := c.about[chosen]
	if about < 0 || about > i {
		return false
	}
	against, newer := &c.update.Candidates[about], &c.update.Candidates[i]
	return against.Kind == newer.Kind && (against.Diff == newer.Diff || newer.Kind == sdk.KindDigest)
}

// isOfAll reports whether a choice is about every update of the container.
func (c *circumstances) isOfAll(chosen choice.Choice) bool {
	return chosen.Kind == choice.Snooze && chosen.Subject == c.update.Subject && chosen.Update.Kind == "" &&
		!chosen.Until.IsZero()
}

// inForce reports whether a choice has not ended.
func (c *circumstances) inForce(chosen choice.Choice) bool {
	return chosen.Kind != choice.Snooze || chosen.Until.IsZero() || chosen.Until.After(c.now)
}

// nameOf is how users know a candidate.
func nameOf(c *candidate.Candidate) string {
	if c.Kind == sdk.KindDigest {
		return "the new image of " + c.Tag
	}
	return c.Tag
}

func step(c candidate.Candidate) string {
	if c.Diff == "" {
		return "version"
	}
	return c.Diff
}
