// Package updater carries out operations: it resolves the image of an update, has
// the watcher of the container plan and take the steps, and stores each step before
// it is taken. What was interrupted, by a crash of the plugin or of this process, is
// recovered by the watcher. A crash at any line loses no operation, and begins none twice.
//
// An operation stops between two steps when it is cancelled: the watcher then
// returns to the old container. When Dogwatch stops, an operation goes on for as long
// as a container is stopped on its behalf, so that nothing is down meanwhile; other
// than that the step under way is its last one, and the operation stays Running until
// the next start recovers it.
package updater

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/internal/wake"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The errors that callers tell apart with errors.Is.
var (
	// ErrConflict: the container has an operation that has not ended; see ConflictError.
	ErrConflict = errors.New("an operation is under way")
	// ErrBlocked: the plan has blocks; see BlockedError.
	ErrBlocked = errors.New("the update is blocked")
	// ErrForbidden: the watcher may not update; see ForbiddenError.
	ErrForbidden = errors.New("updating is not allowed")
	// ErrUnsupported: the type of the watcher cannot update.
	ErrUnsupported = errors.New("the watcher cannot update")
	// ErrNoUpdate: there is nothing newer, or nothing to roll back to.
	ErrNoUpdate = errors.New("there is no image to change to")
	// ErrNeverUpdated is the ErrNoUpdate of a rollback where Dogwatch has updated nothing.
	ErrNeverUpdated = fmt.Errorf("%w: dogwatch has not updated it yet", ErrNoUpdate)
	// ErrChanged: the container or its image is not what the user was shown.
	ErrChanged = errors.New("it has changed since it was planned")
	// ErrUnplanned: the digest of the request is neither of a plan that was shown nor what the tag is now.
	ErrUnplanned = errors.New("no plan has this digest, or it is too long ago")
	// ErrEnded: the operation has ended already.
	ErrEnded = errors.New("the operation has ended")
	// ErrStopping: Dogwatch is stopping and begins nothing any more.
	ErrStopping = errors.New("dogwatch is stopping")
)

// ForbiddenError is an ErrForbidden.
type ForbiddenError struct {
	Watcher string
	// Why says why the watcher may not update, and Remedy which setting lets it.
	Why, Remedy string
	// Paste is the Remedy as lines.
	Paste config.Paste
}

func (e *ForbiddenError) Error() string {
	return fmt.Sprintf("watcher %s: %v, since %s: %s", e.Watcher, ErrForbidden, e.Why, e.Remedy)
}

// Is makes errors.Is find ErrForbidden.
func (e *ForbiddenError) Is(target error) bool { return target == ErrForbidden }

// ConflictError is an ErrConflict.
type ConflictError struct {
	// Operation is the one that has not ended.
	Operation operation.Operation
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("operation %s of %s/%s has not ended: wait for it, or cancel it", e.Operation.ID,
		e.Operation.Watcher, e.Operation.Name)
}

// Is reports whether target is ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// BlockedError is an ErrBlocked.
type BlockedError struct{ Plan watcher.Plan }

func (e *BlockedError) Error() string {
	texts := make([]string, len(e.Plan.Blocks))
	for i, b := range e.Plan.Blocks {
		texts[i] = b.Text + " (" + b.Code + ")"
	}
	return ErrBlocked.Error() + ": " + strings.Join(texts, "; ")
}

// Is reports whether target is ErrBlocked.
func (e *BlockedError) Is(target error) bool { return target == ErrBlocked }

// Request asks for the update or rollback of a container.
type Request struct {
	Container sdk.Container
	Kind      operation.Kind
	// Rules are those that the request adds to what labels and configuration ask for.
	Rules watcher.UpdateRules
	// Configured is whether an operator set the Rules, as options of the Trigger. Otherwise
	// they do not go beyond the options of the watcher.
	Configured bool
	// Actor is the user or token that asks, Trigger the id of the trigger that does.
	Actor, Trigger string
	// IdempotencyKey is the id of the delivery of the Trigger; "" for none. A container has one
	// operation at most for each: Start returns that instead of a second one.
	IdempotencyKey string
	// Digest and State are Plan.To.Digest and Plan.State of the plan that a user has
	// confirmed. With a Digest, that image is used, whatever the tag is by now: it is one of
	// a plan that was shown, or what the tag is, or else an ErrUnplanned. With a
	// State, Start fails with ErrChanged if the container is another one by now.
	Digest, State string
	// Resolved is whether the host has looked the Digest up itself, so that no plan needs to have it.
	Resolved bool
}

// Watcher is what the runner needs to know of a watcher.
type Watcher struct {
	ID   string // "docker.local"
	Name string
	// Updates is whether its type can update, Allowed whether it is configured that it may.
	Updates, Allowed bool
	// Why says why it may or may not, and Remedy what lets it, and Paste with which lines; see ForbiddenError.
	Why, Remedy string
	Paste       config.Paste
	// Keep and Prune are its rules where no label says otherwise.
	Keep  int
	Prune bool
	// Hooks is whether the commands of labels run.
	Hooks bool
	// Detached is whether the Updater keeps a journal of its own, and goes on when a call ends, as agents do. What
	// became of an operation is asked by Recover then, which also tells of a cancellation.
	Detached bool
	Updater  watcher.Updater
}

// Watchers gives the watchers that can be used.
type Watchers interface {
	// Named returns false for a watcher that is not configured. One whose plugin is down is known, and its calls fail.
	Named(name string) (Watcher, bool)
}

// Registry answers about the images of a host.
type Registry interface {
	Resolve(ctx context.Context, repo registry.Repository, tag string) (digest string, err error)
	// Credentials are zero where none are needed or known.
	Credentials(ctx context.Context, repo registry.Repository) (sdk.Credentials, error)
	// ImageConfig returns nil where the registry cannot tell.
	ImageConfig(ctx context.Context, repo registry.Repository, digest string, platform sdk.Platform) (*sdk.ImageConfig,
		error)
}

// Registries finds the registry of a host. Its names are as references have them.
type Registries interface {
	For(host string) (Registry, bool)
}

// Containers gives what is stored now.
type Containers interface {
	ByName(watcher, name string) (sdk.Container, bool)
}

// Store is the durable side.
type Store interface {
	AddOperation(ctx context.Context, op operation.Operation, ev ...event.Event) error
	ChangeOperation(ctx context.Context, from operation.State, op operation.Operation, ev ...event.Event) error
	PutStep(ctx context.Context, id string, number int, step operation.Step, ev ...event.Event) error
	Operation(ctx context.Context, id string) (operation.Operation, error)
	Operations(ctx context.Context, f operation.Filter) ([]operation.Operation, error)
	OpenOperations(ctx context.Context) ([]operation.Operation, error)
	Tried(ctx context.Context, watcher, name string) ([]operation.Trial, error)
	// PutPlanned stores that a plan of a container ("watcher/name") was shown, and Planned
	// reports whether one was, with the digest that a reference had, not too long ago.
	PutPlanned(ctx context.Context, subject, reference, digest string) error
	Planned(ctx context.Context, subject, reference, digest string) (bool, error)
}

// Options configure a Runner.
type Options struct {
	Watchers   Watchers
	Registries Registries
	// PullCredentials, if set, returns what the engine of a container pulls its image with, where the operator lets that
	// be used to look the image up; the zero value for nothing.
	PullCredentials func(ctx context.Context, c sdk.Container) sdk.Credentials
	Containers      Containers
	Store           Store
	Bus             *event.Bus
	// Proposes, if set, returns the id of the trigger that opens a pull request for the update of a container, or "".
	Proposes func(c sdk.Container) string
	// Listed has the containers of a watcher listed now, and the one with the id checked:
	// an operation has changed them. It returns when ctx ends at the latest. Nil leaves it
	// to the next check.
	Listed func(ctx context.Context, watcher, id string) error
	// AtOnce is how many operations run at the same time; below 1 means 2.
	AtOnce int
	// Silence is how long a watcher that recovers an operation may say nothing before the
	// call is ended and made again. Zero means ten minutes, which is longer than most
	// containers take to stop. LeaveTime is that time once a user has cancelled the
	// operation; zero means 30 seconds.
	Silence, LeaveTime time.Duration
	// Vulnerabilities says how the image of a digest compares with the one that a container
	// runs, as far as they were scanned. It may be nil.
	Vulnerabilities func(c sdk.Container, digest string) (text string, known bool)
	// AgedDigest returns the digest that the update of a container leads to, whatever is behind its tag by now; "" for
	// what is behind its tag. It may be nil.
	AgedDigest func(ctx context.Context, c *sdk.Container) (string, error)
	// Major reports whether the update of a container is a major one, and what it takes, as sentences, as far as that
	// is known. It may be nil.
	Major func(c sdk.Container) (advice string, isMajor bool)
	// Labels are which labels of containers count.
	Labels label.Options
	// Redact blanks secrets in texts of plugins; nil when there are none.
	Redact func(string) string
	Log    hclog.Logger
	Now    func() time.Time
}

const (
	defaultAtOnce    = 2
	defaultDrainTime = 20 * time.Second
	// storePause is the wait after the store refused something.
	storePause = 10 * time.Second
	// listTime is how long the end of an operation waits for its containers to be listed.
	listTime         = 3 * time.Second
	defaultSilence   = 10 * time.Minute
	defaultLeaveTime = 30 * time.Second
)

// Runner carries out operations. Run is its actor; the other methods may be called
// concurrently, before Run too.
type Runner struct {
	opt  Options
	log  hclog.Logger
	wake wake.Signal
	// life ends some time after Run is to stop, so that steps under way can end.
	life context.Context
	end  context.CancelFunc
	work sync.WaitGroup
	ids  ids
	// drainTime is how long operations may go on during a graceful shutdown.
	drainTime time.Duration

	mu       sync.Mutex
	stopping bool
	active   map[string]*active // by the id of the operation
}

// New returns a Runner.
func New(opt Options) *Runner {
	if opt.AtOnce < 1 {
		opt.AtOnce = defaultAtOnce
	}
	if opt.Silence <= 0 {
		opt.Silence = defaultSilence
	}
	if opt.LeaveTime <= 0 {
		opt.LeaveTime = defaultLeaveTime
	}
	if opt.Listed == nil {
		opt.Listed = func(context.Context, string, string) error { return nil }
	}
	if opt.Redact == nil {
		opt.Redact = func(text string) string { return text }
	}
	r := &Runner{
		opt: opt, log: opt.Log.Named("updater"), wake: wake.New(), ids: ids{now: opt.Now},
		drainTime: defaultDrainTime, active: map[string]*active{},
	}
	r.life, r.end = context.WithCancel(context.Background())
	return r
}

// Allowed returns nil when the containers of a watcher may be updated, and else an
// ErrForbidden, ErrUnsupported or sdk.ErrNotFound that says what to do.
func (r *Runner) Allowed(watcherName string) error {
	_, err := r.watcher(watcherName)
	return err
}

func (r *Runner) watcher(name string) (Watcher, error) {
	w, known := r.opt.Watchers.Named(name)
	switch {
	case !known:
		return w, fmt.Errorf("watcher %s: it is not configured: %w", name, sdk.ErrNotFound)
	case !w.Updates:
		return w, fmt.Errorf("watcher %s: %w: its type only lists containers", name, ErrUnsupported)
	case !w.Allowed:
		return w, &ForbiddenError{Watcher: name, Why: w.Why, Remedy: w.Remedy, Paste: w.Paste}
	}
	return w, nil
}
