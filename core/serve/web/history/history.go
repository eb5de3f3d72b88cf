package history

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
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
	// Folded is the query of the page with runs as one row, where this one has each event.
	Folded string
	Empty  *guide.Empty
}

// Active is how many filters are set.
func (p historyPage) Active() (n int) {
	q := p.Query
	for _, set := range []string{q.Topic, q.Watcher, q.Trigger, q.Text, q.Since, q.Until} {
		if set != "" {
			n++
		}
	}
	return n
}

// newHistoryPage makes a page of what was found; more is whether there is more than that, and deliveries are those that
// events are about, by id.
func newHistoryPage(
	q historyQuery, wrong []phrase.Phrase, found []run, more bool, deliveries map[int64]delivery.Delivery,
	watchers, triggers []string, names page.Names, now time.Time,
) historyPage {
	p := historyPage{
		Query: q, Topics: topics, Watchers: withOwn(watchers, q.Watcher), Triggers: withOwn(triggers, q.Trigger),
	}
	oldest := func(r run) string { return strconv.FormatInt(r.oldest().ID, 10) }
	found, p.List = page.ListOf("/history", found, q.before, oldest, q.values)
	if more && p.List.Older == "" {
		p.List.Older = q.values(oldest(found[len(found)-1]))
	}
	p.Wrong = wrong
	each, folded := q, q
	each.Each, folded.Each = "1", ""
	if q.Each != "" {
		p.Folded = folded.values("")
	}
	for _, r := range found {
		row := newEventRow(r.newest(), deliveries, names)
		if len(r.events) > 1 {
			row = r.row(row, func(t time.Time) phrase.Phrase { return words.Clock(t, now) })
			row.Each = each.values(strconv.FormatInt(r.newest().ID+1, 10))
		}
		p.Rows = append(p.Rows, row)
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
	names := h.Names()
	filter.Named = names.Find(filter.Text)
	found, more, err := h.runs(r.Context(), actor, q, filter)
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
	p := newHistoryPage(q, wrong, found, more, deliveries, watchers, h.triggerIDs(actor), names, h.Now())
	p.Empty = h.guide.Empty(r.Context(), actor, len(p.Rows))
	h.Live(w, r, "history", page.Page{Title: phrase.New("History"), Nav: "history", Live: page.FollowsHistory, Content: p})
}

// maxFolded is the most events that are read for one page.
const maxFolded = 1000

// runs returns the runs of a page, one more than fits where there are as many, and whether there are more events than
// those.
func (h *Handler) runs(ctx context.Context, actor auth.Actor, q historyQuery, f event.Filter) ([]run, bool, error) {
	var events []event.Event
	for f.Limit = page.Size + 1; ; f.Limit = maxFolded / 4 {
		found, err := h.service.History(ctx, actor, f)
		if err != nil {
			return nil, false, err
		}
		events = append(events, found...)
		more := len(found) == f.Limit
		runs := fold(events)
		if q.Each != "" {
			runs = single(events)
		}
		if !more || len(runs) > page.Size || len(events) >= maxFolded {
			return runs, more, nil
		}
		f.Before = events[len(events)-1].ID
	}
}

// maxIDSpread is how far the ids of the deliveries on one page may lie apart for all to be looked up.
const maxIDSpread = 500

// deliveriesOf returns the deliveries that events are about, by id. Some may be missing.
func (h *Handler) deliveriesOf(ctx context.Context, runs []run) (map[int64]delivery.Delivery, error) {
	var first, last int64
	for _, r := range runs {
		if e := r.newest(); e.Delivery != nil && e.Delivery.ID > 0 {
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
