// Package trigger is what a trigger plugin implements: notifying of an update,
// or acting on it.
package trigger

import (
	"context"
	"reflect"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Trigger notifies or acts. Run is called concurrently.
type Trigger interface {
	// Run does it once. The host decides when to try again: after an error that
	// sdk.Retryable accepts, and only if the type's guarantee allows it.
	Run(ctx context.Context, req Request) error
}

// Request is one delivery.
type Request struct {
	// Delivery stays the same when the host tries again: an idempotency key.
	Delivery string
	// Title and Body are the rendered templates.
	Title, Body string
	// Containers is one container, or in batch mode all containers of a run; none when there is an Event.
	Containers []sdk.Container
	// Batch tells a batch of one from a single container.
	Batch bool
	// Event is what the request is about when that is no update; Containers is
	// empty then, and Batch true. Nil otherwise.
	Event *Event
	// Actions are what a reader of the message can decide about the containers, in the
	// order in which to offer it. There are none unless the host is configured to send them.
	Actions []Action
	// Test marks a sample message that a user sends to try the trigger.
	Test bool
	// Credentials are registry credentials by registry host; only with kind.CapCredentials.
	Credentials map[string]sdk.Credentials
	// Engines are how to reach the containers' engines, by watcher name; only with kind.CapEngine.
	Engines map[string]Engine
	// Device is the one to notify; only with kind.CapDevices, which no third party has. Run is
	// called once for each device that is subscribed.
	Device *Device

	report  func(Progress)
	operate func(OperationRequest) error
}

// The types of an Event.
const (
	WatcherFailed    = "watcher.failed"    // its engine cannot be reached
	WatcherRecovered = "watcher.recovered" // its engine can be reached again
	UpdateApplied    = "update.applied"    // a container was updated, or rolled back at the request of a user
	UpdateRolledBack = "update.rolledback" // that did not work, and the container is as it was before
	UpdateFailed     = "update.failed"     // that did not work: the error says what is left
	PluginOutdated   = "plugin.outdated"   // a newer version of an installed plugin was found
	SummaryDue       = "summary"           // what was done since the last one, and what is to be decided
)

// Event is something other than an update that a trigger is configured to
// notify of. More types may be added: Title and Body describe one that is unknown.
type Event struct {
	// Type is one of the constants, such as WatcherFailed.
	Type string `json:"event"`
	// Watcher is the name of the watcher that it is about.
	Watcher string `json:"watcher"`
	// Error says why, for what failed.
	Error string `json:"error,omitempty"`
	// Since is when the outage or the time of a summary began, At when the event was noted.
	Since sdk.Time `json:"since,omitzero"`
	At    sdk.Time `json:"at,omitzero"`
	// Container is the name of the one that an operation updated, Operation its id.
	Container string `json:"container,omitempty"`
	Operation string `json:"operation,omitempty"`
	// Kind is "update" or "rollback".
	Kind string `json:"kind,omitempty"`
	// Downtime is for how many seconds the container did not run.
	Downtime float64 `json:"downtime,omitempty"`
	// Log is the last lines that the new container wrote, of an update that did not work.
	Log string `json:"log,omitempty"`
	// Plugin is the name of an installed plugin of which there is a newer version.
	Plugin string `json:"plugin,omitempty"`
	// From and To are the references of the images, or of the plugin's versions, By the trigger or user.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	By   string `json:"by,omitempty"`
	// Summary is what a SummaryDue counts; its texts are Title and Body of the request.
	Summary *Summary `json:"summary,omitempty"`
}

// Summary counts containers: those updated and those whose update did not work within a
// time, and those with an update at its end, by what became of it.
type Summary struct {
	Updated   int `json:"updated"`
	Failed    int `json:"failed"`
	Approval  int `json:"approval"` // offered, and waiting for a user's approval
	Offered   int `json:"offered"`
	Automatic int `json:"automatic"`
	Held      int `json:"held"`
}

// Urgent reports whether a user should look at it soon: an update did not work.
func (e *Event) Urgent() bool {
	return e != nil && (e.Type == UpdateRolledBack || e.Type == UpdateFailed)
}

// Engine is how to reach the engine of a watcher: its type and options.
type Engine struct {
	Type    string
	Options map[string]any
}

// Progress is a step of a long delivery. All fields are optional.
type Progress struct {
	// ContainerID is the container that the step is about.
	ContainerID string
	// Phase is what the trigger does now, in a word: a new one is logged at info.
	Phase string
	// Message is any detail, in a line.
	Message string
	// Current of Total is done; Total is 0 when that is not known.
	Current, Total int64
}

// Report sends a step to the host, which logs it and shows it to users without
// the secrets in it. It does not wait for the host. The host coalesces steps that
// come fast, and shows the last one always.
func (r Request) Report(p Progress) {
	if r.report != nil {
		r.report(p)
	}
}

// WithReport returns the request with report receiving its progress.
func (r Request) WithReport(report func(Progress)) Request {
	r.report = report
	return r
}

// Type is one implementation of a trigger, as a bundle lists it.
type Type struct {
	kind.Type
	create func(sdk.Env, map[string]any) (Trigger, error)
}

// Define makes a Type from a constructor. O is its options struct (see package
// option); T is what it returns, whose optional interfaces become capabilities.
func Define[O any, T Trigger](name, summary string, create func(sdk.Env, O) (T, error), settings ...kind.Setting) Type {
	offers := map[string]reflect.Type{
		kind.CapProbe:       reflect.TypeFor[sdk.Prober](),
		kind.CapStateStream: reflect.TypeFor[Subscriber](),
	}
	return Type{
		Type: kind.Define[O, T](kind.Trigger, name, summary, offers, settings...),
		create: func(env sdk.Env, raw map[string]any) (Trigger, error) {
			o, err := option.Decode[O](raw)
			if err != nil {
				return nil, err
			}
			return create(env, o)
		},
	}
}

// New makes an instance. Wrong options are an *sdk.InvalidError naming them.
func (t Type) New(env sdk.Env, options map[string]any) (Trigger, error) {
	return t.create(env, options)
}
