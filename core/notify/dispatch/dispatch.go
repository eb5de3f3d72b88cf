// Package dispatch notifies triggers. It follows the event log with a durable
// cursor, plans the pending deliveries of each trigger in one transaction with
// that cursor, and has one worker per trigger deliver them: attempt recorded
// first, outcome after. A crash at any line loses no delivery, and repeats none
// that must not be repeated.
//
// A delivery goes through these files, in this order:
//
//	dispatch.go  runs the stages, and ends them
//	plan.go      what follows from events: updatesfound.go for what checks find, alone or in a batch (batch.go),
//	             engineoutage.go for engines that cannot be reached, outdated.go for plugins, end.go for operations,
//	             summary.go for triggers in summary mode, and firstrun.go for the backlog of a trigger that runs for the
//	             first time;
//	             each is a planner. dedup.go has one update notified of once
//	filter.go    which triggers an update is for, and whether it still is when it is sent; reminder.go
//	deliver.go   calls the trigger: send.go makes the request, dedup.go the key by which receivers dedupe, and
//	             update.go has containers updated
//	retry.go     what follows from how the call went, and when it is repeated
//	record.go    stores that
//
// manual.go runs triggers for users, and recover.go settles what a crash interrupted.
package dispatch

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/internal/detach"
	"github.com/dogwatch/dogwatch/internal/wake"
)

// drainTime is how long deliveries under way may go on during a graceful shutdown.
const drainTime = 10 * time.Second

// Dispatcher delivers. Run is its actor; the other methods may be called concurrently.
type Dispatcher struct {
	opt  Options
	log  hclog.Logger
	wake wake.Signal

	planning  planning
	summaries summaries
	deliverer deliverer
	manual    detach.Group

	// end ends the calls under way, endWaits the waits for updates.
	end, endWaits context.CancelFunc
}

// New returns a Dispatcher.
func New(opt Options) *Dispatcher {
	opt = opt.withDefaults()
	log := opt.Log.Named("dispatch")
	life, end := context.WithCancel(context.Background())
	waits, endWaits := context.WithCancel(life)
	planned := &reminders{triggers: opt.Triggers, events: map[reminder]int64{}}
	d := &Dispatcher{opt: opt, log: log, wake: wake.New(), end: end, endWaits: endWaits}
	d.planning = planning{opt: opt, reminders: planned, firstRuns: firstRuns{
		opt: opt, log: log, checked: map[string]bool{}, announced: map[string]delivery.Summary{},
	}}
	d.summaries = summaries{opt: opt, log: log, last: map[string]delivery.Summary{}}
	d.deliverer = deliverer{
		opt:      opt,
		log:      log,
		life:     life,
		wake:     d.Wake,
		runs:     runs{log: log, redact: opt.Redact, changed: opt.Progressed, running: map[int64]*run{}},
		filter:   filter{opt: opt, reminders: planned},
		sender:   sender{opt: opt, log: log},
		retries:  retries{opt: opt, pausedUntil: map[string]time.Time{}},
		recorder: recorder{opt: opt, log: log, life: life},
		busy:     map[string]bool{},
	}
	d.deliverer.updater = updater{
		opt: opt, waits: waits,
		filter: &d.deliverer.filter, sender: &d.deliverer.sender, retries: &d.deliverer.retries,
	}
	return d
}

// Run plans and delivers until ctx ends. Its graceful shutdown then waits for the
// calls under way, up to drainTime, and cancels them. An error means that the
// store could not be used at the start.
func (d *Dispatcher) Run(ctx context.Context) error {
	defer d.drain()
	if err := d.deliverer.recover(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	var follows sync.WaitGroup
	defer follows.Wait()
	follows.Go(func() { d.follower().Run(ctx) })
	for ctx.Err() == nil {
		d.waitForWork(ctx, d.deliver(ctx))
	}
	return nil
}

// follower follows the event log with the dispatcher's durable cursor. It does not
// stop reading within what one commit of a check found, because a batch lists
// containers as they were found.
func (d *Dispatcher) follower() *event.Tailer {
	return event.NewTailer(event.TailOptions{
		Log: d.opt.Store, Bus: d.opt.Bus, Handle: d.planning.handle, KeepWithNext: concluding, Woken: d.Wake, Logger: d.log,
		Cursor: func(ctx context.Context) (int64, error) { return d.opt.Store.Cursor(ctx, Reader) },
	})
}

// drain waits for the calls under way, and cancels them after drainTime.
func (d *Dispatcher) drain() {
	d.endWaits()
	timer := time.AfterFunc(drainTime, d.end)
	defer timer.Stop()
	d.manual.Stop()
	d.deliverer.workers.Wait()
	d.end()
}

// Wake makes Run look for work, as when a delivery is to be retried.
func (d *Dispatcher) Wake() { d.wake.Set() }

// waitForWork waits until there may be something to deliver.
func (d *Dispatcher) waitForWork(ctx context.Context, longest time.Duration) {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-d.wake:
	}
}

// deliver gives a worker to every trigger that has something due and none, and
// returns how long it is until more is due.
func (d *Dispatcher) deliver(ctx context.Context) time.Duration {
	wait := maxIdle
	for _, t := range d.opt.Triggers.All() {
		if t.Summary != nil {
			next, err := d.summaries.plan(ctx, t)
			if err != nil && ctx.Err() == nil {
				d.log.Error("plan a summary", "trigger", t.ID, "error", err)
				next = storePause
			}
			wait = min(wait, next)
		}
		due, any, err := d.deliverer.due(ctx, t.ID)
		switch {
		case err != nil && ctx.Err() == nil:
			d.log.Error("read what is due", "trigger", t.ID, "error", err)
			wait = min(wait, storePause)
		case err != nil || !any:
		case due > 0:
			wait = min(wait, due)
		default:
			d.deliverer.workers.Go(func() { d.deliverer.work(ctx, t) })
		}
	}
	return wait
}

// DeliveryProgress returns the latest steps of the deliveries under way, in the order of
// their ids. A delivery whose trigger has reported nothing is not among them.
func (d *Dispatcher) DeliveryProgress() []Progress { return d.deliverer.runs.progress() }
