// Package statestream keeps triggers that mirror everything somewhere informed
// of all containers and watchers. Each has one open call, a state stream.
// Nothing is queued for it: a view holds the containers that were sent last, and
// when the subscriber wants the next change, it gets how those of now differ. A
// slow subscriber costs no memory and delays no other.
package statestream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/internal/wake"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// A subscriber that ends is called again after minBackoff. The pause doubles
// each time, up to maxBackoff.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute
)

// Subscriber is a configured trigger that takes a state stream.
type Subscriber struct {
	ID string // "mqtt.main"
	// Component is the trigger as it is configured: another one of the same ID is
	// another subscriber.
	Component any
	// MayRun is whether it may have other triggers run.
	MayRun bool
	// MayDecide is whether it may decide about updates.
	MayDecide bool
	// Usable reports whether it may be called; see component.Component.
	Usable func() bool
	// Subscribe takes the stream until ctx ends, or returns why it cannot.
	Subscribe func(context.Context, trigger.StateStream) error
}

// Options configure a Hub.
type Options struct {
	// Containers returns what is stored now. The containers are shared, and
	// one that has changed is another pointer.
	Containers func() []*sdk.Container
	// Watchers returns the names of all watchers.
	Watchers func() []string
	// Operations returns those under way; nil when there never are any.
	Operations func() []trigger.OperationState
	Events     event.Log
	Bus        *event.Bus
	// Run runs a trigger on a container at the request of a subscriber, whose id is by.
	Run func(ctx context.Context, by, triggerID, containerID string) error
	// Decide does what a user of a subscriber's system decided about the update of a container. It may be nil.
	Decide func(ctx context.Context, by, containerID, action string) error
	Log    hclog.Logger
}

// Hub serves the state streams of all subscribers. It reads the event log once
// for all of them. Run is its actor.
type Hub struct {
	opt   Options
	log   hclog.Logger
	began []*sdk.Container
	tail  *event.Tailer
	// renew makes Run call for the subscribers again.
	renew wake.Signal

	mu       sync.Mutex
	checking map[string]bool // by watcher
	// changed is closed and replaced whenever there may be a change to send.
	changed chan struct{}
}

// progressPause is the least time between two changes of one operation's progress.
const progressPause = 250 * time.Millisecond

// New returns a Hub that knows the containers of this moment: a subscriber is
// sent the removal of those that are gone when its stream begins. No check may
// be running yet. The error is that of the event log.
func New(ctx context.Context, opt Options) (*Hub, error) {
	if opt.Operations == nil {
		opt.Operations = func() []trigger.OperationState { return nil }
	}
	h := &Hub{
		opt: opt, log: opt.Log.Named("statestream"), checking: map[string]bool{}, changed: make(chan struct{}),
		renew: wake.New(),
	}
	h.tail = event.NewTailer(event.TailOptions{
		Log: opt.Events, Bus: opt.Bus, Handle: h.note, Woken: h.notify, Logger: h.log,
	})
	if err := h.tail.CatchUp(ctx); err != nil {
		return nil, err
	}
	h.began = opt.Containers()
	return h, nil
}

// Run serves the streams until ctx ends, and waits for the subscribers to end. It
// calls subscribers at the start and after each Renew. Until there is one, it does
// nothing.
func (h *Hub) Run(ctx context.Context, subscribers func(context.Context) []Subscriber) error {
	var wait sync.WaitGroup
	defer wait.Wait()
	served, following := map[any]context.CancelFunc{}, false
	for {
		all := subscribers(ctx)
		gone := maps.Clone(served)
		for _, s := range all {
			delete(gone, s.key())
		}
		for key, end := range gone {
			end()
			delete(served, key)
		}
		for _, s := range all {
			if served[s.key()] != nil {
				continue
			}
			ctx, end := context.WithCancel(ctx)
			served[s.key()] = end
			wait.Go(func() { h.serve(ctx, s) })
		}
		if len(all) > 0 && !following {
			following = true
			wait.Go(func() { h.followProgress(ctx) })
			wait.Go(func() { h.tail.Run(ctx) })
		}
		select {
		case <-ctx.Done():
			for _, end := range served {
				end()
			}
			return nil
		case <-h.renew:
		}
	}
}

// key tells subscribers apart.
func (s Subscriber) key() any {
	if s.Component != nil {
		return s.Component
	}
	return s.ID
}

// Renew says that there may be other subscribers than before.
func (h *Hub) Renew() { h.renew.Set() }

// followProgress has views compare anew when the progress of operations changes, which
// is not in the log.
func (h *Hub) followProgress(ctx context.Context) {
	sub := h.opt.Bus.SubscribeAll()
	defer sub.Close()
	_, seen := h.opt.Bus.Touched(0)
	for sub.Wait(ctx) == nil {
		types, now := h.opt.Bus.Touched(seen)
		if seen = now; slices.Contains(types, event.OperationProgressed) {
			h.notify()
		}
	}
}

// note keeps which watchers are checking.
func (h *Hub) note(_ context.Context, page []event.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range page {
		if e.Check != nil && !e.Check.Single { // a check of one container is none of the watcher
			h.checking[e.Check.Watcher] = e.Type == event.CheckStarted
		}
	}
	return nil
}

// notify has every view compare anew.
func (h *Hub) notify() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.changed)
	h.changed = make(chan struct{})
}

// watchers returns the state of every watcher, and what closes when that may be different.
func (h *Hub) watchers() ([]trigger.WatcherState, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []trigger.WatcherState
	for _, name := range h.opt.Watchers() {
		all = append(all, trigger.WatcherState{Name: name, Checking: h.checking[name]})
	}
	return all, h.changed
}

// serve calls a subscriber, again and again with backoff, until ctx ends.
func (h *Hub) serve(ctx context.Context, s Subscriber) {
	view := newView(h, s)
	for failures := 1; ctx.Err() == nil; failures++ {
		if s.Usable() {
			began := time.Now()
			view.begin()
			h.handleEnd(ctx, s, s.Subscribe(ctx, view))
			if time.Since(began) > maxBackoff {
				failures = 1
			}
		}
		_ = backoff.Wait(ctx, backoff.Pauses{First: minBackoff, Longest: maxBackoff}.After(failures))
	}
}

// handleEnd logs why a stream ended. That a plugin is down is logged where plugins are supervised.
func (h *Hub) handleEnd(ctx context.Context, s Subscriber, err error) {
	switch {
	case ctx.Err() != nil:
	case err == nil, errors.Is(err, sdk.ErrUnavailable):
		h.log.Debug("trigger is not informed at present", "trigger", s.ID, "error", err)
	default:
		h.log.Warn("trigger cannot be kept informed and will be tried again", "trigger", s.ID, "error", err)
	}
}

// decide does what a user of a subscriber's system decided, and logs it.
func (h *Hub) decide(ctx context.Context, s Subscriber, containerID, action string) error {
	if !s.MayDecide || h.opt.Decide == nil {
		return fmt.Errorf("%s an update: %s may not decide about updates", action, s.ID)
	}
	log := h.log.With("action", action, "container", containerID, "by", s.ID)
	err := h.opt.Decide(ctx, s.ID, containerID, action)
	switch {
	case err == nil:
		log.Info("decided about an update because a subscriber asks for it")
	case ctx.Err() == nil:
		log.Warn("what a subscriber asks for cannot be decided", "error", err)
	}
	return err
}

// run runs a trigger for a subscriber, and logs it.
func (h *Hub) run(ctx context.Context, s Subscriber, triggerID, containerID string) error {
	if !s.MayRun {
		return fmt.Errorf("run trigger %s: %s may not have other triggers run", triggerID, s.ID)
	}
	log := h.log.With("trigger", triggerID, "container", containerID, "by", s.ID)
	log.Info("running a trigger because another one asks for it")
	err := h.opt.Run(ctx, s.ID, triggerID, containerID)
	if err != nil && ctx.Err() == nil {
		log.Error("the trigger that was asked for has failed", "error", err)
	}
	return err
}
