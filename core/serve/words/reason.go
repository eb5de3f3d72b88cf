package words

import (
	"github.com/dogwatch/dogwatch/core/decide/policy"
)

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
