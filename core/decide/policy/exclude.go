package policy

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
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
	if age := c.rules.MinAge; age.Value > 0 {
		began, did := c.began(candidate)
		at := began.Add(age.Value)
		unpinned := c.facts.Pins && candidate.Kind == sdk.KindTag && candidate.Pinned == "" && !at.After(c.now)
		if unpinned || at.After(c.now) {
			c.changes(at)
			if c.isUrgent(candidate) {
				return reasons
			}
			reason := Reason{Code: ReasonMinAge, Source: age.Source, Until: at}
			if unpinned || c.facts.AgeUnread && !candidate.Observed && candidate.Created.IsZero() {
				did, reason.Until = "has an age not read yet", time.Time{} // the next check with this rule reads it
			} else if did != firstSeenNow && sentences {
				did += " " + began.In(c.now.Location()).Format("2006-01-02 15:04")
			}
			if sentences {
				reason.Text = fmt.Sprintf("%s %s, and must be %s old", candidate.name(), did, FormatAge(age.Value))
			}
			reasons = append(reasons, reason)
		}
	}
	return reasons
}

// isUrgent reports whether a candidate fixes vulnerabilities that make its age not matter.
func (c *circumstances) isUrgent(candidate *Candidate) bool {
	from := c.rules.Security.Value
	if from == vulnerability.Unknown || c.facts.Compared == nil {
		return false
	}
	summary, known := c.facts.Compared(*candidate)
	return known && summary.Improves(from)
}

// isEarly reports whether a candidate is offered before it has the minimum age.
func (c *circumstances) isEarly(candidate *Candidate) bool {
	began, _ := c.began(candidate)
	age := c.rules.MinAge.Value
	return age > 0 && began.Add(age).After(c.now) && c.isUrgent(candidate)
}

const firstSeenNow = "is first seen now"

// began returns the time from which the age of a candidate counts, and what happened then.
func (c *circumstances) began(candidate *Candidate) (at time.Time, did string) {
	at, seen := candidate.Began()
	switch {
	case at.IsZero():
		return c.now, firstSeenNow
	case candidate.Moved:
		return at, "was moved to another image"
	case seen:
		return at, "was first seen"
	}
	return at, "was made"
}

// chosen returns the candidate that a choice is about; -1 when it is none of them.
func (c *circumstances) chosen(choice Choice) int {
	if choice.Subject != c.update.Subject {
		return -1
	}
	return slices.IndexFunc(c.update.Candidates, func(candidate Candidate) bool {
		return candidate.Kind == choice.Update.Kind && candidate.is(choice.Update.ToTag, choice.Update.ToDigest)
	})
}

// covers reports whether a choice against one version counts for a candidate: it is that
// one, or an older one of the same step or behind the same tag.
func (c *circumstances) covers(choice, i int) bool {
	at := c.about[choice]
	if at < 0 || at > i {
		return false
	}
	against, candidate := &c.update.Candidates[at], &c.update.Candidates[i]
	return against.Kind == candidate.Kind && (against.Diff == candidate.Diff || candidate.Kind == sdk.KindDigest)
}

// snoozes returns the choices that hold every update of the container.
func (c *circumstances) snoozes() (held []Reason) {
	for _, choice := range c.choices {
		if c.isWhole(choice) && c.inForce(choice) {
			c.changes(choice.Until.Time)
			held = append(held, reasonOfChoice(ReasonSnoozed, "snoozed", choice, c.now, true))
		}
	}
	return held
}

// isWhole reports whether a choice is about every update of the container.
func (c *circumstances) isWhole(choice Choice) bool {
	return choice.Kind == Snooze && choice.Subject == c.update.Subject && choice.Update.Kind == "" &&
		!choice.Until.IsZero()
}

// inForce reports whether a choice has not ended.
func (c *circumstances) inForce(choice Choice) bool {
	return choice.Kind != Snooze || choice.Until.IsZero() || choice.Until.After(c.now)
}

func reasonOfChoice(code, did string, choice Choice, now time.Time, sentence bool) Reason {
	reason := Reason{Code: code, Source: choice.Actor, Until: choice.Until.Time}
	if !sentence {
		return reason
	}
	text := "it was " + did
	if choice.Actor != "" {
		text += " by " + choice.Actor
	}
	switch {
	case choice.Kind == Snooze && choice.Until.IsZero():
		text += " until the next version"
	case choice.Kind == Snooze:
		text += " until " + choice.Until.In(now.Location()).Format("2006-01-02 15:04")
	}
	reason.Text = text
	return reason
}

// FormatAge writes a duration as rules do, in its largest whole unit: "7d", "36h".
func FormatAge(age time.Duration) string {
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if n := age / unit.length; n > 0 && age%unit.length == 0 && (unit.name != "w" || n > 1) {
			return strconv.FormatInt(int64(n), 10) + unit.name
		}
	}
	return age.String()
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
