package history

import (
	"context"
	"net/http"
	"time"

	"github.com/dogwatch/dogwatch/core/store"
)

// csvRows is how many rows a download has at most.
const csvRows = 10000

// historyCSV responds with what the filters of the page select, up to csvRows rows.
func (h *Handler) historyCSV(w http.ResponseWriter, r *http.Request) {
	_, filter, _ := parseHistory(r.URL.Query(), time.Local)
	actor := h.ActorOf(r)
	filter.Before = 0
	var t *table
	h.download(w, r, "history", func(ctx context.Context, before int64, limit int) (last int64, n int, err error) {
		filter.Before, filter.Limit = before, limit
		found, err := h.service.History(ctx, actor, filter)
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

func (h *Handler) deliveriesCSV(w http.ResponseWriter, r *http.Request) {
	q, _ := parseDeliveries(r.URL.Query())
	var t *table
	h.download(w, r, "deliveries", func(ctx context.Context, before int64, limit int) (last int64, n int, err error) {
		found, err := h.service.Deliveries(ctx, store.DeliveryFilter{
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
func (h *Handler) download(
	w http.ResponseWriter, r *http.Request, name string,
	next func(ctx context.Context, before int64, limit int) (last int64, n int, err error),
) {
	header := w.Header()
	header.Set("Content-Type", "text/csv; charset=utf-8")
	header.Set("Content-Disposition", `attachment; filename="dogwatch-`+name+`-`+h.Now().UTC().Format(time.DateOnly)+`.csv"`)
	var before int64
	for rows := 0; rows < csvRows; {
		last, n, err := next(r.Context(), before, csvPage)
		if err != nil && before == 0 && r.Context().Err() == nil {
			header.Del("Content-Disposition")
			h.InternalError(w, r, "read the "+name, err)
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
