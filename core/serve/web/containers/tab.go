package containers

import (
	"context"
	"net/http"
	"net/url"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
)

// The tabs of the page of a container, as its address names them.
const (
	tabNotes    = "notes"
	tabVersions = "versions"
	tabWhy      = "why"
	tabActivity = "activity"
	tabLog      = "log"
	tabDetails  = "details"
)

// tab is a link to a part of the page of a container.
type tab struct {
	Word phrase.Phrase
	To   string
	Open bool
}

// tabOf returns the tab that an address names; "" for none. why=1 and notes=1 are how it was named before.
func tabOf(query url.Values) string {
	switch named := query.Get("tab"); {
	case named == tabNotes, named == tabVersions, named == tabWhy, named == tabActivity,
		named == tabLog, named == tabDetails:
		return named
	case query.Get("why") != "":
		return tabWhy
	case query.Get("notes") != "":
		return tabNotes
	}
	return ""
}

// tabPath is the page of a container with a tab open; version is what was chosen of its versions, "" for nothing.
func tabPath(href, name, version string) string {
	return href + page.Query(map[string]string{"tab": name, "version": version})
}

// openTab opens the tab that the address names. Where it names none, that is the release notes of an update, and the
// details of what has none. There is a log where the user may read it.
func (v *containerView) openTab(named, version string) {
	v.Tab = named
	if v.Tab == tabLog && !v.LogAccess.Allowed {
		v.Tab = tabDetails
	}
	if v.Tab == "" {
		v.Tab = tabDetails
		if v.HasNotes {
			v.Tab = tabNotes
		}
	}
	for _, t := range []struct {
		name string
		word phrase.Phrase
	}{
		{tabNotes, phrase.New("Notes")}, {tabVersions, phrase.New("Versions")}, {tabWhy, phrase.New("Why")},
		{tabActivity, phrase.New("Activity")}, {tabLog, phrase.New("Log")}, {tabDetails, phrase.New("Details")},
	} {
		missing := t.name == tabNotes && !v.HasNotes || t.name == tabLog && !v.LogAccess.Allowed
		if open := t.name == v.Tab; open || !missing {
			v.Tabs = append(v.Tabs, tab{t.word, tabPath(v.Href, t.name, version), open})
		}
	}
	v.Here = tabPath(v.Href, v.Tab, version)
}

// readTab reads what the open tab shows. What another host is asked for is left to the script of the page, unless the
// address names the tab and the request is for a whole page, which a browser without script shows.
func (h *Handler) readTab(ctx context.Context, r *http.Request, rec *store.Record, v *containerView) error {
	c, whole := &rec.Container, !page.Partial(r) && tabOf(r.URL.Query()) != ""
	switch v.Tab {
	case tabNotes:
		if whole && v.HasNotes {
			v.Notes = h.notes(ctx, *c)
		}
	case tabWhy:
		if whole {
			v.Why = h.why(ctx, *c)
		}
	case tabLog:
		if whole {
			v.Log = h.log(ctx, r, rec)
		}
	case tabVersions:
		events, err := h.historyOf(ctx, h.ActorOf(r), c)
		if err != nil {
			return err
		}
		v.Versions, v.Scan = versionLineOf(h.Languages.Of(r), events, c, v.Changes.Tried, h.Now()), h.scanOf(ctx, r, c)
	case tabActivity:
		events, err := h.historyOf(ctx, h.ActorOf(r), c)
		if err != nil {
			return err
		}
		deliveries, err := h.service.Deliveries(ctx, store.DeliveryFilter{Limit: lookBack})
		if err != nil {
			return err
		}
		v.History, v.Sent = happened(events, c), sentOf(deliveries, c)
	}
	return nil
}
