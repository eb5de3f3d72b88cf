package policies

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/choices"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// policiesPage shows the rules of updates, what they make of them, and what another would.
type policiesPage struct {
	Names       []ruleName
	Rule, Value string // that is tried
	Wrong       []phrase.Phrase
	// Now is "3 offered, 5 held", and Tried that with the other rule; nil when none is tried.
	Now, Tried phrase.Phrase
	Uses       []policyUse
	Updates    []policyUpdate
	Windows    []policypreview.Windows
	// Choices are what users decided, MayUndo whether this one may undo that.
	Choices []choices.Row
	MayUndo bool
	Empty   *guide.Empty
}

// ruleName is a rule as configurations name it, and in words.
type ruleName struct {
	Key  string
	Word phrase.Phrase
}

// ruleNames are all rules, in the order of package policy.
func ruleNames() []ruleName {
	return []ruleName{
		{policy.RuleUpdate, phrase.New("updates")}, {policy.RuleMajor, phrase.New("major updates")},
		{policy.RuleThreshold, phrase.New("largest step")}, {policy.RuleMinAge, phrase.New("minimum age")},
		{policy.RuleSecurity, phrase.New("security fixes")}, {policy.RuleWindow, phrase.New("window")},
		{policy.RuleFreeze, phrase.New("freeze")}, {policy.RuleSkip, phrase.New("skipped versions")},
	}
}

// policyUse is a rule that is set.
type policyUse struct {
	Word         phrase.Phrase
	Value        string
	Age          phrase.Phrase // in the place of Value; nil for any other rule
	By, Sentence phrase.Phrase
}

// policyUpdate is what becomes of an update.
type policyUpdate struct {
	// Full is the container as the API has it: "local/web".
	Name, Full, Path, Running, Target, Kind string
	State                                   words.State
	// Before is its state without the rule that is tried; nil when that is the same.
	Before phrase.Phrase
	Why    []phrase.Phrase
}

// NoContainers is whether there is nothing that rules could be about.
func (p policiesPage) NoContainers() bool {
	return p.Empty != nil && p.Empty.Guide != nil && p.Empty.Guide.Whole
}

func newPoliciesPage(p service.PolicyPreview, called page.Names) policiesPage {
	order := []string{"approval", "held", "ok"} // to approve, held, offered or automatic
	v := policiesPage{Names: ruleNames(), Now: p.Now.Counts}
	for _, use := range p.Now.Uses() {
		word := phrase.Verbatim(use.Name)
		if i := slices.IndexFunc(v.Names, func(n ruleName) bool { return n.Key == use.Name }); i >= 0 {
			word = v.Names[i].Word
		}
		var age phrase.Phrase
		if d, err := policy.ParseAge(use.Value); err == nil && use.Name == policy.RuleMinAge {
			age = words.Whole(d)
		}
		v.Uses = append(v.Uses, policyUse{word, use.Value, age, policypreview.Source(use.Source), use.Counts})
	}
	shown, before := p.Now, map[string]words.State{}
	if p.Tried != nil {
		v.Tried, shown = p.Tried.Counts, *p.Tried
		for _, c := range p.Now.Containers {
			before[c.Name] = decisionState(c)
		}
	}
	names := map[string]string{}
	for _, c := range shown.Containers {
		names[c.Name] = called.Of(c.Name, c.Shown)
		if c.State == "" {
			continue
		}
		watcherName, name, _ := strings.Cut(c.Name, "/")
		row := policyUpdate{
			Name: names[c.Name], Full: c.Name, Path: page.ContainerPath(watcherName, name), Running: c.Running,
			Target: strings.TrimPrefix(c.Target, c.Running+"@"), Kind: c.Kind, State: decisionState(c),
		}
		if was, known := before[c.Name]; known && was.Word.String() != row.State.Word.String() {
			row.Before = was.Word
		}
		for _, r := range c.Reasons {
			row.Why = append(row.Why, phrase.Sentence(phrase.Capital(policypreview.Sentence(r))))
		}
		v.Updates = append(v.Updates, row)
	}
	v.Windows = shown.Windows()
	for _, w := range v.Windows {
		for i, name := range w.Containers {
			w.Containers[i] = names[name]
		}
	}
	// What waits for the user comes first.
	slices.SortStableFunc(v.Updates, func(a, b policyUpdate) int {
		return cmp.Compare(slices.Index(order, a.State.Class), slices.Index(order, b.State.Class))
	})
	return v
}

// decisionState is the state of a decision as users read it.
func decisionState(c policypreview.Container) words.State {
	switch {
	case c.State == sdk.StateHeld:
		return words.State{Word: words.Decided(c.State), Class: "held"}
	case c.Approval():
		return words.State{Word: phrase.New("to approve"), Class: "approval"}
	}
	return words.State{Word: words.Decided(c.State), Class: "ok"}
}

func (h *Handler) show(w http.ResponseWriter, r *http.Request) {
	name, value := r.URL.Query().Get("rule"), strings.TrimSpace(r.URL.Query().Get("value"))
	var rules []string
	if name != "" && value != "" {
		rules = []string{name + "=" + value}
	}
	found, err := h.service.PreviewPolicies(r.Context(), rules)
	var unreadable *service.RuleError
	if err != nil && !errors.As(err, &unreadable) {
		h.InternalError(w, r, "read the policies", err)
		return
	}
	p := newPoliciesPage(found, h.Names())
	p.Empty = h.guide.Empty(r.Context(), h.ActorOf(r), len(p.Updates))
	if p.Empty.Unlisted() {
		p.Now = phrase.New("Your containers cannot be listed")
	}
	p.Rule, p.Value = name, value
	p.Choices, p.MayUndo = h.choices.Rows(), h.MayChoose(r)
	status := http.StatusOK
	if unreadable != nil {
		p.Wrong, status = []phrase.Phrase{phrase.Quote(unreadable.Error())}, http.StatusBadRequest
	}
	h.Show(w, r, status, "policies", page.Page{Title: phrase.New("Policies"), Nav: "policies", Content: p})
}
