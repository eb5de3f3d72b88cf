package policy

import (
	"cmp"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// The codes of reasons.
const (
	ReasonThreshold   = "threshold"     // larger than the rules allow
	ReasonMinAge      = "age.min"       // too young; ends by itself
	ReasonWindow      = "window.closed" // ends by itself
	ReasonFreeze      = "freeze"        // ends by itself
	ReasonSkipRule    = "skip.rule"     // its tag or digest matches
	ReasonSkipped     = "choice.skip"
	ReasonSnoozed     = "choice.snooze"    // ends by itself if it has a date
	ReasonApproval    = sdk.ReasonApproval // of an offered update: it waits for a user's approval
	ReasonApproved    = "choice.approve"
	ReasonAutomatic   = "auto"
	ReasonSecurity    = "security"        // it fixes vulnerabilities, and its age does not matter
	ReasonCameBack    = "rolledback"      // it was tried and did not work
	ReasonMajor       = "major"           // of an offered update: a major one is not carried out by itself
	ReasonUndone      = "choice.rollback" // a user rolled it back
	ReasonStack       = "stack.stopped"   // an update of its stack did not work out
	ReasonForbidden   = "update.forbidden"
	ReasonRebuild     = "rebuild" // the base of its image is newer: nobody but who builds it can update it
	ReasonInvalidRule = "rule.invalid"
)

// Reason says why a decision is as it is.
type Reason struct {
	Code string
	// Text is a sentence for users, without a full stop.
	Text string
	// Source is where the rule comes from, or the choice's actor.
	Source string
	// Until is when it ends by itself; zero when it does not.
	Until time.Time
}

// held returns why an update is held; nil when nothing holds it. The target may be excluded for reasons of its own.
func (c *circumstances) held(target int, excluded []Reason) []Reason {
	held := excluded
	if c.accepted == nil {
		held = append(append(held, c.snoozes()...), c.undone(target)...)
	}
	held = append(append(held, c.times(lastEnd(held))...), c.problems()...)
	if len(held) == 0 {
		return nil
	}
	return append(held, c.cameBack(target)...)
}

// snoozes returns the choices that hold every update of the container.
func (c *circumstances) snoozes() (held []Reason) {
	for _, chosen := range c.choices {
		if c.isOfAll(chosen) && c.inForce(chosen) {
			c.changes(chosen.Until.Time)
			held = append(held, reasonOfChoice(ReasonSnoozed, "snoozed", chosen, c.now, true))
		}
	}
	return held
}

// undone returns that the target is held since a user rolled it back.
func (c *circumstances) undone(target int) []Reason {
	rollback, undone := c.rolledBack(target)
	if !undone {
		return nil
	}
	text := "it was rolled back by you, and waits for something newer or for your approval"
	return []Reason{{Code: ReasonUndone, Text: text, Source: rollback.By}}
}

// rolledBack returns how a user rolled a candidate back; false when nobody did.
func (c *circumstances) rolledBack(i int) (Rollback, bool) {
	if c.facts.RolledBack == nil {
		return Rollback{}, false
	}
	return c.facts.RolledBack(c.update.Candidates[i])
}

func (c *circumstances) problems() (held []Reason) {
	for _, p := range c.rules.Problems {
		held = append(held, Reason{Code: ReasonInvalidRule, Text: p.Text, Source: p.Source})
	}
	return held
}

// failed returns when a candidate was tried that did not work; false when it was not.
func (c *circumstances) failed(i int) (time.Time, bool) {
	if c.facts.CameBack == nil {
		return time.Time{}, false
	}
	return c.facts.CameBack(c.update.Candidates[i])
}

// cameBack returns that the target did not work before, unless a user has approved it.
func (c *circumstances) cameBack(target int) []Reason {
	if _, failed := c.failed(target); c.accepted != nil || !failed {
		return nil
	}
	return []Reason{{Code: ReasonCameBack, Text: "it was tried and did not work, so it is not tried again by itself"}}
}

// stopped says what stopped the stack since it was decided that the target is carried out; "" for nothing.
func (c *circumstances) stopped(target candidate.Candidate) string {
	decided := target.OfferedAt
	if c.accepted != nil && c.accepted.At.After(decided) {
		decided = c.accepted.At.Time
	}
	if c.facts.Stopped == nil || decided.IsZero() { // it is decided now
		return ""
	}
	stop := c.facts.Stopped()
	if stop.Name == "" || decided.After(stop.At) {
		return ""
	}
	stop.At = stop.At.In(c.now.Location())
	return stop.String()
}

func reasonOfChoice(code, did string, chosen choice.Choice, now time.Time, sentence bool) Reason {
	reason := Reason{Code: code, Source: chosen.Actor, Until: chosen.Until.Time}
	if !sentence {
		return reason
	}
	text := "it was " + did
	if trigger, isLink := strings.CutPrefix(chosen.Actor, event.LinkActor); isLink {
		text += " with a link sent by " + trigger
	} else if chosen.Actor != "" && chosen.Actor != event.Anonymous {
		text += " by " + chosen.Actor
	}
	switch {
	case chosen.Kind == choice.Snooze && chosen.Until.IsZero():
		text += " until the next version"
	case chosen.Kind == choice.Snooze:
		text += " until " + chosen.Until.In(now.Location()).Format("2 Jan 2006 15:04")
	}
	reason.Text = text
	return reason
}

// lastEnd returns when the last of some reasons ends that end by themselves; zero for none.
func lastEnd(reasons []Reason) (at time.Time) {
	for _, r := range reasons {
		if r.Until.After(at) {
			at = r.Until
		}
	}
	return at
}

// byEnd puts what does not end by itself first, and then what ends last.
func byEnd(a, b Reason) int {
	switch {
	case a.Until.IsZero() != b.Until.IsZero():
		if a.Until.IsZero() {
			return -1
		}
		return 1
	case !a.Until.Equal(b.Until):
		return b.Until.Compare(a.Until)
	}
	return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Text, b.Text))
}
