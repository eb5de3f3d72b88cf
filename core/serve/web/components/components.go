package components

import (
	"fmt"
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
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
	p.Empty = h.guide.Empty(r.Context(), actor, len(p.Rows))
	if k == kind.Trigger && p.Empty != nil {
		p.First = guide.FirstTrigger()
		p.First.Whole = true
		if g := p.Empty.Guide; g != nil && g.Title == p.First.Title {
			p.Empty.Guide = nil // it is the same
		}
	}
	p.checking(guide.RunningChecks(checks, h.Started), h.service.Progress())
	h.Live(w, r, "components", page.Page{Title: phrase.Verbatim(p.Title), Nav: page.KindPath(k)[1:], Live: follows(k), Content: p})
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
	// Running is true while a watcher is being checked, and Progress how far that is.
	Running  bool
	Progress check.Progress
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
	p.Summary = words.Capital(phrase.Count(len(all), string(k)).String())
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

// Summary counts components of a kind: "3 watchers, 1 failed".
func Summary(k kind.Kind, all []service.Component) string { return newKindPage(k, all, nil).Summary }

// checking marks the watchers that are being checked, by name.
func (p *kindPage) checking(running map[string]bool, progress []check.Progress) {
	for i := range p.Rows {
		row := &p.Rows[i]
		row.Running, row.Progress = running[row.Name], words.ProgressOf(row.Name, progress)
	}
}
