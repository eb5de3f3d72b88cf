// Package preview says what rules make of the updates that are known: what becomes of
// each, when the next windows are, and what would become of them with another rule. It is
// free of I/O, as package policy is, and for the command line and the pages.
package preview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/policy/window"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// openings is how many windows are shown.
const openings = 3

// Subject is a container and what its update is decided with.
type Subject struct {
	Running string // the tag that runs
	// Container is what the last check made of it; zero when that is not known.
	Container sdk.Container
	Update    policy.Update
	Rules     policy.Rules
	Facts     policy.Facts
	Choices   []choice.Choice
}

// Preview is what rules make of the updates of containers.
type Preview struct {
	Counts
	Containers []Container `json:"containers"`
}

// Counts are how many updates are in which state.
type Counts struct {
	// Offered are all that are offered, Approval those of them that wait for an approval.
	Offered   int `json:"offered"`
	Approval  int `json:"approval"`
	Held      int `json:"held"`
	Automatic int `json:"automatic"`
	// Failed are the containers without an update whose check failed or that have a wrong label, Current those that
	// are up to date, and Others those of which neither is known.
	Failed  int `json:"failed"`
	Current int `json:"current"`
	Others  int `json:"others"`
}

// String returns "3 offered, 2 to approve, 5 held"; what there is none of is left out.
func (c Counts) String() string { return c.said().String() }

// In returns it in a language.
func (c Counts) In(p phrase.Printer) string { return c.said().In(p) }

func (c Counts) said() phrase.Phrase {
	var parts []phrase.Phrase
	for _, part := range []struct {
		n    int
		text phrase.Phrase
	}{
		{c.Offered - c.Approval, phrase.New("%d offered", c.Offered-c.Approval)},
		{c.Approval, phrase.New("%d to approve", c.Approval)}, {c.Held, phrase.New("%d held", c.Held)},
		{c.Automatic, phrase.New("%d automatic", c.Automatic)}, {c.Failed, phrase.New("%d failed", c.Failed)},
		{c.Current, phrase.New("%d up to date", c.Current)}, {c.Others, phrase.New("%d without an update", c.Others)},
	} {
		if part.n > 0 {
			parts = append(parts, part.text)
		}
	}
	if len(parts) == 0 {
		return phrase.New("no containers")
	}
	return phrase.Join(", ", parts...)
}

// Container is what becomes of the update of one container.
type Container struct {
	Name string `json:"name"` // "local/nginx"
	// Shown is what users call it: "Nginx".
	Shown   string `json:"displayName"`
	Running string `json:"running"`
	// Target is the version that is offered or held; "" when there is none.
	Target string `json:"target,omitempty"`
	// Kind is how large the step to Target is; see tally.Kind.
	Kind string `json:"-"`
	// State is that of a decision; "" when there is no update.
	State   string       `json:"state,omitempty"`
	Reasons []sdk.Reason `json:"reasons,omitempty"`
	Until   sdk.Time     `json:"until,omitzero"`
	Rules   []Rule       `json:"rules,omitempty"`
	// Windows are the next openings, one that is open now included, for a container whose
	// rules have any.
	Windows []Opening `json:"windows,omitempty"`
	// NeverOpens is why there are none.
	NeverOpens string `json:"neverOpens,omitempty"`

	part tally.Part
}

// Approval reports whether its update waits for an approval.
func (c Container) Approval() bool {
	return c.State == sdk.StateOffered &&
		slices.ContainsFunc(c.Reasons, func(r sdk.Reason) bool { return r.Code == sdk.ReasonApproval })
}

// Rule is a rule that is set, and where.
type Rule struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// Opening is a time in which updates pass.
type Opening struct {
	From sdk.Time `json:"from"`
	// Until is zero for one that does not end.
	Until sdk.Time `json:"until,omitzero"`
	// open is true where it began before From, which is the time of the preview.
	open bool
}

// String says from when until when, in the time zone of the machine.
func (o Opening) String() string { return o.said().String() }

// In says it in a language.
func (o Opening) In(p phrase.Printer) string { return o.said().In(p) }

func (o Opening) said() phrase.Phrase {
	from, until := o.From.Local(), o.Until.Local()
	if o.Until.IsZero() {
		return phrase.New("from %s on", Moment(from))
	}
	end := Moment(until)
	if from.YearDay() == until.YearDay() && until.Sub(from) < 24*time.Hour {
		end = phrase.Time("15:04", until)
	}
	if o.open {
		return phrase.New("now, until %s", end)
	}
	return phrase.New("%s to %s", Moment(from), end)
}

// Moment is a time as previews say it, in the time zone of the machine: "Mon 30 Nov 2026 09:00".
func Moment(t time.Time) phrase.Phrase {
	t = t.Local()
	return phrase.Join(" ", weekday(t.Weekday()), phrase.Time("2 Jan 2006 15:04", t))
}

func weekday(d time.Weekday) phrase.Phrase {
	return phrase.Read(d.String()[:3], "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
}

// Of decides about the updates of all subjects.
func Of(subjects []Subject, now time.Time) Preview {
	p := Preview{Containers: make([]Container, 0, len(subjects))}
	for _, s := range subjects {
		d := policy.Decide(s.Update, s.Rules, s.Facts, s.Choices, now)
		c := Container{
			Name: s.Update.Subject, Shown: cmp.Or(s.Container.DisplayName, s.Container.Name, s.Update.Subject),
			Running: s.Running, State: string(d.State), Until: sdk.TimeOf(d.Next), Rules: Rules(s.Rules),
			part: tally.PartOf(&s.Container),
		}
		if d.Target >= 0 {
			c.setTarget(s.Update.Candidates[d.Target], &s.Container)
		}
		for _, r := range d.Reasons {
			c.Reasons = append(c.Reasons, sdk.Reason{Code: r.Code, Text: r.Text, Source: r.Source, Until: sdk.TimeOf(r.Until)})
		}
		if s.Rules.Window.Value != nil || s.Rules.Freeze.Value != nil {
			for _, o := range window.Next(s.Rules.Window.Value, s.Rules.Freeze.Value, now, openings) {
				c.Windows = append(c.Windows, Opening{sdk.TimeOf(o.Start), sdk.TimeOf(o.End), !o.Start.After(now)})
			}
		}
		if problem, never := s.Rules.NeverOpens(now); never {
			c.NeverOpens = problem.Text
		}
		p.count(c)
		p.Containers = append(p.Containers, c)
	}
	slices.SortStableFunc(p.Containers, func(a, b Container) int {
		return cmp.Or(cmp.Compare(rank(a.State), rank(b.State)), cmp.Compare(a.Name, b.Name))
	})
	return p
}

func (c *Counts) count(of Container) {
	switch {
	case of.State == sdk.StateOffered:
		c.Offered++
		if of.Approval() {
			c.Approval++
		}
	case of.State == sdk.StateHeld:
		c.Held++
	case of.State == sdk.StateAutomatic:
		c.Automatic++
	case of.part == tally.Broken:
		c.Failed++
	case of.part == tally.Current:
		c.Current++
	default:
		c.Others++
	}
}

// rank puts first what users look for.
func rank(state string) int {
	return slices.Index([]string{string(policy.Automatic), string(policy.Offered), string(policy.Held),
		string(policy.None)}, state)
}

// setTarget sets the version that is offered or held. Behind one tag, that is said as elsewhere: "edge (1.0.4) → 1.0.5"
// where both versions are known.
func (c *Container) setTarget(to candidate.Candidate, running *sdk.Container) {
	c.Target = to.Tag
	step := sdk.UpdateKind{Kind: to.Kind, SemverDiff: to.Diff}
	c.Kind = tally.Kind(&sdk.Container{UpdateAvailable: true, UpdateKind: step})
	if to.Kind != sdk.KindDigest {
		return
	}
	if now := running.Image.Version; now != "" && to.Version != "" && now != to.Version {
		c.Running, c.Target = fmt.Sprintf("%s (%s)", c.Running, now), to.Version
	} else if _, hex, found := strings.Cut(to.Digest, ":"); found {
		c.Target += "@" + hex[:min(len(hex), 12)]
	}
}

// With returns subjects as they would be with other rules, each written as "minage=7d".
// The zone is that of windows without one. Ages that no check has read are those of what lists show, as far as that is
// believable now.
func With(subjects []Subject, rules []string, zone *time.Location, now time.Time) ([]Subject, error) {
	changed := slices.Clone(subjects)
	for _, text := range rules {
		name, value, found := strings.Cut(text, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if !found {
			return nil, fmt.Errorf("rule %q has no value: write it like minage=7d", text)
		}
		for i := range changed {
			// Dates are read where a rule asks for an age.
			if subjects[i].Rules.MinAge.Value <= 0 {
				changed[i].Facts.AgeUnread, changed[i].Facts.AgesByDigest = true, false // the next check reads both
				changed[i].Update.Candidates = dated(subjects[i], now)
			}
			if err := changed[i].Rules.Set(name, value, "this rule", zone); err != nil {
				return nil, fmt.Errorf("rule %s: %w", name, err)
			}
		}
		// The error does not depend on there being containers.
		if err := new(policy.Rules).Set(name, value, "", zone); err != nil {
			return nil, fmt.Errorf("rule %s: %w", name, err)
		}
	}
	return changed, nil
}

// dated returns the candidates of a subject; the one that its container shows has the date that it shows.
func dated(s Subject, now time.Time) []candidate.Candidate {
	all := slices.Clone(s.Update.Candidates)
	for i, to := range all {
		shown := s.Container.Result
		if to.Created.IsZero() && shown != nil && shown.Tag == to.Tag && candidate.Believable(shown.Created, now) {
			all[i].Created = shown.Created.Time
		}
	}
	return all
}

// Rules returns the rules that are set.
func Rules(r policy.Rules) []Rule {
	var all []Rule
	add := func(name, value, source string) {
		if value != "" && source != "" && source != policy.DefaultSource {
			all = append(all, Rule{name, value, source})
		}
	}
	add(policy.RuleUpdate, string(r.Mode.Value), r.Mode.Source)
	add(policy.RuleMajor, string(r.Major.Value), r.Major.Source)
	add(policy.RuleThreshold, r.Threshold.Value, r.Threshold.Source)
	if r.MinAge.Value > 0 {
		add(policy.RuleMinAge, policy.FormatAge(r.MinAge.Value), r.MinAge.Source)
	}
	if r.Security.Value > vulnerability.Unknown {
		add(policy.RuleSecurity, r.Security.Value.String(), r.Security.Source)
	}
	if r.Window.Value != nil {
		add(policy.RuleWindow, r.Window.Value.String(), r.Window.Source)
	}
	if r.Freeze.Value != nil {
		add(policy.RuleFreeze, r.Freeze.Value.String(), r.Freeze.Source)
	}
	if r.Skip.Value != nil {
		add(policy.RuleSkip, r.Skip.Value.String(), r.Skip.Source)
	}
	for _, p := range r.Problems {
		all = append(all, Rule{"problem", p.Text, p.Source})
	}
	return all
}

// Windows are the next openings that containers have in common.
type Windows struct {
	Openings []Opening
	// NeverOpens is why there are none.
	NeverOpens string
	Containers []string
}

// Windows returns the next openings, each once, in the order of the containers.
func (p Preview) Windows() []Windows {
	var all []Windows
	for _, c := range p.Containers {
		if len(c.Windows) == 0 && c.NeverOpens == "" {
			continue
		}
		i := slices.IndexFunc(all, func(w Windows) bool {
			return w.NeverOpens == c.NeverOpens && slices.Equal(w.Openings, c.Windows)
		})
		if i < 0 {
			i = len(all)
			all = append(all, Windows{Openings: c.Windows, NeverOpens: c.NeverOpens})
		}
		all[i].Containers = append(all[i].Containers, c.Name)
	}
	return all
}

// Use is a rule and the containers that it is for.
type Use struct {
	Rule
	Counts
	Containers []string `json:"containers"`
}

// Uses returns every rule that is set for a container, by its source, with what becomes of
// the updates of those containers now.
func (p Preview) Uses() []Use {
	var all []Use
	for _, c := range p.Containers {
		for _, r := range c.Rules {
			i := slices.IndexFunc(all, func(u Use) bool { return u.Rule == r })
			if i < 0 {
				i = len(all)
				all = append(all, Use{Rule: r})
			}
			all[i].count(c)
			all[i].Containers = append(all[i].Containers, c.Name)
		}
	}
	order := append(policy.RuleNames(), "problem")
	slices.SortStableFunc(all, func(a, b Use) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Name), slices.Index(order, b.Name)),
			cmp.Compare(a.Source, b.Source), cmp.Compare(a.Value, b.Value))
	})
	for i := range all {
		slices.Sort(all[i].Containers)
	}
	return all
}
