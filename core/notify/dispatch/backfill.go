package dispatch

import (
	"context"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// backfillPages bounds how far back the log is read for what a check has found.
	backfillPages = 50
	backfillPage  = 200
)

// backfilled are the containers of now, and removed ones as a check found them.
type backfilled struct {
	Containers
	found map[string]sdk.Container // by id
}

func (b backfilled) ByID(id string) (sdk.Container, bool) {
	if c, known := b.Containers.ByID(id); known {
		return c, true
	}
	c, known := b.found[id]
	return c, known
}

// backfill finds, in the log before some events, the containers that their checks
// report and that are not stored any more. A check commits what it finds as it
// goes, so the beginning of a long one was read before its end. Containers may
// have been recreated in between while Dogwatch did not run, and the batch of the
// check still includes them.
func backfill(ctx context.Context, opt Options, events []event.Event) (backfilled, error) {
	b := backfilled{Containers: opt.Containers, found: map[string]sdk.Container{}}
	missing := map[string]bool{}
	for _, e := range events {
		if e.Check == nil || e.Type != event.CheckFinished {
			continue
		}
		for _, id := range e.Check.Found {
			if _, known := b.ByID(id); !known {
				missing[id] = true
			}
		}
	}
	before := events[len(events)-1].ID
	for page := 0; len(missing) > 0 && page < backfillPages; page++ {
		older, err := opt.Store.EventsBefore(ctx, before, backfillPage)
		if err != nil {
			return b, err
		}
		for _, e := range older {
			if before = e.ID; e.Type == event.UpdateFound && e.Container != nil && missing[e.Container.ID] {
				b.found[e.Container.ID] = *e.Container
				delete(missing, e.Container.ID)
			}
		}
		if len(older) < backfillPage {
			break
		}
	}
	return b, nil
}
