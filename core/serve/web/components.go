package web

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/history"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// kindPage is the list of the components of one kind.
type kindPage struct {
	Kind  kind.Kind
	Title string
	// Is says what components of this kind are for.
	Is string
	// Summary counts them: "3 watchers, 1 failed".
	Summary string
	Rows    []componentRow
	// Empty is what an empty list says, and First how to make the first of them.
	Empty *guide.Empty
	First *guide.Guide
}

// componentRow is a component in a list.
type componentRow struct {
	service.Component
	Path  string
	State words.State
	// Facts are the few settings that tell one from the other.
	Facts []string
	Last  *lastCheck
	// Running is true while a watcher is being checked, and Going how far that is.
	Running bool
	Going   words.CheckProgress
}

// lastCheck is how the last check of a watcher ended.
type lastCheck struct {
	At     time.Time
	Said   string
	Failed bool
}

func newKindPage(k kind.Kind, all []service.Component, last map[string]event.Event) kindPage {
	p := kindPage{Kind: k, Title: page.KindTitles[k]}
	failed := 0
	for _, c := range all {
		row := componentRow{Component: c, Path: page.ComponentPath(c), State: componentState(c.State), Facts: facts(c)}
		if e, checked := last[c.Name]; checked && k == kind.Watcher {
			row.Last = checkOf(e)
			row.State = row.Last.stateOf(row.State)
		}
		if row.State.Class == "failed" {
			failed++
		}
		p.Rows = append(p.Rows, row)
	}
	p.Summary = words.Plural(len(all), string(k))
	if failed > 0 {
		p.Summary += fmt.Sprintf(", %d failed", failed)
	}
	switch k {
	case kind.Watcher:
		p.Is = "A watcher finds the containers of an engine and says when they are checked."
	case kind.Registry:
		p.Is = "A registry answers which tags and digests an image has. The public ones need no configuration."
	case kind.Trigger:
		p.Is = "A trigger tells you of an update, or does something about it."
	}
	return p
}

// checking marks the watchers that are being checked, by name.
func (p *kindPage) checking(running map[string]bool, progress []check.Progress) {
	for i := range p.Rows {
		p.Rows[i].Running, p.Rows[i].Going = running[p.Rows[i].Name], words.CheckProgressOf(p.Rows[i].Name, progress)
	}
}

func componentState(state component.State) words.State {
	switch state {
	case component.Ready:
		return words.State{Word: "Ready", Class: "ok"}
	case component.Failed:
		return words.State{Word: "Failed", Class: "failed"}
	}
	return words.State{Word: "Starting", Class: "muted"}
}

// facts are what distinguishes a component from others of its kind at a glance.
func facts(c service.Component) (all []string) {
	switch c.Kind {
	case kind.Watcher:
		if cron := valueOf(c, "cron"); cron != "" {
			all = append(all, "checks at "+cron)
		}
		if c.Updates {
			all = append(all, "may update containers")
		}
	case kind.Registry:
		const shown = 3
		all = append(all, strings.Join(c.Hosts[:min(shown, len(c.Hosts))], ", "))
		if more := len(c.Hosts) - shown; more > 0 {
			all = append(all, fmt.Sprintf("and %d more", more))
		}
		for _, f := range c.Budgets {
			all = append(all, f.Host+": "+f.Brief())
		}
	case kind.Trigger:
		if mode := valueOf(c, "mode"); mode == "batch" {
			all = append(all, "one message per check")
		} else {
			all = append(all, "one message per container")
		}
		all = append(all, takes(valueOf(c, "threshold"), valueOf(c, "ondigest") == "false"))
		if valueOf(c, "auto") == "false" {
			all = append(all, "only when asked")
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// takes says which updates a trigger is for; "" when it is for all.
func takes(threshold string, noRebuilds bool) string {
	if noRebuilds {
		threshold = policy.WithoutRebuilds(threshold)
	}
	step, without := strings.CutSuffix(threshold, "-no-digest")
	parts := []string{"up to " + step}
	if only, is := strings.CutSuffix(step, "-only"); is {
		parts = []string{only + " only"}
	}
	switch step {
	case "", "all":
		return ""
	case "versions":
		parts = []string{"no rebuilds"}
	case "digest":
		parts = []string{"rebuilds only"}
	}
	if without {
		parts = append(parts, "no rebuilds")
	}
	return strings.Join(parts, ", ")
}

// valueOf returns the value of an option as it is written; "" when there is no such option.
func valueOf(c service.Component, name string) string {
	for _, s := range c.Settings {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// checkOf says in words how a check ended.
func checkOf(e event.Event) *lastCheck {
	last := &lastCheck{At: e.At, Failed: e.Type == event.CheckFailed}
	last.Said, _ = words.Event(e)
	return last
}

// stateOf is the state of a watcher: one that is ready has not reached its
// engine when its last check failed.
func (l *lastCheck) stateOf(s words.State) words.State {
	if l.Failed && s.Class == "ok" {
		return words.State{Word: "Check failed", Class: "failed"}
	}
	return s
}

// componentPage is one component.
type componentPage struct {
	service.Component
	Title    string
	Path     string
	State    words.State
	Given    []service.Setting
	Defaults []service.Setting
	YAML     string
	Env      string
	Limits   []limitRow
	Budgets  []budgetRow
	Last     *lastCheck
	// Running is true while a watcher is being checked, and Going how far that is.
	Running bool
	Going   words.CheckProgress
	// Preview is what a trigger would say.
	Preview    *preview
	Deliveries []history.DeliveryRow
	// HistoryQuery selects its events on the page of the history.
	HistoryQuery string
	// Mode is how a trigger puts containers together: simple or batch.
	Mode string
	// Image is what a registry was tested with last, Test what came of a test.
	Image string
	Test  *testView
}

type preview struct{ Title, Body, Error string }

// testView is a test run in words.
type testView struct {
	service.TestResult
	OK bool
	// Verdict is one sentence.
	Verdict string
}

func newComponentPage(c service.Component, now time.Time) componentPage {
	p := componentPage{Component: c, Title: c.ID, Path: page.ComponentPath(c), State: componentState(c.State)}
	for _, s := range c.Settings {
		if s.Given() {
			p.Given = append(p.Given, s)
		} else {
			p.Defaults = append(p.Defaults, s)
		}
	}
	p.YAML, p.Env = words.Paste(c)
	p.Mode = valueOf(c, "mode")
	switch c.Kind {
	case kind.Watcher:
		p.HistoryQuery = "?" + url.Values{"watcher": {c.Name}}.Encode()
	case kind.Trigger:
		p.HistoryQuery = "?" + url.Values{"trigger": {c.ID}}.Encode()
	}
	for _, l := range c.Limits {
		p.Limits = append(p.Limits, newLimitRow(l, now))
	}
	for _, f := range c.Budgets {
		p.Budgets = append(p.Budgets, newBudgetRow(f, now))
	}
	return p
}

// checked takes in how the last check of a watcher ended.
func (p *componentPage) checked(e event.Event) {
	p.Last = checkOf(e)
	p.State = p.Last.stateOf(p.State)
}

func newTestView(c service.Component, result service.TestResult, err error) *testView {
	v := &testView{TestResult: result, OK: err == nil}
	took := result.Took.Round(time.Millisecond).String()
	switch {
	case !v.OK:
		v.Verdict = "It does not work: " + err.Error()
	case c.Kind == kind.Trigger && result.Response == "":
		v.Verdict = "The service took the message below (" + took + ")."
	default:
		v.Verdict = fmt.Sprintf("It works: %s (%s).", result.Response, took)
	}
	return v
}

// limitRow is a limit in words.
type limitRow struct {
	registry.Limit
	Said string
	// Paused is true while no request may be sent to the host.
	Paused bool
	// Low is true when less than LowMark, a fifth, is left.
	Low     bool
	LowMark int64
}

func newLimitRow(l registry.Limit, now time.Time) limitRow {
	row := limitRow{Limit: l, Paused: l.PausedUntil.After(now)}
	switch {
	case l.Limit > 0:
		row.LowMark = l.Limit / 5
		row.Low = l.Remaining < row.LowMark
		of := "requests"
		if l.Pulls {
			of = "pulls"
		}
		row.Said = fmt.Sprintf("%d of %d %s left", l.Remaining, l.Limit, of)
		if l.Window > 0 {
			row.Said += " per " + words.Span(l.Window)
		}
	default:
		row.Said = "does not say what it allows"
	}
	return row
}
