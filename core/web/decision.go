package web

import (
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/policy"
	policypreview "github.com/dogwatch/dogwatch/core/preview"
	"github.com/dogwatch/dogwatch/core/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// decision is what became of the update of a container, as pages say it.
type decision struct {
	// State is sdk.StateOffered, StateHeld or StateAutomatic; "" without an update.
	State string
	// Approval is true when an offered update waits for a user.
	Approval bool
	// Reasons are all reasons as sentences, and Short the one that ends last in two or three
	// words: "too young".
	Reasons []string
	Short   string
	// Code is that of the reason that ends last.
	Code string
	// Until is when that reason ends by itself; zero when it does not.
	Until time.Time
	// Also are the newest versions of other steps than the offered one: "9.0".
	Also []string
}

// reasonWords are the reasons of held updates in two or three words.
var reasonWords = map[string]string{
	policy.ReasonThreshold:   "too large a step",
	policy.ReasonMinAge:      "too young",
	policy.ReasonWindow:      "outside its window",
	policy.ReasonFreeze:      "freeze",
	policy.ReasonSkipRule:    "skipped by a rule",
	policy.ReasonSkipped:     "skipped",
	policy.ReasonSnoozed:     "snoozed",
	policy.ReasonCameBack:    "did not work",
	policy.ReasonInvalidRule: "wrong rule",
}

// reasonWord is a reason in two or three words.
func reasonWord(code string) string {
	if word, known := reasonWords[code]; known {
		return word
	}
	return "held"
}

// decisionOf says what became of the update of a container. What labels and plugins wrote goes through redact.
func decisionOf(c *sdk.Container, redact func(string) string) decision {
	d := decision{State: tally.State(c), Approval: tally.Approval(c), Also: otherLevels(c)}
	if d.State == "" || c.Decision == nil {
		return d
	}
	for i, r := range c.Decision.Reasons {
		if i == 0 {
			d.Code, d.Short, d.Until = r.Code, reasonWord(r.Code), r.Until.Time
		}
		d.Reasons = append(d.Reasons, capital(redact(policypreview.Sentence(r))))
	}
	return d
}

// otherLevels are the newest versions of each step but the one that is offered or held, the smallest step first.
func otherLevels(c *sdk.Container) []string {
	if !c.UpdateAvailable || c.Result == nil || c.Result.Levels == nil {
		return nil
	}
	var tags []string
	for _, r := range []*sdk.Release{c.Result.Levels.Patch, c.Result.Levels.Minor, c.Result.Levels.Major} {
		if r != nil && r.Tag != c.Result.Tag && !slices.Contains(tags, r.Tag) {
			tags = append(tags, r.Tag)
		}
	}
	return tags
}

// brief says in a few words what became of an update that is not simply offered.
func (d decision) brief(now time.Time) string {
	switch {
	case d.Approval:
		return "to approve"
	case d.State == sdk.StateAutomatic:
		return "updated by rule"
	case d.Until.IsZero():
		return "held: " + d.Short
	}
	return "held: " + d.Short + ", ends " + relative(now.Sub(d.Until))
}

// filter is what the filters of the list call a decision.
func (d decision) filter() string {
	if d.Approval {
		return "approval"
	}
	return d.State
}

// approvalsOf are the sentences about updates that wait for a user's approval.
func approvalsOf(all []row) []line {
	of := rowsIn(all, "approval")
	if len(of) == 0 {
		return nil
	}
	text := plural(len(of), "update") + " to approve"
	return []line{about(of, line{Kind: "approval", Word: "approve", Text: text, To: "/containers?state=approval"})}
}

// waitingOf are the sentences about updates that wait for no user: the held ones by reason, and the automatic ones.
func waitingOf(all []row, now time.Time) []line {
	byReason, order := map[string][]row{}, []string{}
	for _, r := range all {
		if r.State != sdk.StateHeld {
			continue
		}
		if byReason[r.Code] == nil {
			order = append(order, r.Code)
		}
		byReason[r.Code] = append(byReason[r.Code], r)
	}
	slices.Sort(order)
	var lines []line
	for _, code := range order {
		of := byReason[code]
		text := plural(len(of), "update") + ", " + reasonWord(code)
		if next := earliest(of); !next.IsZero() {
			text += ", the next one " + relative(now.Sub(next))
		}
		lines = append(lines, about(of, line{Kind: "muted", Word: "held", Text: text, To: "/containers?state=held"}))
	}
	if of := rowsIn(all, sdk.StateAutomatic); len(of) > 0 {
		lines = append(lines, about(of, line{Kind: "ok", Word: "automatic", Text: plural(len(of), "update") + " by rule", To: "/containers?state=automatic"}))
	}
	return lines
}

// rowsIn are the rows that a filter of the list leaves.
func rowsIn(all []row, filter string) []row {
	var of []row
	for _, r := range all {
		if r.filter() == filter {
			of = append(of, r)
		}
	}
	return of
}

// earliest is when the first of the reasons ends; zero when none does by itself.
func earliest(of []row) time.Time {
	var first time.Time
	for _, r := range of {
		if !r.Until.IsZero() && (first.IsZero() || r.Until.Before(first)) {
			first = r.Until
		}
	}
	return first
}
