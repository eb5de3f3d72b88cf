package components

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func (h *Handler) list(w http.ResponseWriter, r *http.Request, k kind.Kind) {
	actor := h.ActorOf(r)
	var checks []event.Event
	if k == kind.Watcher {
		var err error
		if checks, err = h.guide.RecentChecks(r.Context(), actor); err != nil {
			h.InternalError(w, r, "read the last checks", err)
			return
		}
	}
	p := newKindPage(k, h.service.ComponentsWithSettings(actor, k), guide.LastChecks(checks))
	if k == kind.Registry {
		p.use(registryUseOf(h.service.Containers().All(), h.service.Redact))
	}
	if k == kind.Trigger {
		unsent, err := h.unsent(r.Context())
		if err != nil {
			h.InternalError(w, r, "read what is to be sent", err)
			return
		}
		for i := range p.Rows {
			row := &p.Rows[i]
			row.Unsent = unsent[row.ID]
			row.State = sendingState(row.State, row.Unsent)
		}
		p.sum()
	}
	p.Empty = h.guide.Empty(r.Context(), actor, len(p.Rows))
	if k == kind.Trigger && p.Empty != nil {
		p.First = guide.FirstTrigger()
		p.First.Whole = true
		if g := p.Empty.Guide; g != nil && g.Title == p.First.Title {
			p.Empty.Guide = nil // it is the same
		}
	}
	p.checking(guide.RunningChecks(checks, h.Started), h.service.Progress())
	h.Live(w, r, "components", page.Page{Title: p.Title, Nav: page.KindPath(k)[1:], Live: follows(k), Content: p})
}

// follows are the families of events that the pages of a kind follow. What
// registries allow changes with checks.
func follows(k kind.Kind) string {
	switch k {
	case kind.Watcher:
		return page.FollowsWatchers
	case kind.Registry:
		return page.FollowsRegistries
	}
	return page.FollowsTriggers
}

// kindPage is the list of the components of one kind.
type kindPage struct {
	Kind  kind.Kind
	Title phrase.Phrase
	// About says what components of this kind are for, and None that there is none.
	About, None phrase.Phrase
	// Summary counts them: "3 watchers, 1 failed".
	Summary phrase.Phrase
	Rows    []componentRow
	// Empty is what an empty list says, and First how to make the first of them.
	Empty *guide.Empty
	First *guide.Guide
}

// wordsOf says what the pages of a kind say.
var wordsOf = map[kind.Kind]struct{ about, none, unknown, back phrase.Phrase }{
	kind.Watcher: {
		phrase.New("A watcher finds the containers of an engine, such as Docker, and checks them on a schedule."),
		phrase.New("No watcher is configured."), phrase.New("There is no such watcher"), phrase.New("To the watchers"),
	},
	kind.Registry: {
		phrase.New("Dogwatch asks registries which versions of an image there are. Public ones need no configuration."),
		phrase.New("No registry is configured."), phrase.New("There is no such registry"), phrase.New("To the registries"),
	},
	kind.Trigger: {
		phrase.New("A trigger notifies you of an update, or installs it."),
		phrase.New("No trigger is configured."), phrase.New("There is no such trigger"), phrase.New("To the triggers"),
	},
}

// componentRow is a component in a list.
type componentRow struct {
	service.Component
	Path  string
	State words.State
	// Facts are the few settings that tell one from the other.
	Facts []phrase.Phrase
	Last  *lastCheck
	// Unresponsive is what checks know of a registry that does not respond; nil for any other.
	Unresponsive *unresponsive
	// Unsent is why a message of a trigger could not be sent so far; "" for none.
	Unsent string
	// Running is true while a watcher is being checked, and Progress how far that is.
	Running  bool
	Progress check.Progress
}

func newKindPage(k kind.Kind, all []service.Component, last map[string]event.Event) kindPage {
	p := kindPage{
		Kind: k, Title: phrase.New(page.KindTitles[k]), About: wordsOf[k].about, None: wordsOf[k].none,
	}
	for _, c := range all {
		row := componentRow{Component: c, Path: page.ComponentPath(c), State: componentState(c.State), Facts: facts(c)}
		if e, checked := last[c.Name]; checked && k == kind.Watcher {
			row.Last = checkOf(e)
			row.State = row.Last.stateOf(row.State)
		}
		p.Rows = append(p.Rows, row)
	}
	p.sum()
	return p
}

// sum counts its rows, and those that failed.
func (p *kindPage) sum() {
	failed := 0
	for _, row := range p.Rows {
		if row.State.Class == "failed" {
			failed++
		}
	}
	p.Summary = phrase.Capital(phrase.Count(len(p.Rows), string(p.Kind)))
	if failed > 0 {
		p.Summary = phrase.Join(", ", p.Summary, phrase.New("%d failed", failed))
	}
}

// use marks the registries that do not respond, or that no container uses.
func (p *kindPage) use(use registryUse) {
	for i := range p.Rows {
		row := &p.Rows[i]
		row.Unresponsive, row.State = use.unresponsive[row.ID], use.stateOf(row.ID, row.State)
	}
	first := func(r componentRow) int { return slices.Index([]string{"failed", "ok", "muted"}, r.State.Class) }
	slices.SortStableFunc(p.Rows, func(a, b componentRow) int { return cmp.Compare(first(a), first(b)) })
	p.sum()
}

// Summary counts components of a kind: "3 watchers, 1 failed". Of containers it is known which registries respond.
func Summary(k kind.Kind, all []service.Component, records []*store.Record, redact func(string) string) phrase.Phrase {
	p := newKindPage(k, all, nil)
	if k == kind.Registry {
		p.use(registryUseOf(records, redact))
	}
	return p.Summary
}

// checking marks the watchers that are being checked, by name.
func (p *kindPage) checking(running map[string]bool, progress []check.Progress) {
	for i := range p.Rows {
		row := &p.Rows[i]
		row.Running, row.Progress = running[row.Name], words.ProgressOf(row.Name, progress)
	}
}
