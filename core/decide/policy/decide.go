package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/sdk"
)

// State is what became of an update.
type State string

// The states of a decision.
const (
	None      State = ""          // there is no update
	Offered   State = "offered"   // triggers notify of it, users can carry it out
	Held      State = "held"      // no trigger runs; Reasons say why
	Automatic State = "automatic" // the watcher is to carry it out now
)

// Decision is what becomes of an update.
type Decision struct {
	State State
	// Target is the version that is offered, held or to be carried out: the index of
	// Update.Candidates; -1 when there is no update.
	Target int
	// Reasons are why, the one that ends last first. A held update has at least one.
	Reasons []Reason
	// Next is when time alone may change the decision; zero for never.
	Next time.Time
}

// Decide returns what becomes of an update at a time. The newest version that
// nothing excludes is the target; where there is none, the update is held for the reasons
// of the version that comes next. The order of candidates matters, that of choices does not.
func Decide(u Update, r Rules, f Facts, choices []choice.Choice, now time.Time) Decision {
	if len(u.Candidates) == 0 {
		return Decision{Target: -1}
	}
	c := &circumstances{update: u, rules: r, facts: f, choices: sorted(choices), now: now}
	for _, chosen := range c.choices {
		c.about = append(c.about, c.candidateOf(chosen))
	}
	target, excluded := c.target()
	d := Decision{Target: target}
	if c.accepted != nil {
		d.Reasons = append(d.Reasons, reasonOfChoice(ReasonApproved, "approved", *c.accepted, c.now, true))
	}
	if held := c.held(target, excluded); len(held) > 0 {
		d.State, d.Reasons = Held, append(d.Reasons, held...)
	} else {
		c.conclude(&d)
	}
	slices.SortStableFunc(d.Reasons, byEnd)
	d.Next = c.next
	return d
}

// circumstances are what one decision depends on.
type circumstances struct {
	update  Update
	rules   Rules
	facts   Facts
	choices []choice.Choice
	about   []int // the candidates that the choices are about; -1 for none
	now     time.Time
	scratch [4]Reason
	// accepted is the approval of the target, if there is one.
	accepted *choice.Choice
	// passed is a major update that would be the target if it were carried out by itself; nil for none.
	passed *candidate.Candidate
	next   time.Time // when time alone may change something; zero for never
}

// sorted returns choices in an order of their own, the latest first.
func sorted(choices []choice.Choice) []choice.Choice {
	if len(choices) < 2 {
		return choices
	}
	return slices.SortedFunc(slices.Values(choices), func(a, b choice.Choice) int {
		return cmp.Or(b.At.Compare(a.At.Time), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Update.ToTag, b.Update.ToTag),
			cmp.Compare(a.Update.ToDigest, b.Update.ToDigest), a.Until.Compare(b.Until.Time), cmp.Compare(a.Actor, b.Actor))
	})
}

// changes notes when time alone may change the decision.
func (c *circumstances) changes(at time.Time) {
	if at.After(c.now) && (c.next.IsZero() || at.Before(c.next)) {
		c.next = at
	}
}

// target returns the candidate that the decision is about, and why it is held, if it is.
func (c *circumstances) target() (int, []Reason) {
	excluded := make([]exclusion, len(c.update.Candidates))
	for i := range c.update.Candidates {
		excluded[i] = c.excluded(i)
	}
	if approval, i := c.approval(); i >= 0 {
		c.accepted = &approval
		return i, nil
	}
	if c.isSplit() {
		// What may be carried out does not wait for a major update that may not.
		for i, e := range excluded {
			newer := &c.update.Candidates[i]
			switch {
			case e.any:
			case c.mode(newer).Value == Auto:
				return i, nil
			case c.passed == nil:
				c.passed = newer
			}
		}
	}
	// What only waits is what users will be offered next.
	for _, fits := range []func(exclusion) bool{
		func(e exclusion) bool { return !e.any },
		func(e exclusion) bool { return !e.endless },
		func(e exclusion) bool { return !e.threshold },
	} {
		if i := slices.IndexFunc(excluded, fits); i >= 0 {
			if excluded[i].any && !excluded[i].endless {
				i = c.firstToEnd(i, excluded)
			}
			return i, c.excludes(i, nil, true)
		}
	}
	return 0, c.excludes(0, nil, true)
}

// firstToEnd returns which of the images behind one tag stops waiting first, of which the one at i is the newest:
// behind a tag that is rebuilt every day the newest never would.
func (c *circumstances) firstToEnd(i int, excluded []exclusion) int {
	for next := i + 1; next < len(excluded); next++ {
		if c.update.Candidates[next].Kind == sdk.KindDigest && c.update.Candidates[i].Kind == sdk.KindDigest &&
			!excluded[next].endless {
			i = next
		}
	}
	return i
}

// approval returns the latest approval and its candidate; -1 when there is none, or when a
// user decided otherwise since.
func (c *circumstances) approval() (choice.Choice, int) {
	for n, chosen := range c.choices {
		i := c.about[n]
		if chosen.Kind != choice.Approved || i < 0 {
			continue
		}
		if rollback, undone := c.rolledBack(i); undone && !chosen.At.After(rollback.At) {
			continue // it was of the update that was rolled back since
		}
		if at, failed := c.failed(i); failed && !chosen.At.After(at) {
			continue // what was approved did not work
		}
		for m, later := range c.choices {
			if later.Kind != choice.Approved && later.At.After(chosen.At.Time) && (c.covers(m, i) || c.isOfAll(later)) {
				return choice.Choice{}, -1
			}
		}
		return chosen, i
	}
	return choice.Choice{}, -1
}

// conclude decides about a target that nothing holds.
func (c *circumstances) conclude(d *Decision) {
	d.State = Offered
	if c.facts.Rebuild {
		d.Reasons = append(d.Reasons, Reason{Code: ReasonRebuild, Text: "the base of its image is newer: rebuild it"})
		return
	}
	mode := c.mode(&c.update.Candidates[d.Target])
	isHeldBack := mode != c.rules.Mode
	approved := c.accepted != nil
	if target := &c.update.Candidates[d.Target]; !approved && c.isEarly(target) {
		summary, _ := c.facts.Compared(*target)
		d.Reasons = append(d.Reasons, Reason{Code: ReasonSecurity, Source: c.rules.Security.Source,
			Text: fmt.Sprintf("it fixes %s, so it need not be %s old",
				summary.Fixed.From(c.rules.Security.Value).Vulnerabilities(), spellAge(c.rules.MinAge.Value))})
	}
	if back := c.cameBack(d.Target); len(back) > 0 {
		d.Reasons = append(d.Reasons, back...)
		return
	}
	switch {
	case !approved && mode.Value == Approve:
		text := "it waits for your approval"
		if isHeldBack {
			text += ", since it is a major update"
		}
		d.Reasons = append(d.Reasons, Reason{Code: ReasonApproval, Text: text, Source: mode.Source})
	case !approved && isHeldBack:
		d.Reasons = append(d.Reasons, Reason{Code: ReasonMajor, Source: mode.Source,
			Text: "it is a major update, which is not carried out by itself"})
	case !approved && cmp.Or(c.rules.ownMode, mode.Value) != Auto:
	case !approved && c.added(c.update.Candidates[d.Target]).Total() > 0:
		// As where every update waits for a user, so that no trigger carries it out either.
		d.Reasons = append(d.Reasons, Reason{Code: ReasonApproval, Source: c.facts.HoldSource,
			Text: fmt.Sprintf("it waits for your approval, since the new image adds %s",
				c.added(c.update.Candidates[d.Target]).Vulnerabilities())})
	case !approved && mode.Value != Auto: // in the place of Auto, see Tighten
	case !c.facts.MayUpdate:
		text := "the watcher may not update containers"
		if c.facts.Remedy != "" {
			text += ": " + c.facts.Remedy
		}
		d.Reasons = append(d.Reasons, Reason{Code: ReasonForbidden, Text: text, Source: mode.Source})
	case c.stopped(c.update.Candidates[d.Target]) != "":
		d.State = Held
		d.Reasons = append(d.Reasons, Reason{Code: ReasonStack, Text: c.stopped(c.update.Candidates[d.Target])})
	default:
		d.State = Automatic
		if !approved {
			d.Reasons = append(d.Reasons, Reason{
				Code: ReasonAutomatic, Text: "it is carried out automatically", Source: mode.Source,
			})
		}
		if !approved && c.passed != nil {
			d.Reasons = append(d.Reasons, Reason{Code: ReasonMajor, Source: c.mode(c.passed).Source,
				Text: nameOf(c.passed) + " is a major update, which is not carried out by itself"})
		}
	}
}

// added returns the vulnerabilities that a candidate adds and that keep it from being
// carried out by a rule.
func (c *circumstances) added(newer candidate.Candidate) vulnerability.Counts {
	if c.facts.HoldAdded == vulnerability.Unknown || c.facts.Compared == nil {
		return vulnerability.Counts{}
	}
	summary, known := c.facts.Compared(newer)
	if !known {
		return vulnerability.Counts{}
	}
	return summary.Added.From(c.facts.HoldAdded)
}
