package dispatch

import (
	"encoding/json"
	"fmt"

	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// plan returns the deliveries that follow from events. A trigger in simple mode
// gets one when an update is found, one in batch mode when the check of the whole
// watcher ends; without "once" both get one at the end of every check. Updates
// that a check of one container found are in the batch of the next whole one.
func plan(events []event.Event, triggers []Trigger, now Containers) []delivery.Delivery {
	var pending []delivery.Delivery
	known := findings{found: map[string]sdk.Container{}, now: now}
	for _, e := range events {
		if e.Type == event.UpdateFound && e.Container != nil {
			known.found[e.Run+" "+e.Container.ID] = *e.Container
		}
		for _, t := range triggers {
			if t.Outages && e.Watcher != nil && (e.Type == event.WatcherFailed || e.Type == event.WatcherRecovered) {
				pending = append(pending, newOutageDelivery(t, e))
			}
			if notifiesEnd(t, e, now) {
				pending = append(pending, newEndDelivery(t, e))
			}
			if t.Auto {
				pending = append(pending, planOne(e, t, known)...)
			}
		}
	}
	return pending
}

// planOne returns the deliveries of one trigger that follow from one event.
func planOne(e event.Event, t Trigger, known findings) (pending []delivery.Delivery) {
	switch {
	case e.Type == event.UpdateFound && e.Container != nil && t.Once && !t.Batch:
		if c := *e.Container; accepts(t, c) {
			pending = append(pending, newDelivery(t, e, event.Subject(c), fingerprint(c), c))
		}
	case e.Type == event.CheckFinished && e.Check != nil && t.Batch && !e.Check.Single:
		if batch := known.accepted(t, e, offered(t, *e.Check)); len(batch) > 0 {
			pending = append(pending, newDelivery(t, e, "batch/"+e.Check.Watcher, batchFingerprint(t, e, batch), batch...))
		}
	case e.Type == event.CheckFinished && e.Check != nil && !t.Batch && !t.Once:
		for _, c := range known.accepted(t, e, e.Check.Updates) {
			pending = append(pending, newDelivery(t, e, event.Subject(c), fingerprint(c)+" "+e.Run, c))
		}
	}
	return pending
}

// offered returns the ids of the containers with an update of which a check notifies a trigger.
func offered(t Trigger, check event.Check) []string {
	if t.Once {
		return check.Found
	}
	return check.Updates
}

// findings are the containers that a check reports: as it found them, for they
// may have been recreated since, or as they are now.
type findings struct {
	found map[string]sdk.Container // by run and id
	now   Containers
}

// accepted returns those of the containers with an update that a trigger accepts.
func (f findings) accepted(t Trigger, e event.Event, ids []string) []sdk.Container {
	var list []sdk.Container
	for _, id := range ids {
		c, known := f.found[e.Run+" "+id]
		if !known {
			c, known = f.now.ByID(id)
		}
		if known && c.UpdateAvailable && accepts(t, c) {
			list = append(list, c)
		}
	}
	return list
}

// newDelivery returns a delivery with containers as its payload.
func newDelivery(t Trigger, e event.Event, subject, fingerprint string, containers ...sdk.Container) delivery.Delivery {
	d := delivery.Delivery{Trigger: t.ID, Subject: subject, Fingerprint: fingerprint, Event: e.ID, Run: e.Run, Batch: t.Batch}
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
