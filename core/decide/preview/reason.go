package preview

import (
	"cmp"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
)

// Sentence says of a reason where it comes from and until when it lasts.
func Sentence(r sdk.Reason) phrase.Phrase {
	text := Lasting(r)
	named := r.Source == "" || r.Source == policy.DefaultSource ||
		strings.Contains(r.Text, strings.TrimPrefix(r.Source, event.LinkActor))
	if !named && r.Source != event.Anonymous {
		text = phrase.New("%s (%s)", text, Source(r.Source))
	}
	return text
}

// Lasting is the text of a reason with its end.
func Lasting(r sdk.Reason) phrase.Phrase {
	switch text := Reason(r); {
	case r.Until.IsZero(), r.Code == policy.ReasonSnoozed, // which says it itself
		strings.HasPrefix(r.Text, "it then waits"): // for something else, which ends later
		return text
	case r.Code == policy.ReasonMinAge:
		return phrase.New("%s, so it waits until %s", text, Moment(r.Until.Time))
	default:
		return phrase.New("%s until %s", text, Moment(r.Until.Time))
	}
}

// Reason is the text of a reason. It is stored in English; another language has the same facts from there, and where
// the text is none of today's, as one that was stored long ago, what the code of the reason says.
func Reason(r sdk.Reason) phrase.Phrase {
	if said := closed(r); said != nil {
		return said
	}
	return phrase.Translated(r.Text, cmp.Or(facts(r), reason(r), phrase.Quote(r.Text), phrase.New("held")))
}

// reason says a reason by its code alone; nil for those whose text is a name or an error.
func reason(r sdk.Reason) phrase.Phrase {
	switch r.Code {
	case policy.ReasonSkipped, policy.ReasonSnoozed, policy.ReasonApproved:
		return chosen(r)
	case policy.ReasonThreshold:
		return phrase.New("the step is larger than the rules allow")
	case policy.ReasonMinAge:
		return phrase.New("it is younger than the rules demand")
	case policy.ReasonWindow:
		return phrase.New("its update window is closed")
	case policy.ReasonFreeze:
		return phrase.New("its updates are frozen")
	case policy.ReasonSkipRule:
		return phrase.New("a rule skips it")
	case policy.ReasonApproval:
		return phrase.New("it waits for an approval")
	case policy.ReasonAutomatic:
		return phrase.New("it is carried out automatically")
	case policy.ReasonSecurity:
		return phrase.New("it fixes vulnerabilities, so its age does not matter")
	case policy.ReasonCameBack:
		return phrase.New("it was tried and did not work, so it is not tried again by itself")
	case policy.ReasonMajor:
		return phrase.New("it is a major update, which is not carried out by itself")
	case policy.ReasonUndone:
		return phrase.New("it was rolled back by you, and waits for something newer or for your approval")
	case policy.ReasonStack:
		return phrase.New("an update of its stack did not work")
	case policy.ReasonForbidden:
		return phrase.New("updates are not allowed here")
	case policy.ReasonRebuild:
		return phrase.New("the base of its image is newer: rebuild it")
	}
	return nil
}

// chosen says what a user decided.
func chosen(r sdk.Reason) phrase.Phrase {
	until := Moment(r.Until.Time)
	by := By(r.Source)
	if by == nil {
		switch {
		case r.Code == policy.ReasonSkipped:
			return phrase.New("it was skipped")
		case r.Code == policy.ReasonApproved:
			return phrase.New("it was approved")
		case r.Until.IsZero():
			return phrase.New("it was snoozed until the next version")
		}
		return phrase.New("it was snoozed until %s", until)
	}
	switch {
	case r.Code == policy.ReasonSkipped:
		return phrase.New("it was skipped %s", by)
	case r.Code == policy.ReasonApproved:
		return phrase.New("it was approved %s", by)
	case r.Until.IsZero():
		return phrase.New("it was snoozed %s until the next version", by)
	}
	return phrase.New("it was snoozed %s until %s", by, until)
}

// By names the user who did something; nil where nobody is known, as without a login.
func By(actor string) phrase.Phrase {
	if actor == "" || actor == event.Anonymous {
		return nil
	}
	if trigger, isLink := strings.CutPrefix(actor, event.LinkActor); isLink {
		return phrase.New("with a link sent by %s", trigger)
	}
	return phrase.New("by %s", actor)
}
