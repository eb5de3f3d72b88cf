package containers

import (
	"net/http"
	"slices"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func (h *Handler) list(r *http.Request) listView {
	snapshot := h.service.Containers()
	v := listOf(snapshot.All(), parseListQuery(r.URL.Query()), h.RowsFor(r))
	h.WantReleases(v.shown)
	watchers := h.service.Components(h.ActorOf(r), kind.Watcher)
	headline := guide.Headline(v.counts, watchers)
	if q := v.Query; q.Search != "" || q.Status != "" || q.Watcher != "" || q.Registry != "" {
		headline = phrase.New("%d of %s", v.Shown, phrase.Count(v.counts.All, "container"))
	}
	v.Sentence = phrase.Join(" · ", headline, beingChecked(h.service.Progress()))
	v.Silent = guide.Failed(watchers) > 0
	v.Decide = h.MayChoose(r)
	v.Version, v.Triggers = snapshot.Version(), triggerOptions(h.service.Components(h.ActorOf(r), kind.Trigger))
	return v
}

// beingChecked says how far checks are; nil where that is not known.
func beingChecked(all []check.Progress) phrase.Phrase {
	progress := words.Progress(all...)
	if progress == nil {
		return nil
	}
	return phrase.New("checking %s", progress)
}

// WantReleases has the release dates of containers fetched, and the notes of major updates, since a page view shows
// them.
func (h *Handler) WantReleases(records []*store.Record) {
	for _, rec := range records {
		h.wanted.Release(&rec.Container)
	}
}

// write fills in the HTML of the rows of a list.
func (h *Handler) write(r *http.Request, v *listView) {
	in := h.Languages.Of(r)
	nameHosts(v.Groups, v.all)
	for _, g := range v.Groups {
		for i := range g.Rows {
			row := &g.Rows[i]
			if v.Causes {
				row.Whole = !slices.ContainsFunc(v.Outages, func(l Line) bool { return l.To == SearchPath(row.Cause) })
				row.FailedSince = h.failedSince(r.Context(), h.ActorOf(r), row.Key)
			}
			row.HTML = h.rowHTML(in, row, true)
		}
	}
}

// Write fills in the HTML of rows of lists, which cannot be selected and open a page.
func (h *Handler) Write(r *http.Request, lists ...[]Row) {
	in := h.Languages.Of(r)
	for _, rows := range lists {
		for i := range rows {
			rows[i].HTML = h.rowHTML(in, &rows[i], false)
		}
	}
}

func (h *Handler) show(w http.ResponseWriter, r *http.Request) {
	v := h.list(r)
	if len(v.Groups) > 0 {
		v.Groups[0].Continued = false
	}
	h.write(r, &v)
	if v.Empty { // what is missing is said as on the overview
		var err error
		if v.Guide, err = h.guide.Guide(r.Context(), h.ActorOf(r)); err != nil {
			h.InternalError(w, r, "read what is missing", err)
			return
		}
	}
	if page.Partial(r) {
		h.Fragment(w, r, "containers", "list", v)
		return
	}
	h.Show(w, r, http.StatusOK, "containers", page.Page{
		Title: phrase.New("Containers"), Nav: "containers", Skip: "rows-begin", Live: page.FollowsContainers, Content: v,
	})
}
