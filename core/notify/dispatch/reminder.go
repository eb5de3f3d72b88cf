package dispatch

import (
	"sync"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
)

// maxReminders bounds how many reminders are remembered: containers come and go, and one that is lost costs a
// repetition at most.
const maxReminders = 10_000

// reminder is an update of which a trigger is notified at each check.
type reminder struct{ trigger, subject string }

// reminders are the latest events for which triggers without "once" have deliveries, which supersede older ones
// that still wait.
type reminders struct {
	triggers Triggers

	mu     sync.Mutex
	events map[reminder]int64
}

// remember notes the deliveries that were planned.
func (r *reminders) remember(planned []delivery.Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.events) > maxReminders {
		clear(r.events)
	}
	for _, p := range planned {
		if t, known := r.triggers.Get(p.Trigger); known && !t.Once {
			r.events[reminder{p.Trigger, p.Subject}] = p.Event
		}
	}
}

// superseded reports whether a later reminder was planned while this one waited.
func (r *reminders) superseded(t Trigger, due delivery.Delivery) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !t.Once && !due.Manual && r.events[reminder{t.ID, due.Subject}] > due.Event
}
