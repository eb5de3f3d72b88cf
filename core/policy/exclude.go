package policy

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// excludes returns why a candidate is not offered, whatever the others are.
func (c *circumstances) excludes(i int) (reasons []Reason) {
	candidate := c.update.Candidates[i]
	if skip := c.rules.Skip; skip.Value != nil && (skip.Value.Match(candidate.Tag) || candidate.Digest != "" && skip.Value.Match(candidate.Digest)) {
		reasons = append(reasons, Reason{Code: ReasonSkipRule, Text: fmt.Sprintf("%s matches %s, which is skipped", candidate.name(), skip.Value), Source: skip.Source})
	}
	if limit := c.rules.Threshold; !Passes(limit.Value, candidate.Kind, candidate.Diff) {
		reasons = append(reasons, Reason{Code: ReasonThreshold, Text: fmt.Sprintf("%s is a %s update, and the threshold is %s", candidate.Tag, step(candidate), limit.Value), Source: limit.Source})
	}
	for _, choice := range c.choices {
		switch {
		case choice.Kind == Skip && c.covers(choice, i):
			reasons = append(reasons, reasonOfChoice(ReasonSkipped, "skipped", choice, c.now))
		case choice.Kind == Snooze && c.covers(choice, i) && c.inForce(choice):
			c.changes(choice.Until.Time)
			reasons = append(reasons, reasonOfChoice(ReasonSnoozed, "snoozed", choice, c.now))
		}
	}
	if at, text := c.oldEnough(candidate); at.After(c.now) {
		c.changes(at)
		reasons = append(reasons, Reason{Code: ReasonMinAge, Text: text, Source: c.rules.MinAge.Source, Until: at})
	}
	return reasons
}

// oldEnough returns when a candidate has the age that is asked for and, if it has not, a
// sentence about it.
func (c *circumstances) oldEnough(candidate Candidate) (time.Time, string) {
	age := c.rules.MinAge.Value
	if age <= 0 {
		return time.Time{}, ""
	}
	began, how := candidate.Created, "was made"
	if began.IsZero() || candidate.Kind == sdk.KindDigest && !candidate.FirstSeen.IsZero() && candidate.FirstSeen.Before(began) {
		began, how = candidate.FirstSeen, "was first seen"
	}
	if began.IsZero() {
		began, how = c.now, "is first seen now"
	}
	at := began.Add(age)
	if !at.After(c.now) {
		return at, ""
	}
	if how != "is first seen now" {
		how += " " + began.In(c.now.Location()).Format("2006-01-02 15:04")
	}
	return at, fmt.Sprintf("%s %s, and must be %s old", candidate.name(), how, FormatAge(age))
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
// one, or an older one of the same step.
func (c *circumstances) covers(choice Choice, i int) bool {
	at := c.chosen(choice)
	return at >= 0 && at <= i && c.update.Candidates[at].Diff == c.update.Candidates[i].Diff && c.update.Candidates[at].Kind == c.update.Candidates[i].Kind
}

// snoozes returns the choices that hold every update of the container.
func (c *circumstances) snoozes() (held []Reason) {
	for _, choice := range c.choices {
		if c.isWhole(choice) && c.inForce(choice) {
			c.changes(choice.Until.Time)
			held = append(held, reasonOfChoice(ReasonSnoozed, "snoozed", choice, c.now))
		}
	}
	return held
}

// isWhole reports whether a choice is about every update of the container.
func (c *circumstances) isWhole(choice Choice) bool {
	return choice.Kind == Snooze && choice.Subject == c.update.Subject && choice.Update.Kind == "" && !choice.Until.IsZero()
}

// inForce reports whether a choice has not ended.
func (c *circumstances) inForce(choice Choice) bool {
	return choice.Kind != Snooze || choice.Until.IsZero() || choice.Until.After(c.now)
}

func reasonOfChoice(code, did string, choice Choice, now time.Time) Reason {
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
	return Reason{Code: code, Text: text, Source: choice.Actor, Until: choice.Until.Time}
}

// Passes reports whether a threshold lets an update of a kind (sdk.KindTag, …) and a step
// (sdk.DiffMajor, …) through. Only steps between versions are measured; every threshold
// but one lets a new digest of the same tag through, and "digest" nothing else.
func Passes(threshold, kind, diff string) bool {
	switch {
	case threshold == "digest":
		return kind == sdk.KindDigest
	case kind != sdk.KindTag || diff == "" || diff == sdk.DiffUnknown:
		return true
	}
	switch threshold {
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
