package history

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// historyPage is a page of the event log.
type historyPage struct {
	page.List
	Query    historyQuery
	Topics   []topic
	Watchers []string
	Triggers []string
	Rows     []eventRow
	Empty    *guide.Empty
}

// newHistoryPage makes a page of what was found; deliveries are those that events are about, by id.
func newHistoryPage(
	q historyQuery, wrong []string, found []event.Event, deliveries map[int64]delivery.Delivery,
	watchers, triggers []string,
) historyPage {
	p := historyPage{
		Query: q, Topics: topics, Watchers: withOwn(watchers, q.Watcher), Triggers: withOwn(triggers, q.Trigger),
	}
	found, p.List = page.ListOf("/history", found, q.before,
		func(e event.Event) string { return strconv.FormatInt(e.ID, 10) }, q.values)
	p.Wrong = wrong
	for _, e := range found {
		p.Rows = append(p.Rows, newEventRow(e, deliveries))
	}
	return p
}

// withOwn adds what the URL selects to the choices: it may be gone since.
func withOwn(choices []string, own string) []string {
	if own != "" && !slices.Contains(choices, own) {
		return append(slices.Clone(choices), own)
	}
	return choices
}

func (h *Handler) show(w http.ResponseWriter, r *http.Request) {
	actor := h.ActorOf(r)
	q, filter, wrong := parseHistory(r.URL.Query(), time.Local)
	filter.Limit = page.Size + 1 // one more tells whether there is another page
	found, err := h.service.History(r.Context(), actor, filter)
	if err != nil {
		h.InternalError(w, r, "read the history", err)
		return
	}
	var watchers []string
	for _, c := range h.service.Components(actor, kind.Watcher) {
		watchers = append(watchers, c.Name)
	}
	deliveries, err := h.deliveriesOf(r.Context(), found)
	if err != nil {
		h.InternalError(w, r, "read the deliveries", err)
		return
	}
	p := newHistoryPage(q, wrong, found, deliveries, watchers, h.triggerIDs(actor))
	p.Empty = h.guide.Empty(r.Context(), actor, len(p.Rows))
	h.Live(w, r, "history", page.Page{Title: "History", Nav: "history", Live: page.FollowsHistory, Content: p})
}

// maxIDSpread is how far the ids of the deliveries on one page may lie apart for all to be looked up.
const maxIDSpread = 500

// deliveriesOf returns the deliveries that events are about, by id. Some may be missing.
func (h *Handler) deliveriesOf(ctx context.Context, events []event.Event) (map[int64]delivery.Delivery, error) {
	var first, last int64
	for _, e := range events {
		if e.Delivery != nil && e.Delivery.ID > 0 {
			last = max(last, e.Delivery.ID)
			if first == 0 || e.Delivery.ID < first {
				first = e.Delivery.ID
			}
		}
	}
	if last == 0 {
		return nil, nil
	}
	found, err := h.service.Deliveries(ctx, store.DeliveryFilter{
		Before: last + 1, Limit: int(min(last-first+1, maxIDSpread)),
	})
	byID := make(map[int64]delivery.Delivery, len(found))
	for _, d := range found {
		byID[d.ID] = d
	}
	return byID, err
}

func (h *Handler) triggerIDs(actor auth.Actor) (ids []string) {
	for _, c := range h.service.Components(actor, kind.Trigger) {
		ids = append(ids, c.ID)
	}
	return ids
}
