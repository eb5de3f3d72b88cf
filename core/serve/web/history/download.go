package history

import (
	"encoding/csv"
	"net/http"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
)

const (
	// csvRows is how many rows a download has at most.
	csvRows = 10000
	// csvPage is how many of them are in memory at a time.
	csvPage = 200
)

// historyCSV responds with what the filters of the page select, up to csvRows rows.
func (h *Handler) historyCSV(w http.ResponseWriter, r *http.Request) {
	_, filter, _ := parseHistory(r.URL.Query(), time.Local)
	filter.Named = h.Names().Find(filter.Text)
	actor := h.ActorOf(r)
	download(h, w, r, "history", eventColumns, eventCells, func(before int64) ([]event.Event, error) {
		filter.Before, filter.Limit = before, csvPage
		return h.service.History(r.Context(), actor, filter)
	})
}

func (h *Handler) deliveriesCSV(w http.ResponseWriter, r *http.Request) {
	q, _ := parseDeliveries(r.URL.Query())
	download(h, w, r, "deliveries", deliveryColumns, deliveryCells, func(before int64) ([]delivery.Delivery, error) {
		return h.service.Deliveries(r.Context(), q.filter(before, csvPage))
	})
}

// download responds with a CSV file (RFC 4180) whose cells no spreadsheet takes for a formula, page by page; find
// returns up to csvPage rows from an id on, and cells what is written of one, and its id. An error of the first page is
// a page that says so; a later one can only cut the connection.
func download[T any](
	h *Handler, w http.ResponseWriter, r *http.Request, name string, columns []string, cells func(T) ([]string, int64),
	find func(before int64) ([]T, error),
) {
	header, file := w.Header(), csv.NewWriter(w)
	header.Set("Content-Type", "text/csv; charset=utf-8")
	header.Set("Content-Disposition", `attachment; filename="dogwatch-`+name+`-`+h.Now().UTC().Format(time.DateOnly)+`.csv"`)
	file.UseCRLF = true
	_ = file.Write(columns) // it keeps its error
	var before int64
	for rows := 0; rows < csvRows; rows += csvPage {
		found, err := find(before)
		if err != nil && before == 0 && r.Context().Err() == nil {
			header.Del("Content-Disposition")
			h.InternalError(w, r, "read the "+name, err)
			return
		}
		for _, one := range found {
			row, id := cells(one)
			for i := range row {
				row[i] = inert(row[i])
			}
			_, before = file.Write(row), id
		}
		file.Flush()
		if err != nil || file.Error() != nil {
			panic(http.ErrAbortHandler) // the client must not take what it got for the whole
		}
		if len(found) < csvPage {
			return
		}
	}
}
