package policy

import (
	"cmp"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
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

func reasonOfChoice(code, did string, chosen choice.Choice, now time.Time, sentence bool) Reason {
	reason := Reason{Code: code, Source: chosen.Actor, Until: chosen.Until.Time}
	if !sentence {
		return reason
	}
	text := "it was " + did
	if chosen.Actor != "" {
		text += " by " + chosen.Actor
	}
	switch {
	case chosen.Kind == choice.Snooze && chosen.Until.IsZero():
		text += " until the next version"
	case chosen.Kind == choice.Snooze:
		text += " until " + chosen.Until.In(now.Location()).Format("2006-01-02 15:04")
	}
	reason.Text = text
	return reason
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
