package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
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
	// Code is that of the reason that ends last. An approval is none that holds.
	Code string
	// Approved is true for what a user approved; Follows for a held update that is carried
	// out once all reasons have ended, as far as that is known.
	Approved, Follows bool
	// Until is when that reason ends by itself; zero when it does not.
	Until time.Time
	// Also are the newest versions of other steps than the offered one: "9.0".
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
				d.Short = redact(r.Text)
			}
		}
		d.Reasons = append(d.Reasons, words.Capital(redact(policypreview.Sentence(r))))
	}
	return d
}

// brief says in a few words what became of an update that is not simply offered.
func (d decision) brief(now time.Time) string {
	switch {
	case d.Approval:
		return "to approve"
	case d.CameBack():
		return "did not work"
	case d.State == sdk.StateOffered && d.Code == policy.ReasonRebuild:
		return "rebuild it"
	case d.State == sdk.StateAutomatic && d.Approved:
		return "approved, updated next"
	case d.State == sdk.StateAutomatic:
		return "updated by rule"
	case d.State != sdk.StateHeld:
		return ""
	case d.Until.IsZero():
		return "held: " + d.Short
	}
	return "held: " + d.Short + ", ends " + words.Relative(now.Sub(d.Until))
}

// CameBack reports whether an update was tried and rolled back, and a user has to decide.
func (d decision) CameBack() bool {
	return d.State == sdk.StateOffered && d.Code == policy.ReasonCameBack
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
	text := words.Plural(len(of), "update") + " to approve"
	return []line{about(of, line{Kind: "approval", Word: "approve", Text: text, To: "/containers?state=approval"})}
}

// cameBackOf are the sentences about updates that did not work, but for those of said, which
// another sentence is about.
func cameBackOf(all []row, said map[string]bool) []line {
	of := slices.DeleteFunc(slices.Clone(all), func(r row) bool { return !r.CameBack() || said[r.Key] })
	if len(of) == 0 {
		return nil
	}
	return []line{about(of, line{
		Kind: "major", Word: "did not work", Text: words.Plural(len(of), "update") + " rolled back",
		To: "/containers?state=updates",
	})}
}

// waitingOf are the sentences about updates that wait for no user: the held ones by reason, and the automatic ones.
func waitingOf(all []row, now time.Time) []line {
	byReason, order := map[string][]row{}, []string{}
	var follow []row
	for _, r := range all {
		if r.State == sdk.StateHeld && r.Follows {
			follow = append(follow, r)
		}
		if r.State != sdk.StateHeld || r.Follows {
			continue
		}
		reason := r.Code + " " + r.Short
		if byReason[reason] == nil {
			order = append(order, reason)
		}
		byReason[reason] = append(byReason[reason], r)
	}
	slices.Sort(order)
	var lines []line
	for _, reason := range order {
		of := byReason[reason]
		text := words.Plural(len(of), "update") + ", " + cmp.Or(of[0].Short, words.Reason(""))
		if next := earliest(of); !next.IsZero() {
			text += ", the next one " + words.Relative(now.Sub(next))
		}
		lines = append(lines, about(of, line{Kind: "muted", Word: "held", Text: text, To: "/containers?state=held"}))
	}
	if of := rowsIn(all, sdk.StateAutomatic); len(of) > 0 {
		lines = append(lines, about(of, line{
			Kind: "ok", Word: "automatic",
			Text: words.Plural(len(of), "update") + ", carried out as soon as it is their turn", To: "/containers?state=automatic",
		}))
	}
	if len(follow) > 0 {
		text := words.Plural(len(follow), "update") + ", carried out " + words.Relative(now.Sub(earliest(follow)))
		if len(follow) > 1 {
			text = words.Plural(len(follow), "update") + ", the first carried out " + words.Relative(now.Sub(earliest(follow)))
		}
		lines = append(lines, about(follow, line{Kind: "ok", Word: "automatic", Text: text, To: "/containers?state=held"}))
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

// follow notes which held updates are carried out once what holds them has ended: those that
// were approved or whose rules say so, where their watcher may update. Rules are read only if
// there is such an update.
func (u *UI) follow(ctx context.Context, actor auth.Actor, all []row) {
	waits := func(r row) bool {
		return r.State == sdk.StateHeld && !r.Until.IsZero() && u.Service.UpdatePermission(actor, r.Watcher).Allowed
	}
	var automatic map[string]bool
	for i := range all {
		r := &all[i]
		if !waits(*r) {
			continue
		}
		if automatic == nil && !r.Approved {
			automatic = u.automatic(ctx)
		}
		r.Follows = r.Approved || automatic[r.Key]
	}
}

// automatic returns the containers whose rules have updates carried out.
func (u *UI) automatic(ctx context.Context) map[string]bool {
	found := map[string]bool{}
	policies, err := u.Service.PreviewPolicies(ctx, nil)
	if err != nil {
		u.Log.Warn("the rules of updates cannot be read", "error", err)
		return found
	}
	for _, c := range policies.Now.Containers {
		if slices.ContainsFunc(c.Rules, func(r policypreview.Rule) bool {
			return r.Name == policy.RuleUpdate && r.Value == string(policy.Auto)
		}) {
			found[c.Name] = true
		}
	}
	return found
}
