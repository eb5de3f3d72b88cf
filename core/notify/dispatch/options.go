package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Backlog is what a trigger is notified of when it runs for the first time.
type Backlog string

const (
	// BacklogEach has it run for what waits as if that had just been found.
	BacklogEach Backlog = "each"
	// BacklogSummary sends one message about all that waits, after the first check.
	BacklogSummary Backlog = "summary"
	// BacklogNone leaves out what waits then.
	BacklogNone Backlog = "none"
)

// hasBacklog reports whether a trigger is notified of what waits at once, or not at all, rather than of each update.
func (t Trigger) hasBacklog() bool {
	return t.Auto && t.Summary == nil && (t.Backlog == BacklogSummary || t.Backlog == BacklogNone)
}

// Reader is the name of the dispatcher's cursor in the event log.
const Reader = "dispatch"

// maxIdle bounds how long it takes to notice that a trigger can be used again,
// or that the clock was set.
const maxIdle = time.Minute

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
	// Received reports whether anybody receives its messages yet; nil for always. Until then its backlog goes on.
	Received func(context.Context) bool
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

// Attacher knows the credentials and engines that triggers may have.
type Attacher interface {
	// Attach completes a request to a trigger with those that its capabilities allow.
	Attach(ctx context.Context, triggerID string, req *trigger.Request)
}

// SignedLinks are what readers of a message can decide about its containers.
type SignedLinks interface {
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
	// Attacher may be nil.
	Attacher Attacher
	// Updates may be nil: no trigger has containers updated then.
	Updates Updates
	// Links are signedlink.None where messages have none.
	Links SignedLinks
	// Notes returns an excerpt of the release notes of what a container is offered, "" for none.
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

// Moments are the times at which summaries are due.
type Moments interface {
	// Next returns the first one after a time; zero if there is none.
	Next(after time.Time) time.Time
}

// NextSummary returns when the next summary of a trigger is due; zero if it sends none.
func (t Trigger) NextSummary(now time.Time) time.Time {
	if t.Summary == nil {
		return time.Time{}
	}
	return t.Summary.Next(now)
}

// Update asks for the update of a container on behalf of a delivery.
type Update struct {
	Container sdk.Container
	Rules     watcher.UpdateRules
	// Trigger is the id of the trigger that asks, Actor the user who had it run; "" for none.
	Trigger, Actor string
	// Delivery identifies the request: one that was begun before is not begun again.
	Delivery string
}

// Updates carries out what triggers request with trigger.Request.Operate.
type Updates interface {
	// Begin stores the operation of an update, which is carried out from then on. An
	// error for which sdk.Retryable holds may be gone later; an ErrByHand is for users.
	Begin(ctx context.Context, u Update) (operation.Operation, error)
	// Started returns the operations of a container that were begun for an Update whose
	// Delivery is key, or key, a dot and more; the newest first.
	Started(ctx context.Context, c sdk.Container, key string) ([]operation.Operation, error)
	// Wait returns an operation once it has ended.
	Wait(ctx context.Context, id string) (operation.Operation, error)
	// Tried says when the update of a container did not work out, so that it is not to be
	// tried again by itself; "" when it may be tried.
	Tried(ctx context.Context, c sdk.Container) (string, error)
}

// ErrByHand is the kind of errors about updates that only users begin: deliveries of them
// are skipped, which is no failure.
var ErrByHand = errors.New("the update is not begun by itself")

// operates reports whether a trigger has containers updated. Running it again is safe,
// as an update is begun once for each delivery.
func (o Options) operates(t Trigger) bool { return t.Operates && o.Updates != nil }

// withDefaults returns the options with functions that do nothing where there are none.
func (o Options) withDefaults() Options {
	if o.Exited == nil {
		o.Exited = func(error) bool { return false }
	}
	if o.Redact == nil {
		o.Redact = func(text string) string { return text }
	}
	if o.Stored == nil {
		o.Stored = func() []*sdk.Container { return nil }
	}
	if o.CheckedAtStart == nil {
		o.CheckedAtStart = func() []string { return nil }
	}
	if o.Progressed == nil {
		o.Progressed = func() {}
	}
	return o
}
