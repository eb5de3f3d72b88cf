package dispatch

import (
	"context"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// recallPages bounds how far back the log is read for what a check has found.
const (
	recallPages = 50
	olderPage   = 200
)

// recalled are the containers of now, and those that are gone as a check found them.
type recalled struct {
	Containers
	found map[string]sdk.Container // by id
}

func (r recalled) ByID(id string) (sdk.Container, bool) {
	if c, known := r.Containers.ByID(id); known {
		return c, true
	}
	c, known := r.found[id]
	return c, known
}

// recall finds, in the log before some events, the containers that their checks
// report and that are stored no more. A check stores what it finds as it goes,
// so the beginning of a long one was read before its end; containers may have
// been recreated between the two when Dogwatch did not run, and a batch is still
// owed for them.
func (d *Dispatcher) recall(ctx context.Context, events []event.Event) (recalled, error) {
	r := recalled{Containers: d.opt.Containers, found: map[string]sdk.Container{}}
	missing := map[string]bool{}
	for _, e := range events {
		if e.Check == nil || e.Type != event.CheckFinished {
			continue
		}
		for _, id := range e.Check.Found {
			if _, known := r.ByID(id); !known {
				missing[id] = true
			}
		}
	}
	before := events[len(events)-1].ID
	for page := 0; len(missing) > 0 && page < recallPages; page++ {
		older, err := d.opt.Store.EventsBefore(ctx, before, olderPage)
		if err != nil {
			return r, err
		}
		for _, e := range older {
			if before = e.ID; e.Type == event.UpdateFound && e.Container != nil && missing[e.Container.ID] {
				r.found[e.Container.ID] = *e.Container
				delete(missing, e.Container.ID)
			}
		}
		if len(older) < olderPage {
			break
		}
	}
	return r, nil
}
