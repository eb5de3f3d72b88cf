package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/components"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// shownEnds is how long the overview shows operations that ended badly.
const shownEnds = 24 * time.Hour

// operationsOf are sentences about operations that are under way or ended badly lately, newest first.
func operationsOf(open map[string]operation.Operation, ended []operation.Operation, now time.Time) []line {
	var lines []line
	for _, key := range sortedKeys(open) {
		op := open[key]
		lines = append(lines, line{
			Kind: words.OperationState(op).Class, Word: "under way", Text: op.Name + ": " + words.Doing(op),
			To: page.OperationPath(op.ID), Act: "See how it goes",
		})
	}
	newest := map[string]bool{}
	for _, op := range ended {
		key := op.Watcher + "/" + op.Name
		if op.Ended.Before(now.Add(-shownEnds)) || newest[key] {
			continue
		}
		newest[key] = true
		if _, again := open[key]; again || op.State != operation.RolledBack && op.State != operation.Failed {
			continue
		}
		said, _ := words.OperationEnd(op)
		lines = append(lines, line{
			Kind: "failed", Word: strings.ToLower(words.OperationState(op).Word), Text: op.Name + ": " + said,
			To: page.OperationPath(op.ID), Act: "See what happened",
		})
	}
	return lines
}

// operationsShown is how many ended operations the overview looks through.
const operationsShown = 30

const (
	// limitWait is how long the overview waits for what registries allow.
	limitWait = 300 * time.Millisecond
	// checksBack is how many events of checks are searched for the last of each watcher.
	checksBack = 200
)

// namesShown is how many containers a sentence names.
const namesShown = 6

// line is one sentence of the overview.
type line struct {
	// Kind is the word in front, with its colour.
	Kind, Word string
	Text       string
	// Detail is the first of the errors that Text sums up.
	Detail string
	// Links are what it is about.
	Links []page.Link
	More  int
	// To is where more of it is shown, below the base path; Act what the link says.
	To, Act string
	At      time.Time
}

// overviewView is what needs the user.
type overviewView struct {
	Sentence string
	Empty    bool
	Needs    []line
	// Broken are other parts of Dogwatch itself that do not work.
	Broken []line
	// Outdated are sentences about newer versions of plugins.
	Outdated []string
	// Operations are updates that are under way.
	Operations []line
	// Waiting are updates that rules and choices hold, and those that are carried out by rule.
	Waiting []line
	// Postponed are checks that wait for a registry's pause.
	Postponed []line
	// Behind is nil while there is nothing to see.
	Behind   *behindView
	Watchers []watcherLine
	Limits   []string
	// Guide says what to do next, while something is missing.
	Guide *guide.Guide
}

// watcherLine is when a watcher was and will be checked.
type watcherLine struct {
	Name       string
	Last, Next time.Time
	Running    bool
	Going      words.CheckProgress
	Words      string
	Bad        bool
}

// updatesOf are sentences about the updates that are offered, worst first.
func updatesOf(all []row) []line {
	kinds := []struct{ class, noun string }{
		{"major", "major update"}, {"minor", "minor update"}, {"patch", "patch"}, {"prerelease", "prerelease"},
		{"digest", "rebuilt image"}, {"other", "newer version"},
	}
	var lines []line
	for _, k := range kinds {
		of := slices.Collect(func(yield func(row) bool) {
			for _, r := range all {
				if r.Kind == k.class && r.filter() == sdk.StateOffered && !r.CameBack() && !yield(r) {
					return
				}
			}
		})
		if len(of) > 0 {
			noun := words.Plural(len(of), k.noun)
			if k.noun == "patch" && len(of) > 1 {
				noun = fmt.Sprintf("%d patches", len(of))
			}
			lines = append(lines, about(of, line{Kind: k.class, Word: tally.Word(k.class), Text: noun,
				To: "/containers?state=" + k.class}))
		}
	}
	return lines
}

// about names the containers of a sentence.
func about(of []row, l line) line {
	slices.SortFunc(of, func(a, b row) int { return strings.Compare(a.Name, b.Name) })
	for i, r := range of {
		if i == namesShown {
			l.More = len(of) - i
			break
		}
		l.Links = append(l.Links, page.Link{Text: r.Name, To: r.Href})
	}
	return l
}

// failuresOf are sentences about failed checks, one for each cause.
func failuresOf(all []row) []line {
	var lines []line
	for _, f := range tally.Failures(all, func(r row) (cause, err string) { return r.Cause, r.Failed }) {
		text := f.Text
		if f.Detail != "" {
			text = outage(f)
		}
		lines = append(lines, about(f.Of, line{Kind: "failed", Word: "failed", Text: text, Detail: f.Detail,
			To: searchPath(f.Text)}))
	}
	return lines
}

// outagesOf are sentences about the failures that several containers share.
func outagesOf(all []row) []line {
	return slices.DeleteFunc(failuresOf(all), func(l line) bool { return l.Detail == "" })
}

// outage says what several containers fail by: "Docker Hub does not answer: 9 containers".
func outage(f tally.Failure[row]) string { return f.Text + ": " + words.Plural(len(f.Of), "container") }

// searchPath is the list of the containers that a text is found in.
func searchPath(text string) string { return "/containers?q=" + url.QueryEscape(text) }

// postponedOf are sentences about checks that wait for a registry, one for each reason.
func postponedOf(all []row) []line {
	byReason := map[string][]row{}
	for _, r := range all {
		if r.Postponed != "" {
			byReason[r.Postponed] = append(byReason[r.Postponed], r)
		}
	}
	var lines []line
	for _, reason := range sortedKeys(byReason) {
		lines = append(lines, about(byReason[reason], line{Kind: "postponed", Word: "postponed",
			Text: strings.TrimPrefix(reason, "postponed "), To: searchPath(reason)}))
	}
	return lines
}

// unsentOf are sentences about what could not be sent, one for each trigger and reason. Those of
// triggers that update are about what could not be done; updates of shown are left out, as
// another sentence is about their end.
func unsentOf(failed, pending []delivery.Delivery, triggers []service.Component, shown map[string]bool) []line {
	updates := map[string]bool{}
	for _, t := range triggers {
		updates[t.ID] = t.Acts
	}
	type what struct{ trigger, reason string }
	counts, order := map[what]int{}, []what{}
	for _, d := range slices.Concat(failed, pending) {
		if d.Error == "" || d.Manual || updates[d.Trigger] && shown[d.Subject] { // a manual run showed its error to its user
			continue
		}
		w := what{d.Trigger, d.Error}
		if counts[w] == 0 {
			order = append(order, w)
		}
		counts[w]++
	}
	var lines []line
	for _, w := range order {
		word, text := "not sent", fmt.Sprintf("%s could not send %s: %s", w.trigger, words.Plural(counts[w], "message"), w.reason)
		if updates[w.trigger] {
			word, text = "failed", w.trigger+": "+w.reason
		}
		lines = append(lines, line{
			Kind: "failed", Word: word, Text: text,
			To: "/deliveries?state=failed&trigger=" + url.QueryEscape(w.trigger), Act: "See and retry",
		})
	}
	return lines
}

// watchersOf says how the last check of each watcher went, from events, newest
// first; started is when this process did.
func watchersOf(
	names []string, events []event.Event, started time.Time, progress []check.Progress, next func(string) time.Time,
) []watcherLine {
	var lines []watcherLine
	for _, name := range names {
		l := watcherLine{Name: name, Next: next(name), Going: words.CheckProgressOf(name, progress), Words: "not checked yet"}
		for _, e := range events {
			if e.Check == nil || e.Check.Watcher != name || e.Check.Single {
				continue
			}
			if e.Type == event.CheckStarted {
				l.Running = e.At.After(started) // an earlier process may have been killed during a check
				continue
			}
			l.Last, l.Words = e.At, words.Plural(e.Check.Containers, "container")
			if e.Type == event.CheckFailed {
				l.Words, l.Bad = e.Check.Error, true
			}
			break
		}
		lines = append(lines, l)
	}
	return lines
}

// componentsOf are sentences about what is configured and does not work.
func componentsOf(of []service.Component) []line {
	var lines []line
	for _, c := range of {
		if c.State == component.Failed {
			lines = append(lines, line{
				Kind: "failed", Word: "failed", Text: fmt.Sprintf("%s %s: %s", c.Kind, c.ID, withoutKey(c.Error, c)),
				To: page.KindPath(c.Kind) + "/" + url.PathEscape(c.Type) + "/" + url.PathEscape(c.Name), Act: "See what to do",
			})
		}
	}
	return lines
}

// withoutKey is an error whose beginning does not repeat what it is about: the
// errors of options begin with their full names.
func withoutKey(text string, c service.Component) string {
	return strings.TrimPrefix(text, c.Key()+".")
}

// pluginsOf are sentences about plugins that do not run though they should.
func pluginsOf(of []service.Plugin) []line {
	var lines []line
	for _, s := range of {
		switch s.State {
		case plugin.Running, plugin.Stopped, plugin.Starting:
			continue
		}
		lines = append(lines, line{
			Kind: "failed", Word: "plugin", Text: words.Joined(": ", "Plugin "+s.Name+" is "+string(s.State), s.Error),
			To: "/plugins", Act: "See what to do",
		})
	}
	return lines
}

// outdatedOf are sentences about installed plugins of which there is a newer version.
func outdatedOf(of []service.Plugin) []string {
	var said []string
	for _, p := range of {
		if p.Installed != nil && p.Installed.Available != "" {
			said = append(said, fmt.Sprintf("Plugin %s: a newer version is available, %s.", p.Name, p.Installed.Available))
		}
	}
	return said
}

// limitsOf are sentences about what hosts of registries still allow.
func limitsOf(registries []service.Component, now time.Time) []string {
	var said []string
	for _, r := range registries {
		for _, l := range r.Limits {
			switch {
			case l.PausedUntil.After(now):
				said = append(said,
					fmt.Sprintf("%s asked for a pause; it is asked again %s.", l.Host, words.Relative(now.Sub(l.PausedUntil.Time))))
			case l.Limit > 0:
				said = append(said, fmt.Sprintf("%s: %s.", l.Host, components.NewLimitRow(l, now).Said))
			}
		}
	}
	return said
}

func (u *UI) overview(w http.ResponseWriter, r *http.Request) {
	v, err := u.overviewOf(r.Context(), u.ActorOf(r))
	if err != nil {
		u.InternalError(w, r, "read the history", err)
		return
	}
	if page.Partial(r) {
		u.Fragment(w, r, "overview", "overview", v)
		return
	}
	u.Show(w, r, http.StatusOK, "overview", page.Page{Title: "Overview", Nav: "overview", Live: page.FollowsAll, Content: v})
}

// saidOf returns which containers the overview names for what became of their updates, and which of those, or by
// their row, for an update that did not work.
func (u *UI) saidOf(ended []operation.Operation, all []row) (said, failed map[string]bool) {
	said, failed = map[string]bool{}, map[string]bool{}
	for _, op := range ended {
		if key := op.Watcher + "/" + op.Name; !op.Ended.Before(u.Now().Add(-shownEnds)) {
			said[key] = true
			failed[key] = failed[key] || op.State != operation.Succeeded
		}
	}
	for _, r := range all {
		failed[r.Key] = failed[r.Key] || r.CameBack()
	}
	return said, failed
}

func (u *UI) overviewOf(ctx context.Context, actor auth.Actor) (overviewView, error) {
	var all []row
	var t tally.Counts
	records := u.Service.Containers().All()
	u.want(records)
	for _, rec := range records {
		t.Add(&rec.Container)
		all = append(all, u.rows().of(rec))
	}
	watchers := u.Service.Components(actor, kind.Watcher)
	down := componentsOf(watchers)
	v := overviewView{Sentence: guide.Headline(t, watchers), Empty: t.All == 0}
	events, err := u.Service.History(ctx, actor, event.Filter{
		Types: []event.Type{event.CheckStarted, event.CheckFinished, event.CheckFailed}, Limit: checksBack,
	})
	if err != nil {
		return v, err
	}
	failed, err := u.Service.Deliveries(ctx, store.DeliveryFilter{State: delivery.Failed})
	if err != nil {
		return v, err
	}
	pending, err := u.Service.Deliveries(ctx, store.DeliveryFilter{State: delivery.Pending})
	if err != nil {
		return v, err
	}
	ended, err := u.Service.Operations(ctx, operation.Filter{
		States: []operation.State{operation.Succeeded, operation.RolledBack, operation.Failed}, Limit: operationsShown,
	})
	if err != nil {
		return v, err
	}
	u.follow(ctx, actor, all)
	open := u.operations.UnderWay(ctx)
	v.Operations = operationsOf(open, ended, u.Now())
	said, shown := u.saidOf(ended, all)
	bad := v.Operations[len(open):] // what is under way comes first, and needs no user
	v.Operations = v.Operations[:len(open):len(open)]
	idle := slices.DeleteFunc(slices.Clone(all), func(r row) bool { // what is being updated needs no user
		_, busy := open[r.Key]
		return busy
	})
	// What cannot be watched comes first: nothing else is known to be right then.
	v.Needs = slices.Concat(down, bad, cameBackOf(all, said), failuresOf(all), approvalsOf(idle), updatesOf(idle),
		unsentOf(failed, pending, u.Service.Components(actor, kind.Trigger), shown))
	v.Waiting, v.Postponed = waitingOf(all, u.Now()), postponedOf(all)
	plugins := u.Service.Plugins()
	v.Broken = slices.Concat(componentsOf(u.Service.Components(actor, kind.Registry)),
		componentsOf(u.Service.Components(actor, kind.Trigger)), pluginsOf(plugins))
	v.Outdated = outdatedOf(plugins)
	var names []string
	for _, c := range watchers {
		names = append(names, c.Name)
	}
	v.Watchers = watchersOf(names, events, u.Started, u.Service.Progress(), u.Service.NextCheck)
	waiting, cancel := context.WithTimeout(ctx, limitWait)
	defer cancel()
	registries := u.Service.Registries(waiting, actor)
	v.Limits = append(limitsOf(registries, u.Now()), budgetsOf(registries)...)
	days, err := u.Service.UpdateHistory(ctx)
	if err != nil {
		return v, err
	}
	v.Behind = behindOf(days)
	v.Guide, err = u.guide.Guide(ctx, actor)
	return v, err
}
