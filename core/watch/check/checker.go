package check

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Lister finds the containers of a watcher.
type Lister interface {
	List(ctx context.Context) ([]sdk.Container, error)
}

// Watcher is what a check needs to know of a watcher.
type Watcher struct {
	Name           string
	WatchByDefault bool
	// Exclude matches the names of containers that are left out; nil for none.
	Exclude policy.Pattern
	Lister  Lister
	// Pulls knows what the engine pulls images with; nil for nothing.
	Pulls PullSecrets
}

// PullSecrets returns what an engine pulls the images of containers with, by id; see watcher.CredentialProvider.
type PullSecrets interface {
	PullCredentials(ctx context.Context, ids []string) (map[string]watcher.PullCredentials, error)
}

// Events keep what happened. Commit stores events together or not at all.
type Events interface {
	Commit(ctx context.Context, change event.Change) error
}

// Options configure a Checker.
type Options struct {
	// Queries asks registries.
	Queries *registryquery.Client
	// Decisions keep the containers, and what becomes of their updates.
	Decisions *decision.Decisions
	Events    Events
	// SaveRequests, if set, keeps what the budget of Queries has counted, at most twice a second.
	SaveRequests func(ctx context.Context, all []budget.Saved) error
	// Labels are which labels of containers count.
	Labels label.Options
	// Triggers returns the ids of those that are configured, which labels may name; nil where that is not known.
	Triggers func() []string
	// WatchFloating makes the digests behind floating versions count where no label says otherwise.
	WatchFloating bool
	// Progressed, if set, is called when Progress has something new about a check
	// that goes on. It must not block.
	Progressed func()
	// Reached, if set, is called with whether the engine of a watcher answered,
	// after each request to it. It must not block.
	Reached func(watcher string, err error)
	// Order returns the names of the watchers, in configuration order.
	Order func() []string
	Log   hclog.Logger
	Now   func() time.Time
}

// ErrNotListed means that the engine no longer has the container.
var ErrNotListed = errors.New("the engine no longer lists the container")

// Checker runs checks. Its methods may be called concurrently; checks of one
// watcher never overlap: a request during a run gets that run's outcome.
type Checker struct {
	opt Options
	log hclog.Logger
	// labels say how labels are read, with a memory for the compiled tag rules of all containers.
	labels labels.Options

	mu       sync.Mutex
	watchers map[string]*state
	lastRun  int64
	warned   map[string]bool
}

// state is what is remembered of a watcher between its runs.
type state struct {
	semaphore chan struct{} // of one slot, held while working on the watcher's containers
	running   *run          // nil when no check of the whole watcher is under way
	// broken says of containers what their engine could not say, by id.
	broken map[string]string
	// requests are how many the last check of all made at most, by host.
	requests map[string]int
	// outage is nil while the engine answers.
	outage *Outage
}

// run is a check of a whole watcher that is under way.
type run struct {
	done chan struct{}
	// tolerance is how much earlier than the run a response to another engine's check may be.
	tolerance time.Duration
	listing   bool // what happens from now on may be left to the next run
	// checked is how many of the total of containers have their result.
	checked, total int
	report         event.Check
	err            error
}

// New returns a Checker.
func New(opt Options) *Checker {
	if opt.Reached == nil {
		opt.Reached = func(string, error) {}
	}
	return &Checker{
		opt: opt, log: opt.Log.Named("check"), watchers: map[string]*state{}, warned: map[string]bool{},
		labels: labels.Options{
			Labels: opt.Labels, WatchFloating: opt.WatchFloating, Triggers: opt.Triggers, Compile: new(tag.Compiler).Compile,
		},
	}
}

// state returns what is remembered of a watcher. The caller holds mu.
func (c *Checker) state(watcher string) *state {
	st := c.watchers[watcher]
	if st == nil {
		st = &state{semaphore: make(chan struct{}, 1)}
		c.watchers[watcher] = st
	}
	return st
}

// enter waits until no one else works on the watcher's containers. The caller
// must call leave unless there is an error, which is that of ctx.
func (c *Checker) enter(ctx context.Context, watcher string) (leave func(), err error) {
	c.mu.Lock()
	semaphore := c.state(watcher).semaphore
	c.mu.Unlock()
	select {
	case semaphore <- struct{}{}:
		return func() { <-semaphore }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Outage is since when, and why, the engine of a watcher cannot be reached.
type Outage struct {
	Since time.Time
	Error string
	// Reported is true once an event.WatcherFailed is stored.
	Reported bool
}

// pass is one run on its way: a whole watcher, or some containers only.
type pass struct {
	*Checker
	watcher Watcher
	id      string
	only    []string // the containers that are checked; none means all
	// tolerance is that of run.
	tolerance time.Duration
	began     time.Time
	report    *event.Check
	// targets are the containers to check, in the order of the watcher.
	targets  []*target
	notified decision.Notified
	// counts are those of targets when the check ends.
	counts tally.Counts
	// outages are what several containers fail by and did not before, to log it once.
	outages []failure
}

// failure is a container whose check failed otherwise than before.
type failure struct{ name, cause, err string }

// runEvent returns an event about the run as a whole.
func (p *pass) runEvent(t event.Type) event.Event {
	report := *p.report
	return event.Event{
		At: p.opt.Now(), Type: t, Subject: p.watcher.Name, Run: p.id, Payload: event.Payload{Check: &report},
	}
}

func (p *pass) stamp(events []event.Event) {
	now := p.opt.Now()
	for i := range events {
		events[i].At, events[i].Run = now, p.id
	}
}

func (p *pass) questions() []*registryquery.Question {
	all := make([]*registryquery.Question, len(p.targets))
	for i, s := range p.targets {
		all[i] = &s.Question
	}
	return all
}

// startListing notes that a whole run looks at the engine now.
func (p *pass) startListing() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if st := p.state(p.watcher.Name); st.running != nil && len(p.only) == 0 {
		st.running.listing = true
	}
}

// target is a container on its way through a check, with what is asked about its image.
type target struct {
	registryquery.Question
	labels labels.Labels
}
