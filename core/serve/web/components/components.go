package components

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func (h *Handler) list(w http.ResponseWriter, r *http.Request, k kind.Kind) {
	actor := h.ActorOf(r)
	known, err := h.evidence(r.Context(), actor, k)
	if err != nil {
		doing := map[kind.Kind]string{kind.Watcher: "read the last checks", kind.Trigger: "read what is to be sent"}[k]
		h.InternalError(w, r, doing, err)
		return
	}
	p := newKindPage(k, h.service.ComponentsWithSettings(actor, k), known)
	p.Empty = h.guide.Empty(r.Context(), actor, len(p.Rows))
	if k == kind.Trigger && p.Empty != nil {
		p.First = guide.FirstTrigger()
		p.First.Whole = true
		if g := p.Empty.Guide; g != nil && g.Title == p.First.Title {
			p.Empty.Guide = nil // it is the same
		}
	}
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
	failing bool
	Rows    []componentRow
	// Empty is what an empty list says, and First how to make the first of them.
	Empty *guide.Empty
	First *guide.Guide
}

// wordsOf says what the pages of a kind say.
var wordsOf = map[kind.Kind]struct{ about, none, unknown, back phrase.Phrase }{
	kind.Watcher: {
		phrase.New("A watcher finds the containers of an engine, such as Docker, and checks them on a schedule."),
		phrase.New("No watcher is configured."), phrase.New("There is no such watcher"), phrase.New("Go to watchers"),
	},
	kind.Registry: {
		phrase.New("Dogwatch asks registries which versions of an image there are. Public ones need no configuration."),
		phrase.New("No registry is configured."), phrase.New("There is no such registry"), phrase.New("Go to registries"),
	},
	kind.Trigger: {
		phrase.New("A trigger notifies you of an update, or installs it."),
		phrase.New("No trigger is configured."), phrase.New("There is no such trigger"), phrase.New("Go to triggers"),
	},
}

// componentRow is a component in a list.
type componentRow struct {
	service.Component
	state
	Path string
	// Facts are the few settings that tell one from the other.
	Facts []phrase.Phrase
}

func newKindPage(k kind.Kind, all []service.Component, known evidence) kindPage {
	p := kindPage{
		Kind: k, Title: phrase.New(page.KindTitles[k]), About: wordsOf[k].about, None: wordsOf[k].none,
	}
	for _, c := range all {
		p.Rows = append(p.Rows, componentRow{
			Component: c, state: known.stateOf(c), Path: page.ComponentPath(c), Facts: facts(c),
		})
		if row := p.Rows[len(p.Rows)-1]; c.Summary == "" && k != kind.Registry && len(row.Facts) > 0 {
			row.Facts[0] = phrase.Capital(row.Facts[0])
		}
	}
	first := func(r componentRow) int { return slices.Index([]string{"failed", "ok", "muted"}, r.State.Class) }
	slices.SortStableFunc(p.Rows, func(a, b componentRow) int { return cmp.Compare(first(a), first(b)) })
	failed, unsent := 0, 0
	for _, row := range p.Rows {
		switch {
		case row.notSending():
			unsent++
		case row.State.Class == "failed":
			failed++
		}
	}
	p.Summary, p.failing = phrase.Capital(phrase.Count(len(p.Rows), string(k))), failed+unsent > 0
	if failed > 0 {
		p.Summary = phrase.Join(", ", p.Summary, words.DownCount(failed))
	}
	if unsent > 0 {
		p.Summary = phrase.Join(", ", p.Summary, phrase.New("%d not sending", unsent))
	}
	return p
}

// Summary counts components of a kind: "3 watchers, 1 failed", and says whether any failed. Of containers it is known
// which registries respond, of pending deliveries which triggers cannot send.
func Summary(k kind.Kind, all []service.Component, records []*store.Record, pending []delivery.Delivery,
	redact func(string) string) (summary phrase.Phrase, failing bool) {
	known := evidence{unsent: unsentOf(pending)}
	if k == kind.Registry {
		known.registries = registryUseOf(records, redact)
	}
	p := newKindPage(k, all, known)
	return p.Summary, p.failing
}
