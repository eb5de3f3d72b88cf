package web

import (
	"net/http"
	"slices"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func (u *UI) rows() rows { return rows{redact: u.Service.Redact, icon: u.Icon, now: u.Now()} }

// rowsFor makes rows that say what is being updated, and what the user can update.
func (u *UI) rowsFor(r *http.Request) rows {
	make, actor, known := u.rows(), u.ActorOf(r), map[string]bool{}
	make.underWay = u.operations.UnderWay(r.Context())
	make.may = func(watcher string) bool {
		may, seen := known[watcher]
		if !seen {
			may = u.Service.UpdatePermission(actor, watcher).Allowed
			known[watcher] = may
		}
		return may
	}
	return make
}

func (u *UI) list(r *http.Request) listView {
	snapshot := u.Service.Containers()
	u.want(snapshot.All())
	v := listOf(snapshot.All(), parseListQuery(r.URL.Query()), u.rowsFor(r))
	if v.Empty {
		v.Sentence = guide.Headline(tally.Counts{}, u.Service.Components(u.ActorOf(r), kind.Watcher))
	}
	v.Sentence = words.BeingChecked(v.Sentence, u.Service.Progress())
	v.Decide = u.MayChoose(r)
	v.Version, v.Triggers = snapshot.Version(), triggerChoices(u.Service.Components(u.ActorOf(r), kind.Trigger))
	return v
}

// want has the release dates of containers fetched, since a page view shows them.
func (u *UI) want(records []*store.Record) {
	for _, rec := range records {
		u.Want(&rec.Container)
	}
}

// write fills in the HTML of the rows of a list.
func (u *UI) write(v *listView) {
	for _, g := range v.Groups {
		for i := range g.Rows {
			g.Rows[i].HTML = u.rowHTML(&g.Rows[i])
		}
	}
}

func (u *UI) containers(w http.ResponseWriter, r *http.Request) {
	v := u.list(r)
	u.write(&v)
	if v.Empty { // what is missing is said as on the overview
		var err error
		if v.Guide, err = u.guide.Guide(r.Context(), u.ActorOf(r)); err != nil {
			u.InternalError(w, r, "read what is missing", err)
			return
		}
	}
	if page.Partial(r) {
		u.Fragment(w, r, "containers", "list", v)
		return
	}
	u.Show(w, r, http.StatusOK, "containers", page.Page{
		Title: "Containers", Nav: "containers", Skip: "rows-begin", Live: page.FollowsContainers, Content: v,
	})
}

// containerRows responds with the summary of the list and those of the rows named
// by c that are in it: what a page loads after an event.
func (u *UI) containerRows(w http.ResponseWriter, r *http.Request) {
	wanted := r.URL.Query()["c"]
	v := u.list(r)
	for i := range v.Groups {
		v.Groups[i].Rows = slices.DeleteFunc(v.Groups[i].Rows, func(r row) bool { return !slices.Contains(wanted, r.Key) })
	}
	u.write(&v)
	u.Fragment(w, r, "containers", "rows", v)
}
