package dispatch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// newOutageDelivery returns the delivery for an event about a watcher's engine. For
// one outage there is one of each type, however often it is planned.
func newOutageDelivery(t Trigger, e event.Event) delivery.Delivery {
	about := trigger.Event{
		Type: string(e.Type), Watcher: e.Subject, Error: e.Watcher.Error, Since: sdk.TimeOf(e.Watcher.Since),
		At: sdk.TimeOf(e.At),
	}
	return newEventDelivery(t, e, "watcher/"+e.Subject, hash(string(e.Type), about.Since.String()), about)
}

// newEventDelivery returns a delivery with an event as its payload. There is one for each fingerprint.
func newEventDelivery(t Trigger, e event.Event, subject, fingerprint string, about trigger.Event) delivery.Delivery {
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

// attemptEvent is attempt for a message about an event; wrong is why its payload cannot be read.
func (d *Dispatcher) attemptEvent(
	ctx context.Context, t Trigger, due delivery.Delivery, run *run, about *trigger.Event, wrong error,
) delivery.Outcome {
	switch {
	case wrong != nil:
		return delivery.Outcome{State: delivery.Failed, Error: fmt.Sprintf("read what was to be sent: %v", wrong)}
	case ctx.Err() != nil:
		return delivery.Outcome{State: delivery.Pending, Error: "dogwatch stopped before the call"}
	}
	about.Error, about.Log = d.opt.Redact(about.Error), d.opt.Redact(about.Log)
	req := trigger.Request{Delivery: idempotencyKey(due), Event: about, Batch: true}
	req.Title, req.Body = eventMessage(*about)
	if about.Type == trigger.SummaryDue {
		var p summaryPayload
		if err := json.Unmarshal(due.Payload, &p); err != nil {
			return delivery.Outcome{State: delivery.Failed, Error: fmt.Sprintf("read what was to be sent: %v", err)}
		}
		req.Title, req.Body = d.opt.Redact(p.Title), d.opt.Redact(p.Body)
	}
	return d.outcome(ctx, t, due, t.Runner.Run(ctx, req.WithReport(run.report)))
}

// eventMessage returns title and body of a message about an event.
func eventMessage(e trigger.Event) (title, body string) {
	switch {
	case e.Operation != "":
		return endMessage(e)
	case e.Type == trigger.PluginOutdated:
		return outdatedMessage(e)
	}
	return outageMessage(e)
}

// outageMessage returns title and body of a message about an outage.
func outageMessage(e trigger.Event) (title, body string) {
	since := e.Since.UTC().Format("2006-01-02 15:04 UTC")
	if e.Type == trigger.WatcherRecovered {
		lasted := e.At.Sub(e.Since.Time).Round(time.Second)
		return fmt.Sprintf("Watcher %s reaches its engine again", e.Watcher),
			fmt.Sprintf("It could not since %s, for %s. Its containers are checked again.", since, lasted)
	}
	return fmt.Sprintf("Watcher %s cannot reach its engine", e.Watcher),
		fmt.Sprintf("%s\nSince %s. Until it answers, its containers are not checked.",
			cmp.Or(e.Error, "It does not answer."), since)
}
