package plugins

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// pluginPage is the list of plugins.
type pluginPage struct {
	Summary phrase.Phrase
	failing bool
	Rows    []row
	// Sentence is what a button just did.
	Sentence phrase.Phrase
	Empty    *guide.Empty
	Gallery  galleryPart
}

func newPluginPage(all []service.Plugin, notice phrase.Phrase, operator bool) pluginPage {
	p := pluginPage{Sentence: notice, Rows: make([]row, len(all))}
	running, bad := 0, 0
	var memory int64
	for i, b := range all {
		row := newRow(b, operator)
		p.Rows[i] = row
		memory += b.Memory
		if row.State.Class == "ok" {
			running++
		}
		if row.State.Class == "failed" || b.Error != "" {
			bad++
		}
	}
	rank := func(r row) int { return slices.Index([]string{"failed", r.State.Class}, r.State.Class) }
	slices.SortStableFunc(p.Rows, func(a, b row) int { return cmp.Compare(rank(a), rank(b)) })
	parts := []phrase.Phrase{phrase.Capital(phrase.Count(len(all), "plugin")), phrase.New("%d running", running)}
	if p.failing = bad > 0; p.failing {
		parts = append(parts, words.DownCount(bad))
	}
	if memory > 0 {
		parts = append(parts, phrase.New("%s in total", words.Bytes(memory)))
	}
	p.Summary = phrase.Join(", ", parts...)
	return p
}

// Summary counts plugins, "3 plugins, 2 running", and says whether any failed.
func Summary(all []service.Plugin) (summary phrase.Phrase, failing bool) {
	all = slices.Clone(all)
	for i := range all {
		all[i].Memory = 0 // which only their own page tells
	}
	p := newPluginPage(all, nil, false)
	return p.Summary, p.failing
}

func (h *Handler) show(w http.ResponseWriter, r *http.Request) {
	all := h.service.Plugins()
	var notice phrase.Phrase
	for _, b := range all { // only of what there is, whatever the address says
		if form := notices[r.FormValue("did")]; form != nil && b.Name == r.FormValue("to") {
			notice = form(b.Name)
		}
	}
	p := newPluginPage(all, notice, h.ActorOf(r).Operator())
	p.Gallery = h.gallery(r)
	p.Empty = h.guide.Empty(r.Context(), h.ActorOf(r), len(p.Rows))
	h.Live(w, r, "plugins", page.Page{Title: phrase.New("Plugins"), Nav: "plugins", Live: page.FollowsPlugins, Content: p})
}
