package history

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

func TestDeliveryPath(t *testing.T) {
	for want, d := range map[string]delivery.Delivery{
		"/containers/local/nginx":     {Subject: "local/nginx"},
		"/containers/local/a%2Fb":     {Subject: "local/a/b"},
		"/containers?watcher=my+host": {Subject: "batch/my host", Batch: true},
	} {
		if got := deliveryPath(d); got != want {
			t.Errorf("%s leads to %s, want %s", d.Subject, got, want)
		}
	}
}

func TestSentDeliveriesShowTheirMessage(t *testing.T) {
	for attempts, want := range map[int]string{1: "web can be updated", 3: "web can be updated, at attempt 3"} {
		d := delivery.Delivery{State: delivery.Sent, Title: "web can be updated", Attempts: attempts}
		if got := newDeliveryRow(d, page.Names{}).Sentence.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestChoicesLeadToTheirContainer(t *testing.T) {
	if got := subjectPath(chose(1, "a/b")); got != "/containers/local/a%2Fb" {
		t.Errorf("a choice leads to %s", got)
	}
}

func TestEventsOfOperationsLeadToThem(t *testing.T) {
	if got := subjectPath(event.Event{
		Type: event.OperationFailed, Subject: "local/web", Payload: event.Payload{Operation: &event.Operation{ID: "op1"}},
	}); got != "/operations/op1" {
		t.Errorf("an event leads to %s", got)
	}
}
