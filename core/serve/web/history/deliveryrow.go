package history

import (
	"fmt"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// DeliveryRow is a delivery in words.
type DeliveryRow struct {
	delivery.Delivery
	State words.State
	// About is what it is about, Path the page of that.
	About, Path string
	// Sentence is what became of it; Retry whether a person may have it sent again.
	Sentence string
	Retry    bool
}

func newDeliveryRow(d delivery.Delivery) DeliveryRow {
	row := DeliveryRow{Delivery: d, About: words.Delivery(d), Path: deliveryPath(d), Retry: d.State == delivery.Failed}
	tries := words.Plural(d.Attempts, "attempt")
	switch d.State {
	case delivery.Pending:
		row.State, row.Sentence = words.State{Word: "Waiting", Class: "muted"}, "to be sent"
		if d.Attempts > 0 {
			row.Sentence = "tried " + words.Times(d.Attempts) + ", to be tried again"
		}
	case delivery.Sending:
		row.State, row.Sentence = words.State{Word: "Sending", Class: "muted"}, "on its way"
	case delivery.Sent:
		row.State, row.Sentence = words.State{Word: "Sent", Class: "ok"}, "sent"
		if d.Attempts > 1 {
			row.Sentence = "sent at attempt " + fmt.Sprint(d.Attempts)
		}
	case delivery.Failed:
		row.State, row.Sentence = words.State{Word: "Failed", Class: "failed"}, "given up after "+tries
	default:
		row.State, row.Sentence = words.State{Word: "Skipped", Class: "muted"}, "not worth sending any more"
	}
	return row
}

func DeliveryRows(all []delivery.Delivery) []DeliveryRow {
	rows := make([]DeliveryRow, len(all))
	for i, d := range all {
		rows[i] = newDeliveryRow(d)
	}
	return rows
}
