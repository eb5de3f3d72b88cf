package dispatch

import (
	"context"
	"fmt"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
)

// planner plans the deliveries of one kind: updates that are found, engines that cannot be reached, newer versions of
// plugins, ends of operations, summaries, and what waits when a trigger runs for the first time.
type planner interface {
	// plan returns the deliveries of a trigger that follow from an event.
	plan(t Trigger, e event.Event) []delivery.Delivery
}

// planning follows the event log. It belongs to one goroutine.
type planning struct {
	opt       Options
	reminders *reminders
	firstRuns firstRuns
}

// handle writes what new events mean for each trigger, together with the cursor.
func (p *planning) handle(ctx context.Context, events []event.Event) error {
	known, err := backfill(ctx, p.opt, events)
	if err != nil {
		return fmt.Errorf("plan deliveries: %w", err)
	}
	triggers := p.opt.Triggers.All()
	waiting, err := p.firstRuns.backlogs(ctx, triggers, events)
	if err != nil {
		return fmt.Errorf("plan deliveries: %w", err)
	}
	pending := planDeliveries(events, triggers, known, waiting)
	if _, err := p.opt.Store.Plan(ctx, Reader, events[len(events)-1].ID, pending); err != nil {
		return fmt.Errorf("plan deliveries: %w", err)
	}
	p.reminders.remember(pending)
	return nil
}

// planDeliveries returns what follows from events.
func planDeliveries(events []event.Event, triggers []Trigger, now Containers, waiting backlogs) []delivery.Delivery {
	var pending []delivery.Delivery
	known := findings{found: map[string]sdk.Container{}, levels: map[string][]string{}, now: now}
	planners := []planner{outages{}, outdated{}, ends{now}, updatesFound{known, waiting}}
	for _, e := range events {
		known.note(e)
		for _, t := range triggers {
			for _, p := range planners {
				pending = append(pending, p.plan(t, e)...)
			}
		}
	}
	return pending
}

// concluding reports whether an event may stand before the end of its check in one commit.
func concluding(e event.Event) bool {
	return e.Run != "" &&
		(e.Type == event.UpdateFound || e.Type == event.UpdateCleared || e.Type == event.ContainerChanged)
}
