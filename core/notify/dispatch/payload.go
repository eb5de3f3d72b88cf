package dispatch

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// newEventDelivery returns a delivery with an event, or a summary, as its payload. There is one for each fingerprint.
func newEventDelivery[T trigger.Event | summaryPayload](
	t Trigger, e event.Event, subject, fingerprint string, about T,
) delivery.Delivery {
	payload, err := json.Marshal(about)
	if err != nil {
		panic(fmt.Sprintf("encode an event: %v", err)) // plain data; cannot fail
	}
	return delivery.Delivery{
		Trigger: t.ID, Subject: subject, Fingerprint: fingerprint, Event: e.ID, Batch: true, Payload: payload,
	}
}

// eventOf returns the event that is the payload of a delivery, or nil when its
// payload is a list of containers.
func eventOf(d delivery.Delivery) (*trigger.Event, error) {
	if !bytes.HasPrefix(d.Payload, []byte("{")) {
		return nil, nil
	}
	about := new(trigger.Event)
	err := json.Unmarshal(d.Payload, about)
	return about, err
}

// newDelivery returns a delivery with containers as its payload.
func newDelivery(t Trigger, e event.Event, subject, fingerprint string, containers ...sdk.Container) delivery.Delivery {
	d := delivery.Delivery{
		Trigger: t.ID, Subject: subject, Fingerprint: fingerprint, Event: e.ID, Run: e.Run, Batch: t.Batch,
	}
	for _, c := range containers {
		d.Containers = append(d.Containers, c.ID)
	}
	payload, err := json.Marshal(containers)
	if err != nil {
		panic(fmt.Sprintf("encode containers: %v", err)) // plain data; cannot fail
	}
	d.Payload = payload
	return d
}

// summaryPayload is the payload of the delivery of a summary: its texts are those of when it was due.
type summaryPayload struct {
	trigger.Event
	Title string `json:"title"`
	Body  string `json:"body"`
}
