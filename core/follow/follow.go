// Package follow keeps the triggers that follow informed of all containers and
// watchers. Nothing is queued for them: each has the containers that it was told
// last, and when it wants to know more it is told how those of now differ. A
// slow one costs no memory and holds up nobody.
package follow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	pageSize = 200
	// A follower that ends is called again after shortestPause, and later when it does so again.
	shortestPause = time.Second
	longestPause  = time.Minute
)

// Follower is a configured trigger that follows.
type Follower struct {
	ID string // "mqtt.main"
	// MayRun is whether it may have other triggers run.
	MayRun bool
	// Usable reports whether it may be called; see component.Component.
	Usable func() bool
	Follow func(context.Context, trigger.World) error
}

// Events is the event log.
type Events interface {
	LastEvent(ctx context.Context) (int64, error)
	Events(ctx context.Context, after int64, limit int) ([]event.Event, error)
}

// Options configure a Hub.
type Options struct {
	// Containers returns what is stored now. The containers are shared, and
	// one that has changed is another pointer.
	Containers func() []*sdk.Container
	// Watchers returns the names of all watchers.
	Watchers func() []string
	Events   Events
	Bus      *event.Bus
	// Run runs a trigger on a container because a follower asks for it.
	Run func(ctx context.Context, triggerID, containerID string) error
	Log hclog.Logger
}

// Hub is the world of every follower. Run is its actor.
type Hub struct {
	opt   Options
	log   hclog.Logger
	began []*sdk.Container
	last  int64 // the latest event that was read

	mu       sync.Mutex
	checking map[string]bool // by watcher
	// changed is closed and replaced whenever there may be something to tell.
	changed chan struct{}
}

// New returns a Hub that knows the containers of this moment: a follower is
// told of those that are gone when it begins. No check may be running yet.
func New(ctx context.Context, opt Options) (*Hub, error) {
	last, err := opt.Events.LastEvent(ctx)
	if err != nil {
		return nil, err
	}
	return &Hub{
		opt: opt, log: opt.Log.Named("follow"), began: opt.Containers(), last: last,
		checking: map[string]bool{}, changed: make(chan struct{}),
	}, nil
}

// Run keeps the followers informed until ctx ends, and waits for them to end.
// It asks for them once; until that has told them, it only keeps up with the
// log. It returns at once when there are none.
func (h *Hub) Run(ctx context.Context, followers func(context.Context) []Follower) error {
	sub := h.opt.Bus.Subscribe()
	defer sub.Close()
	ctx, stop := context.WithCancel(ctx)
	var wait sync.WaitGroup
	defer wait.Wait()
	defer stop()
	wait.Go(func() {
		all := followers(ctx)
		if len(all) == 0 {
			stop()
		}
		for _, f := range all {
			wait.Go(func() { h.keep(ctx, f) })
		}
	})
	for ctx.Err() == nil {
		if err := h.read(ctx); err != nil && ctx.Err() == nil {
			h.log.Error("read what watchers do", "error", err)
		}
		h.wake()
		_ = sub.Wait(ctx) // its only error is that of ctx
	}
	return nil
}

// read notes which watchers check, by what the log says since the last time.
func (h *Hub) read(ctx context.Context) error {
	for {
		page, err := h.opt.Events.Events(ctx, h.last, pageSize)
		if err != nil {
			return err
		}
		h.mu.Lock()
		for _, e := range page {
			h.last = e.ID
			if e.Check == nil || e.Check.Single {
				continue // a check of one container is none of the watcher
			}
			h.checking[e.Check.Watcher] = e.Type == event.CheckStarted
		}
		h.mu.Unlock()
		if len(page) < pageSize {
			return nil
		}
	}
}

func (h *Hub) wake() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.changed)
	h.changed = make(chan struct{})
}

// watchers returns what every watcher does, and what closes when that may be different.
func (h *Hub) watchers() ([]trigger.WatcherState, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []trigger.WatcherState
	for _, name := range h.opt.Watchers() {
		all = append(all, trigger.WatcherState{Name: name, Checking: h.checking[name]})
	}
	return all, h.changed
}

// keep has a follower follow, again and again, until ctx ends.
func (h *Hub) keep(ctx context.Context, f Follower) {
	view := newView(h, f)
	pause := shortestPause
	for ctx.Err() == nil {
		if f.Usable() {
			began := time.Now()
			view.begin()
			h.ended(ctx, f, f.Follow(ctx, view))
			if time.Since(began) > longestPause {
				pause = shortestPause
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		pause = min(2*pause, longestPause)
	}
}

// ended logs why a follower ended. That its plugin is away is told by others.
func (h *Hub) ended(ctx context.Context, f Follower, err error) {
	switch {
	case ctx.Err() != nil:
	case err == nil, errors.Is(err, sdk.ErrUnavailable):
		h.log.Debug("trigger is not informed at present", "trigger", f.ID, "error", err)
	default:
		h.log.Warn("trigger cannot be kept informed and will be tried again", "trigger", f.ID, "error", err)
	}
}

// run runs a trigger for a follower, and says so.
func (h *Hub) run(ctx context.Context, f Follower, triggerID, containerID string) error {
	if !f.MayRun {
		return fmt.Errorf("run trigger %s: %s may not have other triggers run", triggerID, f.ID)
	}
	log := h.log.With("trigger", triggerID, "container", containerID, "by", f.ID)
	log.Info("running a trigger because another one asks for it")
	err := h.opt.Run(ctx, triggerID, containerID)
	if err != nil && ctx.Err() == nil {
		log.Error("the trigger that was asked for has failed", "error", err)
	}
	return err
}
