package history

import (
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// DeliveryRow is a delivery in words.
type DeliveryRow struct {
	delivery.Delivery
	State words.State
	// About is what it is about, Path the page of that.
	About phrase.Phrase
	Path  string
	// Sentence is what became of it; Retry whether a person may have it sent again.
	Sentence phrase.Phrase
	Retry    bool
	// Sooner is whether a person may have it sent before its next attempt.
	Sooner bool
	// Because is why it was not sent after all; nil for any other.
	Because phrase.Phrase
	// Own is whether the page is that of its trigger.
	Own bool
}

func newDeliveryRow(d delivery.Delivery, names page.Names) DeliveryRow {
	row := DeliveryRow{
		Delivery: d, About: words.Delivery(d, names.Of(d.Subject, "")), Path: deliveryPath(d),
		Retry: d.State == delivery.Failed,
	}
	row.Error = words.Undelivered(d.Trigger, d.Error)
	tries := phrase.Count(d.Attempts, "attempt")
	switch d.State {
	case delivery.Pending:
		row.State, row.Sentence = words.State{Word: phrase.New("Waiting"), Class: "muted"}, phrase.New("to be sent")
		if d.Attempts > 0 {
			row.Sooner = true
			row.State = words.State{Word: phrase.New("Retrying"), Class: "minor"}
			row.Sentence = phrase.New("%s failed, to be tried again", tries)
		}
	case delivery.Sending:
		row.State, row.Sentence = words.State{Word: phrase.New("Sending"), Class: "muted"}, phrase.New("on its way")
	case delivery.Sent:
		row.State, row.Sentence = words.State{Word: phrase.New("Sent"), Class: "ok"}, phrase.Quote(d.Title)
		if d.Attempts > 1 {
			row.Sentence = phrase.Join(", ", row.Sentence, phrase.New("at attempt %d", d.Attempts))
		}
	case delivery.Failed:
		row.State, row.Sentence = words.State{Word: phrase.New("Failed"), Class: "failed"}, phrase.New("given up after %s", tries)
	default:
		row.State, row.Sentence = words.State{Word: phrase.New("Skipped"), Class: "muted"}, phrase.New("not sent")
		row.Because, row.Error = words.NotSent(d.Error), ""
	}
	if d.Title != "" && d.State != delivery.Sent {
		row.Sentence = phrase.Join(" · ", phrase.Quote(d.Title), row.Sentence)
	}
	return row
}

// DeliveryRows are deliveries in words.
func DeliveryRows(all []delivery.Delivery, names page.Names) []DeliveryRow {
	rows := make([]DeliveryRow, len(all))
	for i, d := range all {
		rows[i] = newDeliveryRow(d, names)
	}
	return rows
}
