package policy

import (
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
// most one of each version, and one Snooze of all versions.
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
