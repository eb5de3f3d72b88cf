package dispatch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/delivery"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// plan says what events mean for each trigger. A trigger in simple mode is
// owed a delivery when an update is found, one in batch mode when the check of
// the whole watcher ends; without "once" both are owed one at the end of every
// check. Updates that a check of one container found are in the batch of the
// next whole one.
func plan(events []event.Event, triggers []Trigger, now Containers) []delivery.Delivery {
	var owed []delivery.Delivery
	known := findings{found: map[string]sdk.Container{}, now: now}
	for _, e := range events {
		if e.Type == event.UpdateFound && e.Container != nil {
			known.found[e.Run+" "+e.Container.ID] = *e.Container
		}
		for _, t := range triggers {
			if t.Outages && e.Watcher != nil && (e.Type == event.WatcherFailed || e.Type == event.WatcherRecovered) {
				owed = append(owed, outage(t, e))
			}
			if t.Auto {
				owed = append(owed, planOne(e, t, known)...)
			}
		}
	}
	return owed
}

func planOne(e event.Event, t Trigger, known findings) (owed []delivery.Delivery) {
	switch {
	case e.Type == event.UpdateFound && e.Container != nil && t.Once && !t.Batch:
		if c := *e.Container; wants(t, c) {
			owed = append(owed, owe(t, e, event.Subject(c), fingerprint(c), c))
		}
	case e.Type == event.CheckFinished && e.Check != nil && t.Batch && !e.Check.Single:
		if batch := known.wanted(t, e, offered(t, *e.Check)); len(batch) > 0 {
			owed = append(owed, owe(t, e, "batch/"+e.Check.Watcher, batchPrint(t, e, batch), batch...))
		}
	case e.Type == event.CheckFinished && e.Check != nil && !t.Batch && !t.Once:
		for _, c := range known.wanted(t, e, e.Check.Updates) {
			owed = append(owed, owe(t, e, event.Subject(c), fingerprint(c)+" "+e.Run, c))
		}
	}
	return owed
}

// offered returns the ids of the containers that a check has news about for a trigger.
func offered(t Trigger, check event.Check) []string {
	if t.Once {
		return check.Found
	}
	return check.Updates
}

// findings are the containers that a check tells about: as it found them, for
// they may have been recreated since, or as they are now.
type findings struct {
	found map[string]sdk.Container // by run and id
	now   Containers
}

func (f findings) wanted(t Trigger, e event.Event, ids []string) []sdk.Container {
	var list []sdk.Container
	for _, id := range ids {
		c, known := f.found[e.Run+" "+id]
		if !known {
			c, known = f.now.ByID(id)
		}
		if known && c.UpdateAvailable && wants(t, c) {
			list = append(list, c)
		}
	}
	return list
}

func owe(t Trigger, e event.Event, subject, print string, containers ...sdk.Container) delivery.Delivery {
	d := delivery.Delivery{Trigger: t.ID, Subject: subject, Fingerprint: print, Event: e.ID, Run: e.Run, Batch: t.Batch}
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

// fingerprint returns the stored form of an update's key, without the subject,
// which a delivery has beside it. Stores hold fingerprints of every earlier
// version, so what is hashed here must stay as it is: another value sends every
// message again.
func fingerprint(c sdk.Container) string {
	k := update.KeyOf(&c)
	from, to := k.From(), k.To()
	if c.Result == nil {
		k.ToTag, k.ToDigest = "", "" // where versions before the key had no value either
	}
	return hash(k.Kind, from, to, k.ToTag, k.ToDigest)
}

func batchPrint(t Trigger, e event.Event, batch []sdk.Container) string {
	var parts []string
	for _, c := range batch {
		parts = append(parts, event.Subject(c)+" "+fingerprint(c))
	}
	slices.Sort(parts)
	if !t.Once {
		parts = append(parts, e.Run)
	}
	return hash(parts...)
}

func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}
