package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
)

// deliveryStates are the choices of the filter, in the order of what needs a person.
var deliveryStates = []string{delivery.Failed, delivery.Pending, delivery.Sending, delivery.Sent, delivery.Skipped}

// deliveriesPage is a page of what is pending for triggers, was sent and was given up.
type deliveriesPage struct {
	State, Trigger string
	States         []string
	Triggers       []string
	Wrong          []string
	Rows           []deliveryRow
	Older          string
	Newest         string
	CSV            string
	Filtered       bool
	Empty          *emptyView
	// Retried is the id of the delivery that was just made pending again.
	Retried int64
}

type deliveryQuery struct {
	State, Trigger string
	before         int64
}

func parseDeliveries(values url.Values) (q deliveryQuery, wrong []string) {
	q = deliveryQuery{State: values.Get("state"), Trigger: strings.TrimSpace(values.Get("trigger"))}
	if q.State != "" && !slices.Contains(deliveryStates, q.State) {
		wrong = append(wrong, fmt.Sprintf("There is no state %q: all deliveries are shown.", q.State))
		q.State = ""
	}
	q.before, _ = beforeOf(values)
	return q, wrong
}

func (q deliveryQuery) values(before int64) string {
	v := url.Values{}
	if q.State != "" {
		v.Set("state", q.State)
	}
	if q.Trigger != "" {
		v.Set("trigger", q.Trigger)
	}
	if before > 0 {
		v.Set("before", strconv.FormatInt(before, 10))
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

func newDeliveriesPage(q deliveryQuery, wrong []string, found []delivery.Delivery, triggers []string) deliveriesPage {
	p := deliveriesPage{
		State: q.State, Trigger: q.Trigger, States: deliveryStates, Triggers: withOwn(triggers, q.Trigger),
		Wrong: wrong, CSV: q.values(0),
	}
	if len(found) > historyPageSize {
		found = found[:historyPageSize]
		p.Older = q.values(found[historyPageSize-1].ID)
	}
	if q.before > 0 {
		p.Newest = "/deliveries" + q.values(0)
	}
	p.Filtered = q.values(0) != ""
	p.Rows = deliveryRows(found)
	return p
}

// deliveryRow is a delivery in words.
type deliveryRow struct {
	delivery.Delivery
	State words.State
	// About is what it is about, Path the page of that.
	About, Path string
	// Said is what became of it; Retry whether a person may have it sent again.
	Said  string
	Retry bool
}

func newDeliveryRow(d delivery.Delivery) deliveryRow {
	row := deliveryRow{Delivery: d, About: words.Delivery(d), Path: deliveryPath(d), Retry: d.State == delivery.Failed}
	tries := words.Plural(d.Attempts, "attempt")
	switch d.State {
	case delivery.Pending:
		row.State, row.Said = words.State{Word: "Waiting", Class: "muted"}, "to be sent"
		if d.Attempts > 0 {
			row.Said = "tried " + words.Times(d.Attempts) + ", to be tried again"
		}
	case delivery.Sending:
		row.State, row.Said = words.State{Word: "Sending", Class: "muted"}, "on its way"
	case delivery.Sent:
		row.State, row.Said = words.State{Word: "Sent", Class: "ok"}, "sent"
		if d.Attempts > 1 {
			row.Said = "sent at attempt " + fmt.Sprint(d.Attempts)
		}
	case delivery.Failed:
		row.State, row.Said = words.State{Word: "Failed", Class: "failed"}, "given up after "+tries
	default:
		row.State, row.Said = words.State{Word: "Skipped", Class: "muted"}, "not worth sending any more"
	}
	return row
}

func deliveryRows(all []delivery.Delivery) []deliveryRow {
	rows := make([]deliveryRow, len(all))
	for i, d := range all {
		rows[i] = newDeliveryRow(d)
	}
	return rows
}
