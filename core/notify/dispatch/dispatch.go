// Package dispatch notifies triggers. It follows the event log with a durable
// cursor, plans the pending deliveries of each trigger in one transaction with
// that cursor, and has one worker per trigger deliver them: attempt recorded
// first, outcome after. A crash at any line loses no delivery, and repeats none
// that must not be repeated.
package dispatch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/internal/detach"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Reader is the name of the dispatcher's cursor in the event log.
const Reader = "dispatch"

const (
	// drainTime is how long deliveries under way may go on during a graceful shutdown.
	drainTime = 10 * time.Second
	// maxIdle bounds how long it takes to notice that a trigger can be used again,
	// or that the clock was set.
	maxIdle = time.Minute
	// storePause is the wait after the store refused something.
	storePause = 10 * time.Second
)

// Trigger is what the dispatcher needs to know of a trigger.
type Trigger struct {
	ID               string // "smtp.main"
	Auto             bool
	Once             bool
	IncludeByDefault bool
	Batch            bool
	Threshold        string
	// OnDigest reports whether it runs for rebuilds of a container; nil for always.
	OnDigest func(sdk.Container) bool
	// Summary is when it sends a summary instead of messages about each update; nil for never.
	Summary Moments
	// SummaryEmpty is true when it sends one even if there is nothing to tell.
	SummaryEmpty bool
	// Backlog is what it is notified of when it runs for the first time; "" is BacklogEach.
	Backlog Backlog
	// Outages is true when it is to be notified of engines that cannot be reached, whatever Auto says.
	Outages bool
	// Operations is true when it is to be notified of how updates and rollbacks ended.
	Operations bool
	// Plugins is true when it is to be notified of newer versions of installed plugins.
	Plugins bool
	// AtMostOnce forbids repeating a call whose outcome is not known.
	AtMostOnce bool
	// Operates is true when it may have containers updated; see trigger.Request.Operate.
	Operates bool
	Messages Messages
	Runner   trigger.Trigger
}

// Triggers gives the configured triggers that can be used.
type Triggers interface {
	All() []Trigger
	Get(id string) (Trigger, bool)
}

// Containers gives what is stored now.
type Containers interface {
	ByID(id string) (sdk.Container, bool)
	ByName(watcher, name string) (sdk.Container, bool)
}

// Store is the durable side: the event log, the cursor and the deliveries.
type Store interface {
	event.Log
	EventsBefore(ctx context.Context, before int64, limit int) ([]event.Event, error)
	Cursor(ctx context.Context, reader string) (int64, error)
	Plan(ctx context.Context, reader string, cursor int64, ds []delivery.Delivery) (int, error)
	LastSummary(ctx context.Context, trigger string) (delivery.Summary, error)
	PlanSummary(ctx context.Context, trigger string, upTo delivery.Summary, ds ...delivery.Delivery) error
	Claim(ctx context.Context, trigger string, now time.Time) (delivery.Delivery, bool, error)
	Begin(ctx context.Context, d delivery.Delivery) (delivery.Delivery, error)
	Finish(ctx context.Context, id int64, outcome delivery.Outcome, ev ...event.Event) error
	Recover(ctx context.Context, outcome func(delivery.Delivery) delivery.Outcome) (int, error)
	NextDue(ctx context.Context, triggers ...string) (time.Time, bool, error)
}

// Grants are the credentials and engines that triggers may have.
type Grants interface {
	// Attach completes a request to a trigger with what it is granted.
	Attach(ctx context.Context, triggerID string, req *trigger.Request)
}

// Links are what readers of a message can decide about its containers.
type Links interface {
	// For returns the links about the update of a container for a message of a trigger.
	For(triggerID string, c *sdk.Container) []trigger.Action
	// Sample returns links with which nothing is decided, for a sample message.
	Sample(c *sdk.Container) []trigger.Action
}

// Options configure a Dispatcher.
type Options struct {
	Triggers   Triggers
	Containers Containers
	// Stored returns all that is stored now, for summaries; it is not changed. Nil for nothing.
	Stored func() []*sdk.Container
	Store  Store
	Bus    *event.Bus
	// CheckedAtStart returns the watchers whose first check begins by itself when Dogwatch starts: triggers are
	// notified of what waits once all have ended. Nil for none.
	CheckedAtStart func() []string
	// Grants may be nil.
	Grants Grants
	// Updates may be nil: no trigger has containers updated then.
	Updates Updates
	// Links may be nil: no message has any then.
	Links Links
	// Notes returns an excerpt of the release notes of what a container is offered, "" for none;
	// nil when they are switched off.
	Notes func(ctx context.Context, c *sdk.Container) string
	// NotStarted reports that an error means the call was never made.
	NotStarted func(error) bool
	// Exited reports that an error means the trigger's own process exited during the call.
	Exited func(error) bool
	// Redact blanks secrets in what is sent besides containers, and in what triggers
	// report; nil when there are none.
	Redact func(string) string
	// Progressed, if set, is called when DeliveryProgress has something new, rate-limited
	// for each delivery. It must not block.
	Progressed func()
	Log        hclog.Logger
	Now        func() time.Time
}

// Dispatcher delivers. Run is its actor; the other methods may be called concurrently.
type Dispatcher struct {
	opt  Options
	log  hclog.Logger
	wake chan struct{}

	// life ends some time after the context of Run, so that calls under way can end.
	life context.Context
	end  context.CancelFunc
	// waits ends when a shutdown begins, which does not wait for updates: deliveries
	// find theirs again at the next start.
	waits    context.Context
	endWaits context.CancelFunc
	workers  sync.WaitGroup
	manual   detach.Group
	runs     runs
	// beginning is held while a manual run is recorded, so that a recovery takes
	// it for one under way.
	beginning sync.Mutex

	mu   sync.Mutex
	busy map[string]bool // triggers that have a worker
	// pausedUntil is when triggers that limit the rate may be called again.
	pausedUntil map[string]time.Time
	// reminded is the latest event for which a trigger without "once" has a delivery.
	reminded map[reminder]int64
	// summarized is until when the summaries of triggers have come, as the store has it.
	summarized map[string]delivery.Summary

	// Only the planner uses what follows: the watchers that were checked since the start, when
	// the backlogs of triggers ended, and whether those of an older installation are noted.
	checked   map[string]bool
	announced map[string]delivery.Summary
	older     bool
}

// reminder is an update of which a trigger is notified at each check.
type reminder struct{ trigger, subject string }

// New returns a Dispatcher.
func New(opt Options) *Dispatcher {
	if opt.Exited == nil {
		opt.Exited = func(error) bool { return false }
	}
	if opt.Redact == nil {
		opt.Redact = func(text string) string { return text }
	}
	if opt.Stored == nil {
		opt.Stored = func() []*sdk.Container { return nil }
	}
	if opt.CheckedAtStart == nil {
		opt.CheckedAtStart = func() []string { return nil }
	}
	if opt.Progressed == nil {
		opt.Progressed = func() {}
	}
	d := &Dispatcher{
		opt: opt, log: opt.Log.Named("dispatch"), wake: make(chan struct{}, 1),
		busy: map[string]bool{}, pausedUntil: map[string]time.Time{}, reminded: map[reminder]int64{},
		summarized: map[string]delivery.Summary{}, checked: map[string]bool{}, announced: map[string]delivery.Summary{},
	}
	d.runs = runs{log: d.log, redact: opt.Redact, changed: opt.Progressed, running: map[int64]*run{}}
	d.life, d.end = context.WithCancel(context.Background())
	d.waits, d.endWaits = context.WithCancel(d.life)
	return d
}

// Run plans and delivers until ctx ends. Its graceful shutdown then waits for the
// calls under way, up to drainTime, and cancels them. An error means that the
// store could not be used at the start.
func (d *Dispatcher) Run(ctx context.Context) error {
	defer d.drain()
	if err := d.recover(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	var planner sync.WaitGroup
	defer planner.Wait()
	planner.Go(func() { d.planner().Run(ctx) })
	for ctx.Err() == nil {
		d.waitForWork(ctx, d.deliver(ctx))
	}
	return nil
}

// planner follows the event log with the dispatcher's durable cursor. It does not
// stop reading within what one commit of a check found, because a batch lists
// containers as they were found.
func (d *Dispatcher) planner() *event.Tailer {
	return event.NewTailer(event.TailOptions{
		Log: d.opt.Store, Bus: d.opt.Bus, Handle: d.plan, KeepWithNext: concluding, Woken: d.Wake, Logger: d.log,
		Cursor: func(ctx context.Context) (int64, error) { return d.opt.Store.Cursor(ctx, Reader) },
	})
}

// drain waits for the calls under way, and cancels them after drainTime.
func (d *Dispatcher) drain() {
	d.endWaits()
	timer := time.AfterFunc(drainTime, d.end)
	defer timer.Stop()
	d.manual.Stop()
	d.workers.Wait()
	d.end()
}

// Wake makes Run look for work, as when a delivery is to be retried.
func (d *Dispatcher) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

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

// plan writes what new events mean for each trigger, together with the cursor.
func (d *Dispatcher) plan(ctx context.Context, events []event.Event) error {
	known, err := d.backfill(ctx, events)
	if err != nil {
		return fmt.Errorf("plan deliveries: %w", err)
	}
	if !d.older {
		if err := d.markOlderBacklogs(ctx); err != nil {
			return fmt.Errorf("plan deliveries: %w", err)
		}
		d.older = true
	}
	triggers := d.opt.Triggers.All()
	backlogs, err := d.backlogsOf(ctx, triggers, events)
	if err != nil {
		return fmt.Errorf("plan deliveries: %w", err)
	}
	pending := plan(events, triggers, known, backlogs)
	if _, err := d.opt.Store.Plan(ctx, Reader, events[len(events)-1].ID, pending); err != nil {
		return fmt.Errorf("plan deliveries: %w", err)
	}
	d.remember(pending)
	return nil
}

// concluding reports whether an event may stand before the end of its check in one commit.
func concluding(e event.Event) bool {
	return e.Run != "" &&
		(e.Type == event.UpdateFound || e.Type == event.UpdateCleared || e.Type == event.ContainerChanged)
}

// remember notes the latest reminders, which supersede older ones that still wait.
func (d *Dispatcher) remember(pending []delivery.Delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.reminded) > 10_000 { // containers come and go; an entry that is lost costs a repetition at most
		clear(d.reminded)
	}
	for _, p := range pending {
		if t, known := d.opt.Triggers.Get(p.Trigger); known && !t.Once {
			d.reminded[reminder{p.Trigger, p.Subject}] = p.Event
		}
	}
}

// deliver gives a worker to every trigger that has something due and none, and
// returns how long it is until more is due.
func (d *Dispatcher) deliver(ctx context.Context) time.Duration {
	wait := maxIdle
	for _, t := range d.opt.Triggers.All() {
		if t.Summary != nil {
			next, err := d.summarize(ctx, t)
			if err != nil && ctx.Err() == nil {
				d.log.Error("plan a summary", "trigger", t.ID, "error", err)
				next = storePause
			}
			wait = min(wait, next)
		}
		due, any, err := d.due(ctx, t.ID)
		switch {
		case err != nil && ctx.Err() == nil:
			d.log.Error("read what is due", "trigger", t.ID, "error", err)
			wait = min(wait, storePause)
		case err != nil || !any:
		case due > 0:
			wait = min(wait, due)
		default:
			d.workers.Go(func() { d.work(ctx, t) })
		}
	}
	return wait
}

// due returns how long it is until something is due for a trigger without a
// worker. If it is due now, the trigger counts as busy from here on.
func (d *Dispatcher) due(ctx context.Context, id string) (in time.Duration, any bool, err error) {
	d.mu.Lock()
	busy, paused := d.busy[id], d.pausedUntil[id]
	d.mu.Unlock()
	if busy {
		return 0, false, nil // its worker looks for more by itself
	}
	at, any, err := d.opt.Store.NextDue(ctx, id)
	if err != nil || !any {
		return 0, false, err
	}
	if paused.After(at) {
		at = paused
	}
	if in = at.Sub(d.opt.Now()); in > 0 {
		return in, true, nil
	}
	d.mu.Lock()
	d.busy[id] = true
	d.mu.Unlock()
	return 0, true, nil
}
