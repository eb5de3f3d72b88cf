package dispatch

import (
	"slices"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
)

// updatesFound plans what triggers are told of updates. One in simple mode gets a delivery when an update is found,
// one in batch mode when the check of the whole watcher ends; without "once" both get one at the end of every check.
// Updates that a check of one container found are in the batch of the next whole one.
type updatesFound struct {
	known   findings
	waiting backlogs
}

func (p updatesFound) plan(t Trigger, e event.Event) (pending []delivery.Delivery) {
	if !t.Auto || t.Summary != nil || p.waiting.covers(t, e) {
		return nil
	}
	known := p.known
	switch {
	case e.Container != nil && t.Once && !t.Batch && (e.Type == event.UpdateFound || e.Type == event.ContainerChanged):
		pending = append(pending, planChange(e, t, *e.Container)...)
	case e.Type == event.CheckFinished && e.Check != nil && t.Batch && !e.Check.Single:
		pending = append(pending, p.planBatch(t, e)...)
	case e.Type == event.CheckFinished && e.Check != nil && !t.Batch && !t.Once:
		for _, c := range known.accepted(t, e, e.Check.Updates) {
			pending = append(pending, newDelivery(t, e, event.Subject(c), fingerprint(c)+" "+e.Run, c))
		}
	}
	return pending
}

// planChange returns the delivery that follows when the update of a container was found,
// or was decided anew, or when the newest version of a smaller step is another one.
func planChange(e event.Event, t Trigger, c sdk.Container) []delivery.Delivery {
	update, accepted := offeredTo(t, c)
	if !c.UpdateAvailable || !accepted {
		return nil
	}
	d := newDelivery(t, e, event.Subject(update), fingerprint(update), update)
	smaller := update.Result != nil && c.Result != nil && update.Result.Tag != c.Result.Tag
	isNew := !smaller || slices.Contains(e.Levels, update.UpdateKind.SemverDiff)
	switch {
	case e.Type == event.UpdateFound && isNew:
	case e.Aspect == event.Decided:
		d.Again = true
	case e.Aspect == event.Leveled && smaller && isNew:
	default:
		return nil
	}
	return []delivery.Delivery{d}
}

// findings are the containers that a check reports: as it found them, for they
// may have been recreated since, or as they are now.
type findings struct {
	found  map[string]sdk.Container // by run and id
	levels map[string][]string      // by run and id: event.Payload.Levels
	now    Containers
}

func (f findings) note(e event.Event) {
	if e.Container == nil {
		return
	}
	key := e.Run + " " + e.Container.ID
	if e.Type == event.UpdateFound {
		f.found[key] = *e.Container
	}
	if len(e.Levels) > 0 {
		f.levels[key] = e.Levels
	}
}

// accepted returns those of the containers with an update that a trigger accepts. With
// "once" the newest version of a smaller step is among them when it was found by this check.
func (f findings) accepted(t Trigger, e event.Event, ids []string) []sdk.Container {
	var list []sdk.Container
	for _, id := range ids {
		key := e.Run + " " + id
		c, known := f.found[key]
		isNew := known || slices.Contains(e.Check.Found, id)
		if !known {
			c, known = f.now.ByID(id)
		}
		if !known || !c.UpdateAvailable {
			continue
		}
		update, accepted := offeredTo(t, c)
		if accepted && t.Once {
			accepted = isNew
			if update.Result != nil && c.Result != nil && update.Result.Tag != c.Result.Tag {
				accepted = slices.Contains(f.levels[key], update.UpdateKind.SemverDiff)
			}
		}
		if accepted {
			list = append(list, update)
		}
	}
	return list
}
