package history

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// run is a series of like events, the newest first, which is one row of the history.
type run struct {
	kind   runKind
	events []event.Event
}

// runKind is what the events of a run have in common.
type runKind struct {
	// start is for what the first checks of an engine found, checks for checks that found nothing new.
	start, checks bool
	// typ, subject and text are those of equal events; "" for the other kinds.
	typ           event.Type
	subject, text string
}

// fold makes runs of events, the newest first. The events of a run follow each other.
func fold(events []event.Event) []run {
	added := map[string]int{} // by check
	for _, e := range events {
		if e.Type == event.ContainerAdded && e.Run != "" {
			added[e.Run]++
		}
	}
	var runs []run
	for _, e := range events {
		if last := len(runs) - 1; last >= 0 && e.Choice != nil && byChoice(runs[last].oldest(), e) {
			runs = runs[:last]
		}
		kind := kindOf(e, added[e.Run] > 1)
		if last := len(runs) - 1; last >= 0 && (runs[last].kind == kind || sameFailure(runs[last].oldest(), e)) {
			runs[last].events = append(runs[last].events, e)
			if kind.checks {
				runs[last].kind = kind
			}
			continue
		}
		runs = append(runs, run{kind, []event.Event{e}})
	}
	return runs
}

// sameFailure reports whether of two events one is a failed check, and the other that the engine fails by the same.
func sameFailure(a, b event.Event) bool {
	if a.Type == event.WatcherFailed {
		a, b = b, a
	}
	return a.Type == event.CheckFailed && b.Type == event.WatcherFailed && a.Subject == b.Subject &&
		a.Check.Error == b.Watcher.Error
}

// byChoice reports whether a decision says no more than the choice that it follows from at once.
func byChoice(decided, chosen event.Event) bool {
	if decided.Aspect != event.Decided || decided.Subject != chosen.Subject || decided.Container.Decision == nil ||
		decided.At.Sub(chosen.At) > time.Second {
		return false
	}
	return slices.ContainsFunc(decided.Container.Decision.Reasons, func(r sdk.Reason) bool {
		return r.Code == policy.ReasonSkipped || r.Code == policy.ReasonSnoozed || r.Code == policy.ReasonApproved
	})
}

// single makes a run of each event.
func single(events []event.Event) []run {
	runs := make([]run, len(events))
	for i := range events {
		runs[i].events = events[i : i+1]
	}
	return runs
}

// kindOf returns the kind of the run that an event belongs to; start is whether it is of a check that added containers.
func kindOf(e event.Event, start bool) runKind {
	switch {
	case start && (e.Type == event.CheckFinished || e.Container != nil && e.Container.Error == nil):
		return runKind{start: true}
	case e.Check != nil && !e.Check.Single && len(e.Check.Found) == 0 && e.Type != event.CheckStarted:
		return runKind{checks: true}
	case e.Delivery != nil || e.Operation != nil: // which is about something, and has a page or a log of its own
		return runKind{typ: e.Type, text: strconv.FormatInt(e.ID, 10)}
	}
	said, _ := words.Event(e)
	text := phrase.English(said)
	if e.Type == event.ContainerChanged || e.Type == event.PluginUp || e.Type == event.PluginDown {
		return runKind{typ: e.Type, text: text} // of several containers or plugins, too
	}
	return runKind{typ: e.Type, subject: e.Subject, text: text}
}

// newest and oldest are the ends of a run.
func (r run) newest() event.Event { return r.events[0] }
func (r run) oldest() event.Event { return r.events[len(r.events)-1] }

// row says a run of several events in words. since says a time of day.
func (r run) row(row eventRow, since func(time.Time) phrase.Phrase) eventRow {
	n, from := len(r.events), since(r.oldest().At)
	switch {
	case r.kind.start:
		row.Subject, row.Path, row.Class = r.watchers(), "/containers", ""
		added, updates := r.count(event.ContainerAdded), r.count(event.UpdateFound)
		row.Sentence = phrase.New("%s found", phrase.Count(added, "container"))
		switch {
		case updates > 0 && added == 0: // which another run has, as something else happened between
			row.Sentence = phrase.New("%s found", phrase.Count(updates, "update"))
		case updates > 0:
			row.Sentence = phrase.Join(", ", row.Sentence, phrase.New("%d with an update", updates))
		}
	case r.kind.checks:
		n -= r.count(event.WatcherFailed)
		if n == 1 {
			break
		}
		row.Subject, row.Path, row.Class = r.watchers(), "/watchers", ""
		row.Sentence = phrase.New("%s since %s", phrase.Count(n, "check"), from)
		if failed := r.count(event.CheckFailed); failed > 0 {
			row.Sentence, row.Class = phrase.Join(", ", row.Sentence, phrase.New("%d failed", failed)), "failed"
		}
		if partly := r.partly(); partly > 0 {
			row.Sentence = phrase.Join(", ", row.Sentence,
				phrase.New("%d with containers that could not be checked", partly))
			row.Class = cmp.Or(row.Class, "partly")
		}
	case r.subjects() > 1:
		row.Subject, row.Path = phrase.Count(r.subjects(), "container"), "/containers"
		if r.newest().Plugin != nil {
			row.Subject, row.Path = phrase.Count(r.subjects(), "plugin"), "/plugins"
		}
	default:
		row.Sentence = phrase.Join(", ", row.Sentence, phrase.New("%d times since %s", n, from))
	}
	return row
}

// count returns how many events of a type a run has.
func (r run) count(t event.Type) (n int) {
	for _, e := range r.events {
		if e.Type == t {
			n++
		}
	}
	return n
}

// subjects returns to how many the events of a run happened.
func (r run) subjects() int {
	all := map[string]bool{}
	for _, e := range r.events {
		all[e.Subject] = true
	}
	return len(all)
}

// partly returns how many checks of a run ended, and could not check all containers.
func (r run) partly() (n int) {
	for _, e := range r.events {
		if e.Type == event.CheckFinished && e.Check.Failed > 0 {
			n++
		}
	}
	return n
}

// watchers names the watchers of a run; several are counted.
func (r run) watchers() phrase.Phrase {
	var names []string
	for _, e := range r.events {
		name := e.Subject
		if e.Container != nil {
			name = e.Container.Watcher
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 1 {
		return phrase.Verbatim(names[0])
	}
	return phrase.Count(len(names), "watcher")
}
