package dispatch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// outage returns the delivery for an event about a watcher's engine. For one
// outage there is one of each type, however often it is planned.
func outage(t Trigger, e event.Event) delivery.Delivery {
	about := trigger.Event{Type: string(e.Type), Watcher: e.Subject, Error: e.Watcher.Error, Since: sdk.TimeOf(e.Watcher.Since), At: sdk.TimeOf(e.At)}
	payload, err := json.Marshal(about)
	if err != nil {
		panic(fmt.Sprintf("encode an event: %v", err)) // plain data; cannot fail
	}
	return delivery.Delivery{
		Trigger: t.ID, Subject: "watcher/" + e.Subject, Fingerprint: hash(string(e.Type), about.Since.String()),
		Event: e.ID, Batch: true, Payload: payload,
	}
}

// eventOf returns the event that a delivery tells of, or nil when it tells of
// containers, of which the payload is a list.
func eventOf(owed delivery.Delivery) (*trigger.Event, error) {
	if !bytes.HasPrefix(owed.Payload, []byte("{")) {
		return nil, nil
	}
	about := new(trigger.Event)
	err := json.Unmarshal(owed.Payload, about)
	return about, err
}

// eventMessage is what is said of an event.
func eventMessage(e trigger.Event) (title, body string) {
	since := e.Since.UTC().Format("2006-01-02 15:04 UTC")
	if e.Type == trigger.WatcherRecovered {
		lasted := e.At.Sub(e.Since.Time).Round(time.Second)
		return fmt.Sprintf("Watcher %s reaches its engine again", e.Watcher),
			fmt.Sprintf("It could not since %s, for %s. Its containers are checked again.", since, lasted)
	}
	return fmt.Sprintf("Watcher %s cannot reach its engine", e.Watcher),
		fmt.Sprintf("%s\nSince %s. Until it answers, its containers are not checked.", cmp.Or(e.Error, "It does not answer."), since)
}
