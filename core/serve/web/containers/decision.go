package containers

import (
	"cmp"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// decision is what became of the update of a container, as pages say it.
type decision struct {
	// State is sdk.StateOffered, StateHeld or StateAutomatic; "" without an update.
	State string
	// Approval is true when an offered update waits for a user.
	Approval bool
	// Reasons are all reasons as sentences, and Short the one that ends last in two or three
	// words: "too new".
	Reasons []phrase.Phrase
	Short   phrase.Phrase
	// Because are the Reasons without the time of Until, which pages say beside the state, and without choices.
	Because []phrase.Phrase
	// Code is that of the reason that ends last. An approval is none that holds.
	Code string
	// Approved is true for what a user approved; Follows for a held update that is carried
	// out once all reasons have ended, as far as that is known.
	Approved, Follows bool
	// Until is when that reason ends by itself; zero when it does not.
	Until time.Time
	// Also are the newest versions of other steps than the offered one that nobody skipped: "9.0".
	Also []string
}

// decisionOf says what became of the update of a container. What labels and plugins wrote goes through redact.
func decisionOf(c *sdk.Container, redact func(string) string) decision {
	d := decision{State: tally.State(c), Approval: tally.Approval(c), Also: tally.Others(c)}
	if d.State == "" || c.Decision == nil {
		return d
	}
	for _, r := range c.Decision.Reasons {
		d.Approved = d.Approved || r.Code == policy.ReasonApproved
		if d.Code == "" && r.Code != policy.ReasonApproved {
			d.Code, d.Short, d.Until = r.Code, words.Reason(r.Code), r.Until.Time
			if r.Code == policy.ReasonStack { // which says by what in few words
				d.Short = phrase.Change(policypreview.Reason(r), redact)
			}
		}
		d.Reasons = append(d.Reasons, phrase.Capital(phrase.Change(policypreview.Sentence(r), redact)))
		if r.Code == policy.ReasonSkipped || r.Code == policy.ReasonSnoozed { // a choice, which stands beside it
			continue
		}
		if r.Until.Time.Equal(d.Until) {
			r.Until = sdk.Time{}
		}
		d.Because = append(d.Because, phrase.Capital(phrase.Change(policypreview.Sentence(r), redact)))
	}
	return d
}

// brief says in a few words what became of an update that is not simply offered.
func (d decision) brief(now time.Time) phrase.Phrase {
	switch {
	case d.Approval:
		return phrase.New("to approve")
	case d.CameBack():
		return phrase.New("did not work")
	case d.State == sdk.StateOffered && d.Code == policy.ReasonUndone:
		return phrase.New("rolled back")
	case d.State == sdk.StateOffered && d.Code == policy.ReasonRebuild:
		return phrase.New("rebuild it")
	case d.State == sdk.StateAutomatic && d.Approved:
		return phrase.New("approved, updated next")
	case d.State == sdk.StateAutomatic:
		return phrase.New("updated by rule")
	case d.State != sdk.StateHeld:
		return nil
	}
	if d.Code != policy.ReasonWindow && !d.Until.IsZero() {
		return phrase.New("held for another %s: %s", words.Span(max(d.Until.Sub(now), 0)), cmp.Or(d.Short, words.Reason("")))
	}
	return phrase.New("held: %s", d.Ends(d.Until, now))
}

// Ends says what holds the update, and for how long where that ends by itself: "too new for another 8 d", "window
// opens in 6 h".
func (d decision) Ends(until, now time.Time) phrase.Phrase {
	short := cmp.Or(d.Short, words.Reason(""))
	switch {
	case until.IsZero():
		return short
	case d.Code == policy.ReasonWindow:
		return phrase.New("window opens %s", words.Relative(now.Sub(until)))
	}
	return phrase.New("%s for another %s", short, words.Span(max(until.Sub(now), 0)))
}

// Said is its State as users read it.
func (d decision) Said() phrase.Phrase { return words.Decided(d.State) }

// CameBack reports whether an update was tried and rolled back, and a user has to decide.
func (d decision) CameBack() bool {
	return d.State == sdk.StateOffered && d.Code == policy.ReasonCameBack
}

// Filter is what the filters of the list call a decision.
func (d decision) Filter() string {
	if d.Approval {
		return "approval"
	}
	return d.State
}
