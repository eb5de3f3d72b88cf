package dispatch

import (
	"slices"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
)

// planBatch plans one message with all updates that a check of a whole watcher found; none when there is none.
func (p updatesFound) planBatch(t Trigger, e event.Event) []delivery.Delivery {
	batch := p.known.accepted(t, e, p.known.offered(t, e))
	if len(batch) == 0 {
		return nil
	}
	return []delivery.Delivery{
		newDelivery(t, e, "batch/"+e.Check.Watcher, batchFingerprint(t, e, batch), batch...),
	}
}

// batchFingerprint is the fingerprint of a batch. Without "once" each check has its own.
func batchFingerprint(t Trigger, e event.Event, batch []sdk.Container) string {
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

// offered returns the ids of the containers with an update of which a check notifies a
// trigger in batch mode.
func (f findings) offered(t Trigger, e event.Event) []string {
	if !t.Once {
		return e.Check.Updates
	}
	ids := slices.Clone(e.Check.Found)
	for _, id := range e.Check.Updates {
		if len(f.levels[e.Run+" "+id]) > 0 && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
