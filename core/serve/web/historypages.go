package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func (u *UI) showHistory(w http.ResponseWriter, r *http.Request) {
	actor := u.ActorOf(r)
	q, filter, wrong := parseHistory(r.URL.Query(), time.Local)
	filter.Limit = historyPageSize + 1 // one more tells whether there is another page
	found, err := u.Service.History(r.Context(), actor, filter)
	if err != nil {
		u.InternalError(w, r, "read the history", err)
		return
	}
	var watchers []string
	for _, c := range u.Service.Components(actor, kind.Watcher) {
		watchers = append(watchers, c.Name)
	}
	deliveries, err := u.deliveriesOf(r.Context(), found)
	if err != nil {
		u.InternalError(w, r, "read the deliveries", err)
		return
	}
	p := newHistoryPage(q, wrong, found, deliveries, watchers, u.triggerIDs(actor))
	p.Empty = u.emptyOf(r.Context(), actor, len(p.Rows))
	u.Live(w, r, "history", page.Page{Title: "History", Nav: "history", Live: page.FollowsHistory, Content: p})
}

// maxIDSpread is how far the ids of the deliveries on one page may lie apart for all to be looked up.
const maxIDSpread = 500

// deliveriesOf returns the deliveries that events are about, by id. Some may be missing.
func (u *UI) deliveriesOf(ctx context.Context, events []event.Event) (map[int64]delivery.Delivery, error) {
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
	found, err := u.Service.Deliveries(ctx, store.DeliveryFilter{
		Before: last + 1, Limit: int(min(last-first+1, maxIDSpread)),
	})
	byID := make(map[int64]delivery.Delivery, len(found))
	for _, d := range found {
		byID[d.ID] = d
	}
	return byID, err
}

func (u *UI) triggerIDs(actor auth.Actor) (ids []string) {
	for _, c := range u.Service.Components(actor, kind.Trigger) {
		ids = append(ids, c.ID)
	}
	return ids
}

func (u *UI) showDeliveries(w http.ResponseWriter, r *http.Request) {
	q, wrong := parseDeliveries(r.URL.Query())
	found, err := u.Service.Deliveries(r.Context(), store.DeliveryFilter{
		State: q.State, Trigger: q.Trigger, Before: q.before, Limit: historyPageSize + 1,
	})
	if err != nil {
		u.InternalError(w, r, "read the deliveries", err)
		return
	}
	p := newDeliveriesPage(q, wrong, found, u.triggerIDs(u.ActorOf(r)))
	addSteps(p.Rows, u.Service.DeliveryProgress())
	p.Empty = u.emptyOf(r.Context(), u.ActorOf(r), len(p.Rows))
	p.Retried, _ = strconv.ParseInt(r.URL.Query().Get("retried"), 10, 64)
	u.Live(w, r, "deliveries", page.Page{Title: "Deliveries", Nav: "history", Live: page.FollowsDeliveries, Content: p})
}

// retryDelivery has a failed delivery sent again.
func (u *UI) retryDelivery(w http.ResponseWriter, r *http.Request) {
	if !u.Form(w, r) {
		return
	}
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		err = service.ErrNotFound
	} else {
		err = u.Service.RetryDelivery(r.Context(), u.ActorOf(r), id)
	}
	switch {
	case errors.Is(err, service.ErrNotFound):
		u.RenderError(w, r, http.StatusNotFound, page.Problem{
			Title: "There is no such delivery", Detail: "Deliveries that ended are forgotten after a while.",
			Back: "To the deliveries", BackTo: "/deliveries",
		})
	case errors.Is(err, service.ErrNotFailed):
		u.RenderError(w, r, http.StatusConflict, page.Problem{
			Title:  "There is nothing to retry",
			Detail: "Only a failed delivery can be retried. This one was sent, or is waiting already; perhaps somebody else asked for it.",
			Back:   "To the deliveries", BackTo: "/deliveries",
		})
	case err != nil:
		u.InternalError(w, r, "retry a delivery", err)
	default:
		http.Redirect(w, r, u.Path("/deliveries?retried="+strconv.FormatInt(id, 10)), http.StatusSeeOther)
	}
}

// historyCSV responds with what the filters of the page select, up to csvRows rows.
func (u *UI) historyCSV(w http.ResponseWriter, r *http.Request) {
	_, filter, _ := parseHistory(r.URL.Query(), time.Local)
	actor := u.ActorOf(r)
	filter.Before = 0
	var t *table
	u.download(w, r, "history", func(ctx context.Context, before int64, limit int) (last int64, n int, err error) {
		filter.Before, filter.Limit = before, limit
		found, err := u.Service.History(ctx, actor, filter)
		if err != nil {
			return 0, 0, err
		}
		if t == nil {
			begun := eventTable(w)
			t = &begun
		}
		for _, e := range found {
			t.event(e)
			last = e.ID
		}
		return last, len(found), t.end()
	})
}

func (u *UI) deliveriesCSV(w http.ResponseWriter, r *http.Request) {
	q, _ := parseDeliveries(r.URL.Query())
	var t *table
	u.download(w, r, "deliveries", func(ctx context.Context, before int64, limit int) (last int64, n int, err error) {
		found, err := u.Service.Deliveries(ctx, store.DeliveryFilter{
			State: q.State, Trigger: q.Trigger, Before: before, Limit: limit,
		})
		if err != nil {
			return 0, 0, err
		}
		if t == nil {
			begun := deliveryTable(w)
			t = &begun
		}
		for _, d := range found {
			t.delivery(d)
			last = d.ID
		}
		return last, len(found), t.end()
	})
}

// csvPage is how many rows of a download are in memory at a time.
const csvPage = 200

// download responds with a CSV file, page by page. An error of the first page
// is a page that says so; a later one can only cut the connection.
func (u *UI) download(
	w http.ResponseWriter, r *http.Request, name string,
	next func(ctx context.Context, before int64, limit int) (last int64, n int, err error),
) {
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="dogwatch-`+name+`-`+u.Now().UTC().Format(time.DateOnly)+`.csv"`)
	var before int64
	for rows := 0; rows < csvRows; {
		last, n, err := next(r.Context(), before, csvPage)
		if err != nil && before == 0 && r.Context().Err() == nil {
			h.Del("Content-Disposition")
			u.InternalError(w, r, "read the "+name, err)
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the client must not take what it got for the whole
		}
		if n < csvPage {
			return
		}
		before, rows = last, rows+n
	}
}
