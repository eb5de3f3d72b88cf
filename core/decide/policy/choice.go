package policy

import (
	"slices"

	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// ChoiceKind is what a user decided.
type ChoiceKind string

// The kinds of choices.
const (
	Skip     ChoiceKind = "skip"    // not this version: wait for the next
	Snooze   ChoiceKind = "snooze"  // not until Until, or until the next version if that is zero
	Approved ChoiceKind = "approve" // this version, whatever its age and the threshold: in the next window
)

// Choice is what a user decided about one update of one container. A container has at
// most one of each version, and one Snooze of all versions. Package decision stores them.
type Choice struct {
	Subject string `json:"subject"`
	// Update is the update that the user was shown. A Snooze with the zero Key is of all updates.
	Update update.Key `json:"update"`
	Kind   ChoiceKind `json:"kind"`
	Until  sdk.Time   `json:"until,omitzero"`
	// Actor is who decided, as in the log of operations; for a link in a message, which one.
	Actor string   `json:"actor"`
	At    sdk.Time `json:"at"`
}

// Version returns the tag or the digest that a choice is about; "" for all versions.
func (c Choice) Version() string { return c.Update.To() }

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
	chosen := c.about[choice]
	if chosen < 0 || chosen > i {
		return false
	}
	against, candidate := &c.update.Candidates[chosen], &c.update.Candidates[i]
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
