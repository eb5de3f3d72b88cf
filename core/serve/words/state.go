package words

import (
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// State is a state in a word or two, and the class of its colour.
type State struct{ Word, Class string }

// Standing is how a container stands since its last check: "minor", "check failed", "up to date".
func Standing(c *sdk.Container) State {
	switch part := tally.PartOf(c); part {
	case tally.Update:
		kind := tally.Kind(c)
		return State{Word: tally.Word(kind), Class: kind}
	case tally.Broken:
		if c.Check.Succeeded() {
			return State{Word: "wrong label", Class: "failed"}
		}
		return State{Word: "check failed", Class: "failed"}
	case tally.Unchecked:
		return State{Word: "not checked", Class: "muted"}
	case tally.Current:
		return State{Word: "up to date", Class: "ok"}
	default:
		return State{Word: string(part), Class: "muted"}
	}
}

// reasonWords are the reasons of held updates in two or three words.
var reasonWords = map[string]string{
	policy.ReasonThreshold:   "too large a step",
	policy.ReasonMinAge:      "too young",
	policy.ReasonWindow:      "window closed",
	policy.ReasonFreeze:      "freeze",
	policy.ReasonSkipRule:    "skipped by a rule",
	policy.ReasonSkipped:     "skipped",
	policy.ReasonSnoozed:     "snoozed",
	policy.ReasonCameBack:    "did not work",
	policy.ReasonMajor:       "major update",
	policy.ReasonUndone:      "rolled back by you",
	policy.ReasonInvalidRule: "wrong rule",
	policy.ReasonSecurity:    "security fix",
}

// Reason is a reason in two or three words.
func Reason(code string) string {
	if word, known := reasonWords[code]; known {
		return word
	}
	return "held"
}
